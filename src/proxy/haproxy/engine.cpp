#include "proxy/haproxy/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "base/backoff.h"
#include "base/files.h"
#include "base/text.h"
#include "proxy/ports.h"

namespace fairlead::proxy::haproxy {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds adopt_within{10};
constexpr int settle_turns = 20;
constexpr milliseconds settle_pause{100};
constexpr seconds audit_after_adoption{3};
constexpr seconds sockets_within{2};
constexpr seconds audit_every{60};
constexpr seconds reload_at_most_every{60};
// Files are for the case that the machine or both of us die: not worth a delay of what goes on.
constexpr seconds files_when_quiet_for{2};
constexpr seconds files_at_least_every{30};
// More often than the shortest drain time, so that no backend changes its owner unseen; and not for ever.
constexpr seconds figures_every{2};
constexpr seconds figures_wanted_for{60};
constexpr seconds reload_retry{5};
constexpr seconds ports_again{5};
// A request is in its backend long before: it gets there as soon as its headers are complete.
constexpr seconds idle_after{1};
constexpr Backoff retry_after{.base = milliseconds(20), .cap = seconds(10)};

std::vector<PoolClass> first_classes(const Settings& settings) {
    const auto first = settings.first_pools;
    using traffic::Balance;
    using traffic::PoolProtocol;
    // Of what most routes ask for as many as was said; of the rest enough that a few of them need no reload.
    const auto few = std::max<std::size_t>(first / 8, 4);
    std::vector<PoolClass> classes;
    for (const auto balance : {Balance::random, Balance::round_robin, Balance::least_connections, Balance::source}) {
        classes.push_back({{.balance = balance}, balance == settings.usual ? first : few});
    }
    classes.push_back({{.balance = Balance::random, .security = MemberSecurity::unchecked}, few});
    classes.push_back({{.balance = Balance::random, .security = MemberSecurity::checked}, few});
    for (const auto balance : {Balance::random, Balance::source}) {
        classes.push_back({{.protocol = PoolProtocol::tcp, .balance = balance}, few});
    }
    if (settings.tcp_ports.empty()) return classes;
    for (const auto balance : {Balance::round_robin, Balance::least_connections}) {
        classes.push_back({{.protocol = PoolProtocol::tcp, .balance = balance}, few});
    }
    for (const auto balance : {Balance::random, Balance::round_robin}) {
        classes.push_back({{.protocol = PoolProtocol::tcp, .balance = balance, .send_proxy = true}, few});
    }
    return classes;
}

// A change of settings is a reload anyhow: what new settings make likely comes with it.
std::vector<PoolClass> with_first(std::vector<PoolClass> classes, const Settings& settings) {
    for (const auto& one : first_classes(settings)) {
        const bool there =
            std::any_of(classes.begin(), classes.end(), [&](const auto& other) { return other.key == one.key; });
        if (!there && classes.size() < max_classes) classes.push_back(one);
    }
    return classes;
}

// What is held as digests, from the files.
Image with_texts(Image held, const std::filesystem::path& directory) {
    for (auto& [host, pem] : held.certificates) pem = read_file(certificate_path(directory, host)).value_or("");
    for (auto& [backend, pem] : held.authorities) pem = read_file(authority_path(directory, backend)).value_or("");
    return held;
}

}  // namespace

Engine::Meters::Meters(Metrics& metrics)
    : commands(metrics.counter("fairlead_proxy_commands_total", "Runtime API commands that the proxy was told.")),
      errors(metrics.counter("fairlead_proxy_errors_total", "Commands that the proxy refused, and lost connections.")),
      repairs(metrics.counter("fairlead_proxy_repairs_total",
                              "Times that the proxy held something else than it should, and was put right.")),
      restarts(
          metrics.counter("fairlead_proxy_restarts_total", "Times that the proxy had died and was started again.")),
      used(metrics.gauge("fairlead_proxy_pools_used", "Backends that have a pool.")),
      busy(metrics.gauge("fairlead_proxy_ports_busy",
                         "Reservable TCP ports that are left out: somebody else has them on this machine.")),
      free(metrics.gauge("fairlead_proxy_pools_free", "Backends that have none, those that drain among them.")),
      batch(metrics.histogram("fairlead_proxy_batch_seconds", "How long a batch of changes took.",
                              {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5})) {}

