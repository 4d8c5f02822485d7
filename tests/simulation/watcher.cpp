#include "simulation/watcher.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::simulation {

using apiserver::Verb;
using Next = net::StreamBody::Next;

namespace {

Revision revision_at(const json::Value& value, std::string_view path) {
    return static_cast<Revision>(parse_int(json::string_at(value, path)).value_or(0));
}

// The bytes as they would be had they been written at the revision.
std::string at_revision(const std::string& bytes, Revision revision) {
    constexpr std::string_view member = "\"resourceVersion\":\"";
    const auto begin = bytes.find(member) + member.size();
    return bytes.substr(0, begin) + std::to_string(revision) + bytes.substr(bytes.find('"', begin));
}

}  // namespace

Watcher::Watcher(int number, const resource::Kind& kind, std::string ns, bool labelled)
    : name_(fmt::format("watcher-{} of {}{}{}{}", number, labelled ? "labelled " : "", kind.plural,
                        ns.empty() ? "" : " in ", ns)),
      kind_(kind),
      prefix_(ns.empty() ? "" : ns + "/"),
      labelled_(labelled) {}
Watcher::~Watcher() = default;

bool Watcher::selects(std::string_view name, const std::string& bytes) const {
    if (!name.starts_with(prefix_)) return false;
    if (!labelled_) return true;
    const auto value = json::parse(bytes);
    return value && json::find(*value, "metadata.labels.turn") != nullptr;
}

bool Watcher::concerns(const Change& change) const {
    return (!change.removed && selects(change.name, change.bytes)) ||
           (change.existed && selects(change.name, change.before));
}

std::string Watcher::frame_of(const Change& change) const {
    const bool now = !change.removed && selects(change.name, change.bytes);
    const bool was = change.existed && selects(change.name, change.before);
    const auto frame = [](std::string_view type, std::string_view bytes) {
        return fmt::format(R"({{"type":"{}","object":{}}})", type, bytes);
    };
    if (now) return frame(was ? "MODIFIED" : "ADDED", change.bytes);
    if (!was) return {};
    return frame("DELETED", change.removed ? change.bytes : at_revision(change.before, change.revision));
}

apiserver::QueryOptions Watcher::options() const {
    apiserver::QueryOptions options;
    if (labelled_) options.label_selector = "turn";
    return options;
}

apiserver::Target Watcher::target() const {
    return {&kind_, prefix_.empty() ? "" : prefix_.substr(0, prefix_.size() - 1), "", ""};
}

bool Watcher::ready(const World& world) const { return world.faulty() || !caught_up(world); }

void Watcher::wrong(World& world, const std::string& what) const {
    world.journal.violate(Invariant::watches_exact, fmt::format("{}: {}", name_, what));
}

std::size_t Watcher::next_place(const Truth& truth) const {
    const auto& changes = truth.changes(kind_.table());
    while (place_ < changes.size() && !concerns(changes[place_])) ++place_;
    return place_;
}

bool Watcher::caught_up(const World& world) const {
    return listed_ && stream_ && next_place(world.truth()) == world.truth().changes(kind_.table()).size();
}

void Watcher::check(World& world) const {
    std::map<std::string, Revision> due;
    for (const auto& [name, version] : world.truth().table(kind_.table())) {
        if (selects(name, version.bytes)) due[name] = version.modified;
    }
    if (due != known_) {
        wrong(world,
              fmt::format("at the end it knows {} objects, not the {} that are there", known_.size(), due.size()));
    }
}

void Watcher::disconnect() {
    stream_.reset();
    instance_.reset();
    process_ = nullptr;
}

void Watcher::step(World& world) {
    if (stream_ && (instance_->dead() || world.dice.chance(world.faulty() ? 40 : 0))) {
        world.journal.line(name_ + " lost its connection");
        disconnect();
    }
    if (!listed_) return list(world);
    if (!stream_) return open(world);
    if (process_->answers(world.now())) pull(world);
}

void Watcher::list(World& world) {
    auto* process = world.any_process();
    if (!process) return;
    Request request{Verb::list, target(), options(), {}};
    if (world.dice.chance(600)) request.options.limit = static_cast<std::int64_t>(world.dice.between(1, 4));
    request.options.continue_token = continue_;
    const auto reply = world.send(*process, request, name_);
    if (!reply) return;
    if (reply->code == 410) {
        continue_.clear();
        page_.clear();
        return;
    }
    if (reply->code != 200) return;
    const auto value = json::parse(reply->body);
    if (!value) return wrong(world, "a list is no JSON: " + reply->body);
    if (continue_.empty()) page_.clear();
    for (const auto& item : json::find(*value, "items")->as_array()) {
        std::string name(json::string_at(item, "metadata.name"));
        if (const auto ns = json::string_at(item, "metadata.namespace"); !ns.empty())
            name = std::string(ns) + "/" + name;
        if (!page_.emplace(std::move(name), revision_at(item, "metadata.resourceVersion")).second) {
            return wrong(world, "a list names an object twice");
        }
    }
    continue_ = json::string_at(*value, "metadata.continue");
    if (continue_.empty()) finish_list(world, revision_at(*value, "metadata.resourceVersion"));
}

