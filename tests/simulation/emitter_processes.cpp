#include "emitter/api_source.h"
#include "emitter/receptor_source.h"
#include "simulation/emitter_scene.h"

namespace fairlead::simulation {

namespace gorouter = proxy::gorouter;

SimPublisher::SimPublisher(const Clock& clock, Dice& dice, const EmitterDefects& defects, Publish publish)
    : clock_(clock),
      dice_(dice),
      defects_(defects),
      publish_(std::move(publish)),
      registrations_(gorouter::Settings{}) {}

void SimPublisher::reset(traffic::RoutingTable table, std::uint64_t) {
    registrations_.reset(table);
    table_ = std::move(table);
}

void SimPublisher::change(traffic::TableDiff change, std::uint64_t) {
    registrations_.change(change);
    if (!defects_.withdraw_changed || !active_ || !connected_) return traffic::apply(table_, change);
    // As emitters before us did: what was there before is withdrawn, though it may be there after.
    step();
    for (const auto& [name, pool] : change.pools) {
        const auto before = table_.pools.find(name);
        if (before == table_.pools.end()) continue;
        for (const auto& member : before->second.members) {
            const auto host = name.substr(4);
            publish_({"router.unregister",
                      fmt::format(R"({{"host":"{}","port":{},"tls_port":{},"uris":["{}"]}})", member.address,
                                  member.port, member.tls_port, host),
                      1});
        }
    }
    traffic::apply(table_, change);
}

proxy::Progress SimPublisher::progress() const {
    proxy::Progress progress;
    progress.up = connected_;
    return progress;
}

void SimPublisher::active(bool active) {
    if (active == active_) return;
    active_ = active;
    if (active) registrations_.everything(clock_.monotonic());
}

void SimPublisher::withdraw(bool may) { registrations_.withdraw(may || defects_.withdraw_always); }

void SimPublisher::connected(bool is) {
    if (is && !connected_) registrations_.everything(clock_.monotonic());
    connected_ = is;
}

void SimPublisher::heard(const std::string& hello, bool start) {
    const auto read = gorouter::parse_hello(hello);
    if (!read) return;
    if (start) {
        registrations_.router_started(*read, clock_.monotonic(), dice_);
    } else {
        registrations_.router_spoke(*read, clock_.monotonic());
    }
}

bool SimPublisher::step() {
    if (!connected_) return false;
    const auto messages = registrations_.take(clock_.monotonic(), 1'000);
    if (!active_) return !messages.empty();
    for (const auto& message : messages) {
        const bool withdrawal = message.subject.ends_with(".unregister");
        if (withdrawal && defects_.forget_withdrawals) continue;
        publish_(message);
    }
    return !messages.empty();
}

std::optional<MonotonicTime> SimPublisher::due() const {
    if (!connected_) return std::nullopt;
    return registrations_.next_due(clock_.monotonic());
}

EmitterProcess::EmitterProcess(const std::string& name, Ways ways, std::unique_ptr<SimPublisher> publisher,
                               const Clock& clock, Dice& dice, Log& log)
    : clock_(clock),
      ways_(std::move(ways)),
      publisher_(std::move(publisher)),
      elector_({.identity = name}, *ways_.api, clock, dice, log, [this] { woken_ = true; }) {
    const auto wake = [this] { woken_ = true; };
    if (ways_.receptor) {
        source_ = std::make_unique<emitter::ReceptorSource>(emitter::ReceptorOptions{}, *ways_.receptor, book_, clock,
                                                            dice, log, wake);
    } else {
        source_ = std::make_unique<emitter::ApiSource>("", *ways_.api, book_, clock, dice, log, wake);
    }
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
