#include "emitter/api_source.h"
#include "emitter/receptor_source.h"
#include "proxy/gorouter/audit.h"
#include "simulation/emitter_scene.h"

namespace fairlead::simulation {

namespace gorouter = proxy::gorouter;

namespace {

// A defect: it is always sure.
class SureSource final : public emitter::Source {
public:
    explicit SureSource(std::unique_ptr<emitter::Source> source) : source_(std::move(source)) {}
    Step step() override { return source_->step(); }
    [[nodiscard]] bool complete() const override { return source_->complete(); }
    [[nodiscard]] bool current() const override { return source_->current(); }
    void confirm() override {}
    [[nodiscard]] bool confirmed() const override { return true; }
    [[nodiscard]] traffic::Certainty certainty() const override { return source_->certainty(); }
    [[nodiscard]] std::string problem() const override { return source_->problem(); }
    void resync() override { source_->resync(); }
    [[nodiscard]] emitter::SourceFigures figures() const override { return source_->figures(); }

private:
    std::unique_ptr<emitter::Source> source_;
};

}  // namespace

SimPublisher::SimPublisher(const Clock& clock, Dice& dice, const EmitterDefects& defects, Publish publish)
    : clock_(clock),
      dice_(dice),
      defects_(defects),
      publish_(std::move(publish)),
      registrations_(gorouter::Settings{.interval = std::chrono::seconds(defects.deaf ? 60 : 20)}) {}

void SimPublisher::reset(traffic::RoutingTable table, std::uint64_t) {
    registrations_.reset(table);
    table_ = std::move(table);
    for (const auto& [name, pool] : table_.pools) take_note(name);
    if (!connected_) registrations_.cut_off();
}

void SimPublisher::take_note(const std::string& pool) {
    const auto found = table_.pools.find(pool);
    if (found == table_.pools.end()) return;
    for (const auto& member : found->second.members) {
        had_.emplace(pool.substr(4),
                     fmt::format("{}:{}", member.address, member.tls_port != 0 ? member.tls_port : member.port));
    }
}

void SimPublisher::change(traffic::TableDiff change, std::uint64_t) {
    registrations_.change(change);
    const auto before = defects_.withdraw_changed ? table_ : traffic::RoutingTable{};
    traffic::apply(table_, change);
    for (const auto& [name, pool] : change.pools) take_note(name);
    if (!connected_) registrations_.cut_off();
    if (!defects_.withdraw_changed || active_ != gorouter::Activity::all || !connected_) return;
    // As emitters before us did: what was there before is withdrawn, though it may be there after.
    step();
    for (const auto& [name, pool] : change.pools) {
        const auto found = before.pools.find(name);
        if (found == before.pools.end()) continue;
        for (const auto& member : found->second.members) {
            const auto host = name.substr(4);
            publish_({"router.unregister",
                      fmt::format(R"({{"host":"{}","port":{},"tls_port":{},"uris":["{}"]}})", member.address,
                                  member.port, member.tls_port, host),
                      1});
        }
    }
}

proxy::Progress SimPublisher::progress() const {
    proxy::Progress progress;
    progress.up = connected_;
    return progress;
}

void SimPublisher::active(gorouter::Activity activity) {
    if (activity == active_) return;
    active_ = activity;
    if (activity != gorouter::Activity::none) registrations_.everything(clock_.monotonic());
}

void SimPublisher::withdraw(bool may) { registrations_.withdraw(may || defects_.withdraw_always); }

void SimPublisher::mark(std::string mark) {
    registrations_.mark(std::move(mark));
    leftovers_.forget();
}

void SimPublisher::certain(std::optional<traffic::Certainty> certainty) {
    if (!certainty) leftovers_.forget();
    certainty_ = std::move(certainty);
}

std::size_t SimPublisher::audit(const std::string& router, std::string routes) {
    if (!connected_ || active_ != gorouter::Activity::all) return 0;
    const auto now = clock_.monotonic();
    auto found = gorouter::compare(registrations_, std::move(routes));
    if (!found) return 0;
    if (defects_.claim_foreign) {
        for (const auto& pair : found->foreign) found->leftovers.push_back({pair, "apps"});
    }
    gorouter::mend(registrations_, *found, now);
    if (!certainty_) return 0;
    return leftovers_.found(router, now, found->leftovers, *certainty_, registrations_).size();
}

void SimPublisher::connected(bool is) {
    if (is && !connected_) registrations_.everything(clock_.monotonic());
    connected_ = is;
}

void SimPublisher::heard(const std::string& hello, bool start) {
    const auto read = gorouter::parse_hello(hello);
    if (!read || defects_.deaf) return;
    if (start) {
        registrations_.router_started(*read, clock_.monotonic(), dice_);
    } else {
        registrations_.router_spoke(*read, clock_.monotonic());
    }
}

bool SimPublisher::step() {
    if (!connected_) return false;
    const auto messages = registrations_.take(clock_.monotonic(), 1'000);
    if (active_ == gorouter::Activity::none) return !messages.empty();
    for (const auto& message : messages) {
        const bool withdrawal = message.subject.ends_with(".unregister");
        if (withdrawal ? defects_.forget_withdrawals : active_ != gorouter::Activity::all) continue;
        publish_(message);
    }
    return !messages.empty();
}

std::optional<MonotonicTime> SimPublisher::due() const {
    if (!connected_) return std::nullopt;
    return registrations_.next_due(clock_.monotonic());
}

EmitterProcess::EmitterProcess(const emitter::ElectorOptions& election, Ways ways,
                               std::unique_ptr<SimPublisher> publisher, const Clock& clock, Dice& dice, Log& log,
                               const EmitterDefects& defects)
    : clock_(clock),
      ways_(std::move(ways)),
      publisher_(std::move(publisher)),
      elector_(election, *ways_.lease, clock, dice, log, [this] { woken_ = true; }) {
    const auto wake = [this] { woken_ = true; };
    if (ways_.receptor) {
        source_ = std::make_unique<emitter::ReceptorSource>(emitter::ReceptorOptions{}, *ways_.receptor, book_, clock,
                                                            dice, log, wake);
    } else {
        source_ = std::make_unique<emitter::ApiSource>("", *ways_.api, book_, clock, dice, log, wake);
    }
    if (defects.withdraw_unconfirmed) source_ = std::make_unique<SureSource>(std::move(source_));
    emitter_ = std::make_unique<emitter::Emitter>(emitter::EmitterParts{.source = *source_,
                                                                        .book = book_,
                                                                        .publisher = *publisher_,
                                                                        .elector = &elector_,
                                                                        .clock = clock,
                                                                        .log = log,
                                                                        .metrics = metrics_});
}

bool EmitterProcess::step() {
    bool did = false;
    if (woken_ || (due_ && *due_ <= clock_.monotonic())) {
        woken_ = false;
        const auto step = emitter_->step();
        woken_ = woken_ || step.more;
        due_ = step.due;
        did = true;
    }
    if (const auto due = publisher_->due(); due && *due <= clock_.monotonic()) did = publisher_->step() || did;
    return did;
}

std::optional<MonotonicTime> EmitterProcess::due() const {
    auto due = due_;
    if (const auto publishes = publisher_->due(); publishes && (!due || *publishes < *due)) due = publishes;
    return due;
}

}  // namespace fairlead::simulation