void Watcher::finish_list(World& world, Revision revision) {
    std::map<std::string, Revision> due;
    for (const auto& [name, version] : world.truth().table_at(kind_.table(), revision)) {
        if (selects(name, version->bytes)) due[name] = version->revision;
    }
    if (due != page_) {
        return wrong(world, fmt::format("a list of {} objects at revision {} is not the state of then ({} objects)",
                                        page_.size(), revision, due.size()));
    }
    if (revision < seen_) return wrong(world, fmt::format("a list went back from {} to {}", seen_, revision));
    known_ = std::move(page_);
    page_.clear();
    seen_ = revision;
    place_ = world.truth().first_after(kind_.table(), revision);
    listed_ = true;
    world.journal.line(fmt::format("{} listed {} at {}", name_, known_.size(), revision));
}

void Watcher::open(World& world) {
    auto* process = world.any_process();
    if (!process) return;
    auto query = options();
    query.watch = true;
    query.resource_version = std::to_string(seen_);
    query.allow_watch_bookmarks = world.dice.chance(500);
    if (world.dice.chance(300)) query.timeout_seconds = static_cast<std::int64_t>(world.dice.between(1, 30));
    auto plan = process->instance->rest.plan_watch(target(), query, {});
    if (!plan) return;
    apiserver::WatchLimits limits;
    limits.bytes_per_pull = world.dice.chance(500) ? 1 : limits.bytes_per_pull;  // one event at a time
    limits.bookmark_interval = std::chrono::seconds(5);
    instance_ = process->instance;
    process_ = process;
    stream_ =
        std::make_unique<apiserver::WatchStream>(std::move(*plan), *instance_->store, process->clock, nullptr, limits);
    world.journal.line(fmt::format("{} watches {} after {}", name_, process->name(), seen_));
}

void Watcher::pull(World& world) {
    std::string text;
    const auto next = stream_->pull(text);
    if (instance_->dead()) return disconnect();
    // The connection may break anywhere in what was sent, and the rest never arrives.
    const bool breaks = world.faulty() && !text.empty() && world.dice.chance(30);
    if (breaks) text.resize(static_cast<std::size_t>(world.dice.below(text.size())));
    if (!take(world, text) || next == Next::end || breaks) disconnect();
}

bool Watcher::take(World& world, std::string_view text) {
    const auto& changes = world.truth().changes(kind_.table());
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return true;  // half a frame: the connection broke
        const auto frame = text.substr(0, end);
        text.remove_prefix(end + 1);
        const bool event = frame.starts_with(R"({"type":"ADDED")") || frame.starts_with(R"({"type":"MODIFIED")") ||
                           frame.starts_with(R"({"type":"DELETED")");
        if (!event) {
            if (!take_other(world, frame)) return false;
            continue;
        }
        const auto place = next_place(world.truth());
        if (place == changes.size()) {
            wrong(world, fmt::format("nothing has happened after {}, yet it is told {}", seen_, frame));
            return false;
        }
        const auto& due = changes[place];
        if (frame != frame_of(due)) {
            wrong(world, fmt::format("after {} it is due {} at revision {}, and is told {}", seen_, due.name,
                                     due.revision, frame));
            return false;
        }
        place_ = place + 1;
        seen_ = due.revision;
        if (frame.starts_with(R"({"type":"DELETED")")) {
            known_.erase(due.name);
        } else {
            known_[due.name] = due.revision;
        }
        world.journal.line(fmt::format("{} sees {} at {}", name_, due.name, due.revision));
    }
    return true;
}

bool Watcher::take_other(World& world, std::string_view frame) {
    const auto value = json::parse(frame);
    if (!value) return wrong(world, fmt::format("a frame is no JSON: {}", frame)), false;
    if (json::string_at(*value, "type") == "BOOKMARK") {
        const auto revision = revision_at(*value, "object.metadata.resourceVersion");
        const auto& changes = world.truth().changes(kind_.table());
        const auto place = next_place(world.truth());
        if (revision < seen_ || (place < changes.size() && changes[place].revision <= revision)) {
            wrong(world, fmt::format("a bookmark says {} before {} at {} was delivered", revision,
                                     place < changes.size() ? changes[place].name : "nothing",
                                     place < changes.size() ? changes[place].revision : seen_));
            return false;
        }
        seen_ = revision;
        return true;
    }
    // 410, or the stream's process died: what is resumed from is decided by what the next one says.
    if (json::int_at(*value, "object.code") == 410) {
        const auto oldest = instance_->store->oldest(kind_.table());
        if (!world.faulty() && seen_ >= oldest) {
            wrong(world, fmt::format("it is told 410 after {}, though history goes back to {}", seen_, oldest));
        }
        listed_ = false;
        continue_.clear();
    }
    world.journal.line(fmt::format("{} is told {}", name_, json::string_at(*value, "object.message")));
    return false;
}

}  // namespace fairlead::simulation