Engine::Engine(Options options, const Clock& clock, Log& log, Metrics& metrics, std::function<void()> wake)
    : options_(std::move(options)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      meters_(metrics),
      supervisor_(options_, clock, std::move(wake)),
      worker_(options_.directory, !options_.settings.https_listen.empty()),
      wanted_({}, options_.settings.tcp_ports) {}

Engine::~Engine() {
    if (files_dirty_ && supervisor_.alive()) static_cast<void>(write_files());
}

void Engine::stop_proxy() {
    worker_.disconnect();
    supervisor_.stop(options_.settings.drain + seconds(1));
}

Result<void> Engine::start() {
    if (auto prepared = supervisor_.prepare(); !prepared) return prepared;
    if (const auto& file = options_.settings.access_log; !file.empty()) {
        auto log = AccessLog::open(supervisor_.directory() / "log.sock", file, metrics_);
        if (!log) return fail(log.error());
        access_log_ = std::move(*log);
    }
    const auto former = supervisor_.former();
    bool settings_changed = false;
    if (former) {
        reloads_ = former->reloads;
        const bool same = supervisor_.same_settings(*former);
        bool there = supervisor_.adopt(*former);
        if (there && (supervisor_.has_stale_sockets(*former) || !answers_within(adopt_within))) {
            supervisor_.stop(seconds(1));
            there = false;
        }
        // The files of a proxy that is gone say what it served: it goes on with that until a table comes.
        if (!there && same && supervisor_.open_sockets() && supervisor_.spawn()) there = await_worker(0).has_value();
        if (there) {
            settings_changed = !same;
            wanted_.grow(same ? former->classes : with_first(former->classes, options_.settings), clock_.monotonic());
            supervisor_.adopt_ports();
            wanted_.set_busy(supervisor_.busy());
        }
        if (there && worker_.connect() && read_back_settled()) {
            wanted_.adopt(with_texts(held_, supervisor_.directory()), clock_.monotonic());
            programmed_ = version_ = 0;  // of the table that is to come
            inherited_ = true;
            log_.info("haproxy adopted", {{"pid", worker_.pid()}, {"pools", wanted_.book().used()}});
            if (settings_changed) reload("settings", clock_.monotonic());
            return {};
        }
        supervisor_.stop(seconds(1));
    }
    return start_new();
}

// A driver that was killed may have left commands in the worker's queue, which are obeyed after it: what is read counts
// when it is read twice.
Result<void> Engine::read_back_settled() {
    auto done = read_back();
    for (int turn = 0; done && turn < settle_turns; ++turn) {
        const auto before = held_;
        supervisor_.pause(settle_pause);
        done = read_back();
        if (done && held_ == before) break;
    }
    // And once more soon, should the worker have been slower than that.
    audited_ = clock_.monotonic() - audit_every + audit_after_adoption;
    return done;
}

// A machine that is busy with starting everything at once may make a good worker late.
bool Engine::answers_within(milliseconds limit) {
    for (const auto deadline = clock_.monotonic() + limit;;) {
        if (worker_.answering()) return true;
        if (!supervisor_.alive() || clock_.monotonic() >= deadline) return false;
        supervisor_.pause(milliseconds(50));
    }
}

// The workers of a master that was just stopped have their sockets for a moment longer.
Result<void> Engine::open_sockets() {
    for (const auto deadline = clock_.monotonic() + sockets_within;;) {
        auto open = supervisor_.open_sockets();
        if (open || clock_.monotonic() >= deadline) return open;
        supervisor_.pause(milliseconds(50));
    }
}

Result<void> Engine::start_new() {
    wanted_ = Wanted(first_classes(options_.settings), options_.settings.tcp_ports);
    if (auto open = open_sockets(); !open) return open;
    choose_ports(sockets_within);
    if (auto written = write_files(); !written) return written;
    if (auto spawned = supervisor_.spawn(); !spawned) return spawned;
    if (auto up = await_worker(0); !up) {
        supervisor_.stop(milliseconds(0));
        return up;
    }
    if (auto connected = worker_.connect(); !connected) return connected;
    log_.info("haproxy started", {{"pid", worker_.pid()}, {"directory", supervisor_.directory().string()}});
    return read_back();
}

// Waits until a worker answers that is another than this one.
Result<void> Engine::await_worker(int not_this_pid) {
    // Long, for machines that are busy; that it died is known at once.
    const auto limit = seconds(30) + milliseconds(wanted_.book().total());
    for (const auto deadline = clock_.monotonic() + limit; clock_.monotonic() < deadline;) {
        if (!supervisor_.alive()) {
            const auto complaint = supervisor_.complaint();
            return fail(Errc::unavailable,
                        fmt::format("{} ended: {}", options_.binary.string(),
                                    complaint.empty()
                                        ? fmt::format("see {}", (supervisor_.directory() / "haproxy.log").string())
                                        : complaint));
        }
        if (const auto pid = worker_.answering(); pid && *pid != not_this_pid) return {};
        supervisor_.pause(milliseconds(5));
    }
    const auto complaint = supervisor_.complaint();
    return fail(Errc::timeout, "haproxy does not answer: " + (complaint.empty() ? "no complaint" : complaint));
}

void Engine::reset(traffic::RoutingTable table, std::uint64_t version) {
    touched_.merge(wanted_.reset(std::move(table), clock_.monotonic()));
    version_ = version;
    last_change_ = clock_.monotonic();
    if (!files_dirty_) files_dirty_ = last_change_;
}

void Engine::change(const traffic::TableDiff& change, std::uint64_t version) {
    touched_.merge(wanted_.change(change, clock_.monotonic()));
    version_ = version;
    last_change_ = clock_.monotonic();
    if (!files_dirty_) files_dirty_ = last_change_;
}

Result<void> Engine::read_back() {
    auto found = worker_.read_back();
    if (!found) return fail(found.error());
    held_ = std::move(*found);
    known_ = true;
    audited_ = clock_.monotonic();
    return {};
}

Result<void> Engine::write_files() {
    const State state{.classes = wanted_.book().classes(),
                      .sockets = supervisor_.sockets(),
                      .settings = supervisor_.digest(),
                      .version = version_,
                      .reloads = reloads_};
    // Of certificates only those that a worker has taken: one that it would refuse stops the reload of everybody.
    std::map<std::string, std::string> listed;
    for (const auto& [host, digest] : held_.certificates) {
        if (wanted_.image().certificates.contains(host)) listed.emplace(host, "");
    }
    auto written = supervisor_.write(state, wanted_.image(), listed);
    if (written) files_dirty_.reset();
    return written;
}

void Engine::repair_later(MonotonicTime now, const Error& error) {
    ++failures_;
    meters_.errors.add();
    trouble_ = error.text();
    known_ = false;
    worker_.disconnect();
    retry_ = now + retry_after.delay(failures_, random_);
    if (failures_ > 1) log_.warn("haproxy is not in step", {{"error", trouble_}, {"failures", failures_}});
}

// True: HAProxy runs.
bool Engine::revive(MonotonicTime now) {
    if (supervisor_.alive()) return true;
    log_.error("haproxy has died", {{"pid", worker_.pid()}});
    meters_.restarts.add();
    worker_.disconnect();
    supervisor_.forget_dead();
    known_ = false;
    auto up = supervisor_.open_sockets();
    if (up) choose_ports(sockets_within);
    if (up) up = write_files();
    if (up) up = supervisor_.spawn();
    if (up) up = await_worker(0);
    if (up) return true;
    repair_later(now, up.error());
    log_.error("haproxy does not start", {{"error", trouble_}});
    return false;
}

// True: connected, and held_ is what the worker has.
bool Engine::reconnect(MonotonicTime now) {
    if (worker_.connected() && known_) return true;
    const bool again = worker_.connected() || failures_ > 0;
    auto done = worker_.connected() ? Result<void>{} : worker_.connect();
    if (done) done = read_back();
    if (!done) {
        repair_later(now, done.error());
        return false;
    }
    touched_.merge(everything(held_, wanted_.image()));
    if (again) log_.info("haproxy read back", {{"pid", worker_.pid()}});
    return true;
}

bool Engine::reload(std::string_view reason, MonotonicTime now) {
    const auto before = worker_.pid();
    if (figures_taken_) tend_figures(*figures_taken_ + figures_every);
    choose_ports();
    auto done = write_files();
    if (done) {
        ++reloads_;
        metrics_
            .counter("fairlead_proxy_reloads_total", "Reloads of the proxy, by reason.",
                     {{"reason", std::string(reason)}})
            .add();
        done = supervisor_.ask_reload();
        if (done) done = await_worker(before);
        // Asked in the moment in which it became its own successor, the master forgets.
        if (!done && supervisor_.alive() && supervisor_.complaint().empty()) {
            done = supervisor_.ask_reload();
            if (done) done = await_worker(before);
        }
    }
    reloaded_ = clock_.monotonic();
    worker_.disconnect();
    known_ = false;
    if (!done) {
        reload_failed_ = reloaded_;
        repair_later(now, done.error());
        log_.error("haproxy did not reload", {{"reason", reason}, {"error", trouble_}});
        return false;
    }
    log_.info("haproxy reloaded", {{"reason", reason}, {"backends", wanted_.book().total()}});
    return reconnect(now);
}

// Backends that drain, but in which nothing runs, are free for others: cheaper than a reload.
void Engine::reuse_idle(MonotonicTime now) {
    idle_looked_ = now;
    const auto answer = worker_.ask("show stat -1 2 -1");
    if (!answer) return;
    // It costs HAProxy as much as anything here: who wants figures need not ask again.
    if (wants_figures(now)) take_figures(*answer, now);
    std::set<std::string> busy;
    for (const auto& [backend, figures] : parse_statistics(*answer)) {
        if (figures.active > 0) busy.insert(backend);
    }
    touched_.merge(wanted_.expire_idle(busy, now - idle_after));
    touched_.merge(wanted_.grow(wanted_.book().classes(), now));
}

// True: the pools have their places, as far as there can be any.
bool Engine::grow(MonotonicTime now) {
    const auto& book = wanted_.book();
    // A reload failed, or was cut short with a former driver: the worker has not all that we count on.
    if (held_.backends.size() < book.total()) {
        if (reload_failed_ && now - *reload_failed_ < reload_retry) return true;
        return reload("growth", now);
    }
    // Before there is none left: pools that come and go fast would have all of them drain.
    const bool looked = idle_looked_ && now - *idle_looked_ < idle_after;
    if (!looked && book.draining() && (book.waiting() || book.lean())) reuse_idle(now);
    const bool paced = reloaded_ && now - *reloaded_ < reload_at_most_every;
    if (!book.waiting() && (paced || !book.tight() || !book.crowded())) return true;
    const auto classes = book.grown(std::max<std::size_t>(options_.settings.first_pools / 8, 4), paced);
    if (classes == book.classes()) return true;  // no room for more: a problem of those that wait
    touched_.merge(wanted_.grow(classes, now));
    return reload("growth", now);
}

void Engine::take_refusals(const Pushed& pushed) {
    for (const auto& [host, why] : pushed.refused_certificates) {
        refused_[host] = why;
        log_.warn("haproxy refused a certificate", {{"host", host}, {"error", why}});
    }
    for (const auto& [backend, why] : pushed.refused_authorities) {
        refused_authorities_[backend] = why;
        log_.warn("haproxy refused a CA", {{"backend", backend}, {"error", why}});
    }
}

bool Engine::push(MonotonicTime now) {
    // Names that lead to backends which the worker does not have yet are not in force.
    const bool complete = held_.backends.size() >= wanted_.book().total();
    if (touched_.empty()) {
        if (complete) settled();
        return true;
    }
    auto todo = work(held_, wanted_.image(), touched_, wanted_.book().classes(), supervisor_.directory().string());
    if (todo.slots) {
        if (!reload("slots", now)) return false;
        todo = work(held_, wanted_.image(), touched_, wanted_.book().classes(), supervisor_.directory().string());
    }
    for (const auto& host : touched_.certificates) refused_.erase(host);
    for (const auto& backend : touched_.authorities) refused_authorities_.erase(backend);
    if (failures_ > 0 && !todo.empty()) meters_.repairs.add();
    const auto pushed = worker_.push(todo, wanted_.image());
    if (!pushed) {
        repair_later(now, pushed.error());
        return false;
    }
    meters_.commands.add(static_cast<double>(pushed->commands));
    meters_.batch.observe(std::chrono::duration<double>(clock_.monotonic() - now).count());
    take_refusals(*pushed);
    if (pushed->errors > 0) {
        log_.warn("haproxy refused a command", {{"error", pushed->first_error}, {"errors", pushed->errors}});
        repair_later(now, {Errc::internal, {}, pushed->first_error});
        return false;
    }
    follow(held_, wanted_.image(), touched_);
    for (const auto& [host, why] : pushed->refused_certificates) held_.certificates.erase(host);
    touched_ = {};
    if (complete) settled();
    return true;
}

// What is wanted is in force.
void Engine::settled() {
    programmed_ = version_;
    if (version_ > 0) inherited_ = false;
}

void Engine::tend_files(MonotonicTime now) {
    if (!files_dirty_) return;
    const bool quiet = last_change_ && now - *last_change_ >= files_when_quiet_for;
    if (!quiet && now - *files_dirty_ < files_at_least_every) return;
    if (auto written = write_files(); !written) {
        log_.error("haproxy's files cannot be written", {{"error", written.error().text()}});
        files_dirty_ = last_change_ = now;
    }
}

bool Engine::wants_figures(MonotonicTime now) const {
    return figures_wanted_ && now - *figures_wanted_ <= figures_wanted_for;
}

void Engine::take_figures(std::string_view statistics, MonotonicTime now) {
    figures_taken_ = now;
    figures_.take(statistics, worker_.pid(), wanted_.book());
    figures_changed_ = true;
}

void Engine::tend_figures(MonotonicTime now) {
    if (!wants_figures(now) || (figures_taken_ && now - *figures_taken_ < figures_every)) return;
    figures_taken_ = now;
    if (const auto answer = worker_.ask("show stat -1 2 -1")) take_figures(*answer, now);
}

void Engine::choose_ports(milliseconds wait) {
    const auto before = wanted_.busy();
    supervisor_.choose_ports(before, wait);
    ports_looked_ = clock_.monotonic();
    const auto& busy = supervisor_.busy();
    wanted_.set_busy(busy);
    if (busy == before) return;
    meters_.busy.set(static_cast<double>(busy.size()));
    if (busy.empty()) {
        log_.info("all reservable ports are open", {{"ports", options_.settings.tcp_ports.text()}});
    } else {
        log_.warn("reservable ports are left out", {{"why", in_use_text(traffic::Transport::tcp, busy)}});
    }
}

// Ports that were somebody else's and could be had now, if somebody waits for them; the rest comes with the next
// reload.
bool Engine::tend_ports(MonotonicTime now) {
    if (wanted_.busy().empty() || (ports_looked_ && now - *ports_looked_ < ports_again)) return true;
    ports_looked_ = now;
    const auto missed = wanted_.missed_ports();
    if (missed.empty() || supervisor_.freed(missed).empty()) return true;
    return reload("ports", now);
}

Step Engine::step() {
    const auto now = clock_.monotonic();
    if (retry_ && now < *retry_ && !(worker_.connected() && known_)) return {.due = retry_};
    if (!revive(now) || !reconnect(now)) return {.due = retry_};
    tend_figures(now);  // before a backend is anybody else's
    touched_.merge(wanted_.expire(now - options_.settings.drain));
    if (audited_ && now - *audited_ >= audit_every) {
        if (auto done = read_back(); !done) {
            repair_later(now, done.error());
            return {.due = retry_};
        }
        auto all = everything(held_, wanted_.image());
        const auto wrong =
            work(held_, wanted_.image(), all, wanted_.book().classes(), supervisor_.directory().string());
        if (touched_.empty() && !wrong.empty()) {
            meters_.repairs.add();
            log_.warn("haproxy held something else", {{"commands", wrong.size()}});
        }
        touched_.merge(std::move(all));
    }
    if (!grow(now) || !tend_ports(now) || !push(now)) return {.due = retry_};
    failures_ = 0;
    trouble_.clear();
    retry_.reset();
    meters_.used.set(static_cast<double>(wanted_.book().used()));
    meters_.free.set(static_cast<double>(wanted_.book().total() - wanted_.book().used()));
    tend_files(clock_.monotonic());
    return next(now);
}

Step Engine::next(MonotonicTime now) const {
    auto due = audited_.value_or(now) + audit_every;
    if (const auto oldest = wanted_.book().oldest_release()) due = std::min(due, *oldest + options_.settings.drain);
    if (files_dirty_) {
        due = std::min({due, last_change_.value_or(now) + files_when_quiet_for, *files_dirty_ + files_at_least_every});
    }
    if (reload_failed_ && held_.backends.size() < wanted_.book().total()) {
        due = std::min(due, *reload_failed_ + reload_retry);
    }
    if (!wanted_.missed_ports().empty()) due = std::min(due, ports_looked_.value_or(now) + ports_again);
    if (wants_figures(now)) due = std::min(due, figures_taken_.value_or(now) + figures_every);
    return {.due = std::max(due, now + milliseconds(1))};
}

Progress Engine::progress() const {
    Progress progress{.up = known_,
                      .inherited = inherited_,
                      .programmed = programmed_,
                      .problems = wanted_.problems(),
                      .trouble = trouble_.empty() ? in_use_text(traffic::Transport::tcp, wanted_.busy()) : trouble_,
                      .reloads = reloads_};
    for (const auto& [host, why] : refused_) {
        const auto found = wanted_.table().certificates.find(host);
        if (found != wanted_.table().certificates.end()) progress.problems[found->second.owner] = "certificate: " + why;
    }
    for (const auto& [backend, why] : refused_authorities_) {
        const auto* pool = wanted_.book().pool_of(backend);
        if (pool == nullptr) continue;
        for (const auto& owner : wanted_.owners_of(*pool)) progress.problems[owner] = "destination CA: " + why;
    }
    return progress;
}

}  // namespace fairlead::proxy::haproxy
