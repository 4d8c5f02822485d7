#include "proxy/nginx/udp_engine.h"

#include <algorithm>

#include "base/backoff.h"
#include "base/files.h"
#include "base/text.h"
#include "proxy/ports.h"

namespace fairlead::proxy::nginx {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Backoff retry_after{.base = milliseconds(100), .cap = seconds(10)};
// How often ports that somebody else has are tried.
constexpr seconds ports_again{5};
// Nothing is due: looked at now and then all the same.
constexpr seconds idle{60};
// As of HAProxy: while somebody asks for figures they are not much older than this.
constexpr seconds figures_every{2}, figures_wanted_for{60};
constexpr const char* reloads_file = "reloads";

}  // namespace

UdpEngine::Meters::Meters(Metrics& metrics)
    : reloads(metrics.counter("fairlead_proxy_nginx_reloads_total", "Reloads of nginx, which serves UDP ports.")),
      restarts(
          metrics.counter("fairlead_proxy_nginx_restarts_total", "Times that nginx had died and was started again.")),
      errors(metrics.counter("fairlead_proxy_nginx_errors_total",
                             "Configurations that nginx refused, and starts that failed.")),
      ports(metrics.gauge("fairlead_proxy_nginx_ports", "UDP ports that nginx listens at.")),
      busy(metrics.gauge("fairlead_proxy_nginx_ports_busy",
                         "Leased UDP ports that are left out: somebody else has them on this machine.")) {}

UdpEngine::UdpEngine(Options options, const Clock& clock, Log& log, Metrics& metrics, std::function<void()> wake)
    : options_(std::move(options)),
      clock_(clock),
      log_(log),
      meters_(metrics),
      server_(options_.server, clock, std::move(wake)) {}

Result<void> UdpEngine::start() {
    if (auto prepared = server_.prepare(); !prepared) return prepared;
    auto sessions = SessionLog::open(options_.server.directory);
    if (!sessions) return fail(sessions.error());
    sessions_ = std::move(*sessions);
    // What a former driver left serves on until a table comes; its files, if it is gone.
    inherited_ = server_.adopt();
    if (!inherited_ && server_.installed()) inherited_ = server_.start_from_files().has_value();
    if (inherited_) {
        const auto counted = read_file(options_.server.directory / reloads_file);
        reloads_ = counted ? static_cast<std::uint64_t>(parse_int(trim(*counted)).value_or(0)) : 0;
    }
    if (inherited_) log_.info("nginx adopted", {{"directory", options_.server.directory.string()}});
    return {};
}

void UdpEngine::stop_proxy() { server_.stop(options_.server.drain + seconds(1)); }

void UdpEngine::reset(traffic::RoutingTable table, std::uint64_t version) {
    table_ = std::move(table);
    version_ = version;
    known_ = changed_ = true;
}

void UdpEngine::change(const traffic::TableDiff& change, std::uint64_t version) {
    // Of pools that are no UDP pools it only says that they are none.
    const bool touched =
        !change.ports.empty() || std::any_of(change.pools.begin(), change.pools.end(), [&](const auto& pool) {
            return pool.second || table_.pools.contains(pool.first);
        });
    traffic::apply(table_, change);
    version_ = version;
    changed_ = changed_ || touched;
}

void UdpEngine::plan(MonotonicTime now) {
    std::set<std::uint16_t> wanted;
    for (const auto& [key, rule] : table_.ports) {
        if (key.transport == traffic::Transport::udp && options_.settings.ports.contains(key.port)) {
            wanted.insert(key.port);
        }
    }
    looked_ = now;
    const auto before = std::exchange(busy_, {});
    if (!wanted.empty()) {
        const auto own = ports_of(traffic::Transport::udp, server_.processes());
        busy_ = busy_ports(traffic::Transport::udp, options_.settings.hosts, PortRanges(wanted), own);
    }
    if (busy_ != before && !busy_.empty()) {
        log_.warn("reservable ports are left out", {{"why", in_use_text(traffic::Transport::udp, busy_)}});
    }
    config_ = render_udp(options_.settings, table_, busy_);
    meters_.busy.set(static_cast<double>(busy_.size()));
    changed_ = false;
}

