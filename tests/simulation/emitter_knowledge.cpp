#include "simulation/emitter_knowledge.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/value.h"

namespace fairlead::simulation {

namespace {

constexpr int remembered_passes = 3;

}  // namespace

void Knowledge::told(const std::string& record, std::uint64_t number) {
    auto& known = told_[record];
    if (number <= known) return;
    known = number;
    if (const auto found = hidden_.find(record); found != hidden_.end()) found->second.passes = 0;
}

void Knowledge::read(RecordKind kind, std::uint64_t number, const HiddenRecords& hidden) {
    auto& known = read_[kind];
    if (kind == RecordKind::instance) {
        for (auto& [record, state] : hidden_) state.now = false;
        const auto hide = [&](const std::string& record, bool gone) {
            auto& state = hidden_.try_emplace(record, Hidden{.shown = known}).first->second;
            ++state.passes;
            state.now = true;
            state.gone = gone;
        };
        for (const auto& record : hidden.there) hide(record, false);
        for (const auto& record : hidden.gone) hide(record, true);
    }
    known = std::max(known, number);
}

std::optional<MonotonicTime> Knowledge::lacks(const Record& record) const {
    const auto told = told_.find(record.id);
    const bool heard = told != told_.end() && told->second >= record.number;
    if (const auto found = hidden_.find(record.id); found != hidden_.end() && found->second.now) {
        // Who has not heard of it for long takes it for gone.
        const bool known = found->second.passes > remembered_passes ? found->second.gone
                                                                    : heard || found->second.shown >= record.number;
        return known ? std::nullopt : std::optional(MonotonicTime::max());
    }
    if (heard) return std::nullopt;
    const auto read = read_.find(record.kind);
    if (read != read_.end() && read->second >= record.number) return std::nullopt;
    return record.changed;
}

std::optional<MonotonicTime> Knowledge::lacks(const LrpTruth& truth, const Life& life) const {
    std::optional<MonotonicTime> latest;
    for (const auto& owner : life.owners) {
        std::optional<MonotonicTime> first;
        for (const auto& [id, record] : truth.records()) {
            if (!record.concerns(owner)) continue;
            if (const auto since = lacks(record); since && (!first || *since < *first)) first = since;
        }
        if (!first) return std::nullopt;
        if (!latest || *first > *latest) latest = first;
    }
    // Before it lived there was nothing to know.
    return latest ? std::optional(std::max(*latest, life.since)) : std::nullopt;
}

std::uint64_t Revisions::number(std::uint64_t revision) const {
    const auto next = numbers_.upper_bound(revision);
    return next == numbers_.begin() ? 0 : std::prev(next)->second;
}

namespace {

class ListeningLink final : public cluster::Link {
public:
    ListeningLink(std::unique_ptr<cluster::Link> link, Knowledge& knowledge, const Revisions& revisions)
        : link_(std::move(link)), knowledge_(knowledge), revisions_(revisions) {}

    std::unique_ptr<cluster::Call> list(std::string path, std::function<void(Result<std::string>)> done) override {
        const auto kind = kind_of(path);
        return link_->list(std::move(path), [this, kind, done = std::move(done)](Result<std::string> body) {
            if (body && kind) hear(*kind, *body, "metadata.resourceVersion");
            done(std::move(body));
        });
    }
    std::unique_ptr<cluster::Call> watch(std::string path, std::function<void(std::string_view)> line,
                                         std::function<void(Result<void>)> done) override {
        const auto kind = kind_of(path);
        return link_->watch(
            std::move(path),
            [this, kind, line = std::move(line)](std::string_view text) {
                if (kind) hear(*kind, text, "object.metadata.resourceVersion");
                line(text);
            },
            std::move(done));
    }
    std::unique_ptr<cluster::Call> send(cluster::Sending sending,
                                        std::function<void(Result<std::string>)> done) override {
        return link_->send(std::move(sending), std::move(done));
    }

private:
    static std::optional<RecordKind> kind_of(const std::string& path) {
        if (path.find("/desiredlrps") != std::string::npos) return RecordKind::process;
        if (path.find("/actuallrps") != std::string::npos) return RecordKind::instance;
        return std::nullopt;
    }
    // Few enough for one page.
    void hear(RecordKind kind, std::string_view text, std::string_view where) {
        const auto value = json::parse(text);
        const auto revision = value ? parse_int(json::string_at(*value, where)) : std::nullopt;
        if (revision) knowledge_.read(kind, revisions_.number(static_cast<std::uint64_t>(*revision)));
    }

    std::unique_ptr<cluster::Link> link_;
    Knowledge& knowledge_;
    const Revisions& revisions_;
};

}  // namespace

std::unique_ptr<cluster::Link> listen_in(std::unique_ptr<cluster::Link> link, Knowledge& knowledge,
                                         const Revisions& revisions) {
    return std::make_unique<ListeningLink>(std::move(link), knowledge, revisions);
}

}  // namespace fairlead::simulation