void UdpEngine::failed(MonotonicTime now, const Error& error) {
    ++failures_;
    meters_.errors.add();
    if (trouble_ != error.text()) log_.error("nginx does not follow", {{"error", error.text()}});
    trouble_ = error.text();
    retry_ = now + retry_after.delay(failures_, random_);
    // Whoever has a UDP port hears of it; the rest of the table does not wait for them.
    if (known_) programmed_ = version_;
}

void UdpEngine::taken(bool reloaded) {
    if (reloaded) {
        ++reloads_;
        meters_.reloads.add();
        // For the driver that takes it over. Lost, a figure is smaller than it should be.
        (void)write_file(options_.server.directory / reloads_file, std::to_string(reloads_), 0600);
        log_.info("nginx reloaded", {{"ports", config_.ports.size()}});
    }
    reloaded_ = clock_.monotonic();
    meters_.ports.set(static_cast<double>(config_.ports.size()));
}

void UdpEngine::revive() {
    if (!server_.ever_ran() || server_.alive()) return;
    log_.error("nginx has died");
    meters_.restarts.add();
    server_.forget_dead();
    reloaded_.reset();
}

Step UdpEngine::step() {
    auto next = serve();
    if (figures_changed() && !config_.ports.empty() && next.due) {
        next.due = std::min(*next.due, clock_.monotonic() + figures_every);
    }
    return next;
}

bool UdpEngine::figures_changed() const {
    return figures_wanted_ && clock_.monotonic() - *figures_wanted_ <= figures_wanted_for;
}

std::map<std::string, PoolFigures> UdpEngine::figures() const {
    std::map<std::string, PoolFigures> figures;
    const auto by_port = sessions_->figures();
    for (const auto& [key, rule] : table_.ports) {
        const auto counted = by_port.find(key.port);
        if (key.transport != traffic::Transport::udp || counted == by_port.end()) continue;
        auto& sum = figures[rule.pool];
        sum.requests += counted->second.requests;
        sum.bytes_in += counted->second.bytes_in;
        sum.bytes_out += counted->second.bytes_out;
        sum.connect_errors += counted->second.connect_errors;
    }
    return figures;
}

Step UdpEngine::serve() {
    const auto now = clock_.monotonic();
    revive();
    if (retry_ && now < *retry_) {
        if (known_) programmed_ = version_;
        return {.due = retry_};
    }
    if (!known_ && server_.alive()) return {.due = now + idle};
    const bool running = server_.alive();
    // When it starts anew, its ports may be somebody else's by now.
    if (changed_ || !running || (!busy_.empty() && (!looked_ || now - *looked_ >= ports_again))) plan(now);
    if (!running || !server_.holds(config_.text)) {
        if (running && reloaded_ && now - *reloaded_ < options_.pace) {
            return {.due = *reloaded_ + options_.pace};
        }
        auto brought = server_.bring(config_.text);
        if (!brought) {
            failed(now, brought.error());
            return {.due = retry_};
        }
        taken(*brought);
    }
    failures_ = 0;
    trouble_.clear();
    retry_.reset();
    if (known_) {
        programmed_ = version_;
        inherited_ = false;
    }
    return {.due = now + (busy_.empty() ? idle : ports_again)};
}

Progress UdpEngine::progress() const {
    Progress progress{.up = failures_ == 0 && server_.ever_ran(),
                      .inherited = inherited_,
                      .programmed = programmed_,
                      .problems = config_.problems,
                      .trouble = trouble_.empty() ? in_use_text(traffic::Transport::udp, busy_)
                                                  : "UDP ports are not served: " + trouble_,
                      .reloads = reloads_};
    if (!trouble_.empty()) {
        for (const auto& [key, rule] : table_.ports) {
            progress.problems[rule.owner] = "UDP ports are not served as they should be: " + trouble_;
        }
    }
    return progress;
}

}  // namespace fairlead::proxy::nginx
