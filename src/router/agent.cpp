#include "router/agent.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "health/monitor.h"
#include "resource/kinds/router_instance.h"
#include "route/table.h"
#include "router/follow.h"
#include "router/ingress_source.h"
#include "router/lrp_share.h"
#include "router/lrp_source.h"
#include "router/member_checks.h"
#include "router/reporter.h"
#include "router/route_figures.h"
#include "router/route_source.h"
#include "traffic/union.h"

namespace fairlead::router {

namespace {

constexpr std::size_t max_lrp_problems = 200;  // of 1 KiB each, in every report

resource::RouterInstanceProblem problem_of(const std::string& key, const std::vector<route::Problem>& problems,
                                           const std::string& of_proxy) {
    resource::RouterInstanceProblem out;
    out.route = key;
    for (const auto& problem : problems) {
        if (out.reason.empty()) out.reason = problem.reason;
        out.message += (out.message.empty() ? "" : "; ") + problem.message;
    }
    if (!of_proxy.empty()) {
        out.reason = "ProxyRefuses";  // whatever else there is: it is not in force
        out.message += (out.message.empty() ? "" : "; ") + of_proxy;
    }
    return out;
}

}  // namespace

RouterFacts facts_of(const resource::LoadBalancerSpec& spec) {
    RouterFacts facts;
    const auto listen = spec.listen.value_or(resource::LoadBalancerListen{});
    facts.spec.ports.http = listen.http;
    facts.spec.ports.https = listen.https;
    facts.spec.proxy_protocol = listen.proxy_protocol;
    facts.nginx = spec.bare_metal_load_balancer && spec.bare_metal_load_balancer->type == "Nginx";
    facts.listen_address = listen.address;
    return facts;
}

struct Agent::Impl {
    // What was handed to the driver, and is not known to be in force.
    struct Pending {
        std::uint64_t version = 0;
        std::int64_t revision = 0;  // of the Routes that it was made from
        bool own = false;           // a Route of ours was among the changes
    };

    Impl(AgentOptions options_, const AgentParts& parts_)
        : options(std::move(options_)),
          parts(parts_),
          checks(parts.monitor),
          reporter({.instance = options.instance,
                    .spec = {.router = options.router,
                             .load_balancer = options.load_balancer,
                             .address = options.address,
                             .probe = options.probe},
                    .lease = options.lease},
                   parts.link, parts.clock, parts.random, parts.log, parts.wake),
          table(options.load_balancer.empty() ? traffic::Ends::by_rule : traffic::Ends::by_host),
          changes(parts.metrics.counter("fairlead_router_changes_total",
                                        "Routes whose part of the proxy's table was made anew.")),
          batches(parts.metrics.counter("fairlead_router_batches_total", "Changes handed to the proxy, each of many.")),
          problem_gauge(parts.metrics.gauge("fairlead_router_problem_routes",
                                            "Routes that are not served, or not whole; see the RouterInstance.")),
          route_gauge(parts.metrics.gauge("fairlead_router_served_routes", "Routes that this instance serves.")),
          down_gauge(parts.metrics.gauge("fairlead_router_members_down", "Members that checks have found down.")),
          figures(parts.metrics.collect_with([this] { return shown_figures(); })) {
        const Feed feed{parts.link, parts.clock, parts.random, parts.log, parts.wake};
        if (options.load_balancer.empty()) {
            auto made = std::make_unique<RouteSource>(options.router, feed);
            routes = made.get();
            source = std::move(made);
            lrps.emplace(options.router, parts.link, parts.clock, parts.random, parts.log, parts.wake);
            lrp_share.emplace(
                *lrps, table, checks, [this](std::string_view key) { return source->secret(key); }, parts.log,
                parts.metrics);
        } else {
            auto made = std::make_unique<IngressSource>(options.load_balancer, feed);
            ingresses = made.get();
            source = std::move(made);
        }
        // Versions grow, also over restarts: the proxy that we may find still has the last one of our predecessor.
        const auto since = parts.clock.now().time_since_epoch();
        const auto found = parts.driver.progress();
        adopted = found.up && found.inherited;
        const auto by_time = std::chrono::duration_cast<std::chrono::microseconds>(since).count();
        version = std::max(static_cast<std::uint64_t>(by_time), found.programmed);
        parts.driver.on_progress(parts.wake);
        parts.monitor.on_news(parts.wake);
    }
    ~Impl() {
        parts.driver.on_progress({});
        parts.monitor.on_news({});
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    Step step();
    void expire(WallTime now);
    // How many members have failed their checks, if it is all of them; they get requests all the same.
    [[nodiscard]] std::size_t all_down(const std::string& key, const route::Part& part) const;
    traffic::TableDiff remake(const std::set<std::string>& keys, WallTime now);
    traffic::TableDiff remake(const std::string& key, WallTime now);
    void follow_lrps(traffic::TableDiff& change, WallTime now);
    [[nodiscard]] bool listed() const { return source->listed() && (!lrps || lrps->listed()); }
    [[nodiscard]] std::string read_problem() const;
    // The Router or LoadBalancer, if it is there.
    [[nodiscard]] std::optional<RouterFacts> served() const;
    [[nodiscard]] std::string owner_of(const std::string& key) const {
        return fmt::format("{}{}", source->owner_prefix(), key);
    }
    // "route/shop/cart" -> "shop/cart"
    [[nodiscard]] std::string key_of(const std::string& owner) const {
        const auto prefix = source->owner_prefix();
        return owner.starts_with(prefix) ? owner.substr(prefix.size()) : owner;
    }
    // By key: what is wrong with it, whoever says so.
    [[nodiscard]] std::map<std::string, std::vector<route::Problem>> all_problems(
        const proxy::Progress& progress) const;
    void hand_over(traffic::TableDiff change, bool own);
    void take_progress(const proxy::Progress& progress);
    [[nodiscard]] Report report(const proxy::Progress& progress) const;
    void publish(const Report& made);
    [[nodiscard]] ShownProgress shown() const {
        const std::lock_guard lock(mutex);
        return shown_progress;
    }
    [[nodiscard]] std::vector<SampleFamily> shown_figures() const {
        if (options.load_balancer.empty()) return route_figures(parts.driver.figures(), shown());
        return balancer_figures(options.load_balancer, parts.driver.figures(), shown());
    }

    AgentOptions options;
    AgentParts parts;
    MemberChecks checks;
    Reporter reporter;
    traffic::Union table;  // of a balancer several Ingresses share hosts, and how those are taken in
    std::unique_ptr<Source> source;
    RouteSource* routes = nullptr;                                // the source, of a Router
    IngressSource* ingresses = nullptr;                           // the source, of a LoadBalancer
    std::optional<LrpSource> lrps;                                // of a Router only
    std::optional<LrpShare> lrp_share;                            // in the table, after the Routes
    std::map<std::string, std::vector<route::Problem>> problems;  // by route, none empty
    std::set<std::pair<WallTime, std::string>> ends;              // when a route is no longer ours
    std::map<std::string, WallTime> end_of;
    bool started = false;
    bool adopted = false;  // the proxy serves what a predecessor left there
    std::uint64_t version = 0, first_version = 0;
    std::deque<Pending> pending;
    std::optional<std::int64_t> programmed, own_programmed;
    Counter changes, batches;
    Gauge problem_gauge, route_gauge, down_gauge;

    mutable std::mutex mutex;  // of what other threads ask for
    bool leaving = false, left = false, is_ready = false, is_orphaned = false;
    std::string why, notice;
    std::optional<RouterFacts> facts;
    ShownProgress shown_progress;
    Metrics::Collecting figures;  // last: it asks for the rest
};

// Routes that were moved away are ours until a time.
void Agent::Impl::expire(WallTime now) {
    while (!ends.empty() && ends.begin()->first <= now) {
        source->touch(ends.begin()->second);
        end_of.erase(ends.begin()->second);
        ends.erase(ends.begin());
    }
}

std::size_t Agent::Impl::all_down(const std::string& key, const route::Part& part) const {
    std::size_t count = 0;
    for (const auto& [name, pool] : part.table.pools) {
        for (const auto& member : pool.members) {
            if (member.weight == 0) continue;
            if (!checks.down(key, member.address, member.port)) return 0;
            ++count;
        }
    }
    return count;
}

traffic::TableDiff Agent::Impl::remake(const std::string& key, WallTime now) {
    const auto owner = owner_of(key);
    if (const auto held = end_of.find(key); held != end_of.end()) {
        ends.erase({held->second, key});
        end_of.erase(held);
    }
    const auto state = [this, &key](std::string_view address, std::uint16_t port) {
        return checks.down(key, address, port) ? traffic::MemberState::down : traffic::MemberState::ready;
    };
    auto made = source->make(key, state, now);
    if (!made) {
        problems.erase(key);
        checks.follow(key, nullptr);
        return table.set(owner, {}, {});
    }
    auto& part = made->part;
    checks.follow(key, &part);
    // Last: it is served, and what keeps it from being so comes first.
    if (const auto down = all_down(key, part); down > 0) {
        part.problems.push_back({"AllEndpointsFail", fmt::format("all {} endpoints fail their checks", down)});
    }
    if (part.problems.empty()) {
        problems.erase(key);
    } else {
        problems[key] = std::move(part.problems);
    }
    if (made->until) {
        ends.emplace(*made->until, key);
        end_of[key] = *made->until;
    }
    return table.set(owner, made->rank, std::move(part.table));
}

traffic::TableDiff Agent::Impl::remake(const std::set<std::string>& keys, WallTime now) {
    traffic::TableDiff all;
    for (const auto& key : keys) {
        auto change = remake(key, now);
        if (started) traffic::merge(all, std::move(change));  // else the whole table follows
    }
    changes.add(static_cast<double>(keys.size()));
    return all;
}

// After the Routes: what they leave to LRPs, and what they take from them, belongs to the same change.
void Agent::Impl::follow_lrps(traffic::TableDiff& change, WallTime now) {
    const auto secrets = source->take_changed_secrets();
    if (!lrp_share) return;
    for (const auto& secret : secrets) lrp_share->touch_secret(secret);
    if (const auto* router = routes->router()) {
        lrp_share->set_strict(router->spec.namespace_ownership != "InterNamespaceAllowed");
    }
    auto of_lrps = lrp_share->follow(change, now);
    if (started) traffic::merge(change, std::move(of_lrps));  // else the whole table follows
}

// Why something cannot be read now; empty: all is well.
std::string Agent::Impl::read_problem() const {
    auto problem = source->problem();
    return problem.empty() && lrps ? lrps->problem() : problem;
}

std::optional<RouterFacts> Agent::Impl::served() const {
    if (ingresses != nullptr) {
        const auto* balancer = ingresses->balancer();
        return balancer != nullptr ? std::optional(facts_of(balancer->spec)) : std::nullopt;
    }
    const auto* router = routes->router();
    if (router == nullptr) return std::nullopt;
    RouterFacts now{router->spec, std::nullopt};
    if (!router->spec.default_certificate.empty()) {
        if (const auto* secret = source->secret(router->spec.default_certificate)) now.default_certificate = *secret;
    }
    if (lrps) now.leased = lrps->leased_ports();
    return now;
}

void Agent::Impl::hand_over(traffic::TableDiff change, bool own) {
    const auto revision = source->revision().value_or(0);
    if (!started) {
        first_version = ++version;
        started = true;
        parts.driver.reset(table.whole(), version);
        pending.push_back({version, revision, true});
        return;
    }
    if (!change.empty()) {
        batches.add();
        parts.driver.change(std::move(change), ++version);
        pending.push_back({version, revision, own});
    } else if (!pending.empty()) {
        // Nothing to do for it, but it counts only when what came before is in force.
        pending.back().revision = revision;
        pending.back().own = pending.back().own || own;
    } else {
        programmed = revision;
        if (own) own_programmed = revision;
    }
}

void Agent::Impl::take_progress(const proxy::Progress& progress) {
    while (!pending.empty() && pending.front().version <= progress.programmed) {
        programmed = pending.front().revision;
        if (pending.front().own) own_programmed = programmed;
        pending.pop_front();
    }
}

std::map<std::string, std::vector<route::Problem>> Agent::Impl::all_problems(const proxy::Progress& progress) const {
    auto all = problems;
    for (const auto& [owner, rules] : table.lost()) {
        for (const auto& [rule, winner] : rules) {
            if (auto said = source->lost(rule, winner, owner)) all[key_of(owner)].push_back(std::move(*said));
        }
    }
    for (const auto& [owner, said] : progress.problems) {
        if (!LrpShare::owns(owner)) all.try_emplace(key_of(owner));
    }
    return all;
}

Report Agent::Impl::report(const proxy::Progress& progress) const {
    Report made;
    made.routes = table.owners() - (lrp_share ? lrp_share->owners() : 0);
    made.programmed = programmed;
    made.urgent = own_programmed;
    made.proxy = options.proxy;
    made.reloads = progress.reloads;
    const bool serves = started && progress.up && (adopted || progress.programmed >= first_version);
    {
        const std::lock_guard lock(mutex);
        made.ready = serves && !leaving;
        if (leaving) made.message = resource::instance_leaves;
    }
    if (made.message.empty() && !serves) {
        made.message = !started ? read_problem() : progress.trouble;
        if (made.message.empty()) made.message = !started ? "reading what it serves" : "the proxy is not up yet";
    }
    if (made.message.empty()) made.message = progress.trouble;
    if (made.message.empty()) {
        const std::lock_guard lock(mutex);
        made.message = notice;
    }
    if (made.message.empty() && lrp_share) made.message = lrp_share->problem(progress.problems);
    const auto all = all_problems(progress);
    made.problem_routes = all.size();
    made.problems.reserve(std::min(all.size(), max_problems));
    for (const auto& [key, said] : all) {
        if (made.problems.size() == max_problems) break;
        const auto of_proxy = progress.problems.find(owner_of(key));
        made.problems.push_back(
            problem_of(key, said, of_proxy != progress.problems.end() ? of_proxy->second : std::string()));
    }
    // Routes first: that all of theirs are listed shows in their number.
    if (lrp_share) {
        const auto room = std::min(max_lrp_problems, max_problems - made.problems.size());
        for (const auto& [key, problem] : lrp_share->by_lrp(progress.problems, room)) {
            made.problems.push_back(
                {fmt::format("{}{}", resource::lrp_problem_prefix, key), problem.reason, problem.message});
        }
    }
    return made;
}

// For other threads, and for people.
void Agent::Impl::publish(const Report& made) {
    auto now = started ? served() : std::nullopt;
    auto problem = made.ready ? read_problem() : made.message;
    if (problem.empty()) problem = reporter.problem();
    const auto& told = reporter.told();
    const std::lock_guard lock(mutex);
    if (made.ready != is_ready) {
        parts.log.info(made.ready ? "router serves" : "router does not serve", {{"router", options.router},
                                                                                {"balancer", options.load_balancer},
                                                                                {"instance", options.instance},
                                                                                {"routes", made.routes},
                                                                                {"why", made.message}});
    }
    is_ready = made.ready;
    why = std::move(problem);
    is_orphaned = started && !now;
    facts = std::move(now);
    left = leaving && told && !told->ready;
    shown_progress = {.programmed = programmed.value_or(0),
                      .waiting = pending.size(),
                      .routes = made.routes,
                      .problem_routes = made.problem_routes,
                      .reloads = made.reloads};
}

Step Agent::Impl::step() {
    auto step = source->step();
    if (lrps) sooner(step, lrps->step());
    if (!started && !listed()) {
        // What our predecessor left in the proxy goes on until all is known: half of a table would take routes away.
        const auto progress = parts.driver.progress();
        const auto made = report(progress);
        // While the proxy serves, what our predecessor said of it counts on, until its lease ends.
        if (!adopted || !progress.up) {
            sooner(step, {.more = false, .due = reporter.step(made).due});
        }
        publish(made);
        return step;
    }
    const auto now = parts.clock.now();
    expire(now);
    for (const auto& key : checks.take_news()) {
        if (!lrp_share || !lrp_share->touch_check(key)) source->touch(key);
    }
    const bool own = source->take_own_change();
    auto change = remake(source->take_touched(), now);
    follow_lrps(change, now);
    hand_over(std::move(change), own);
    const auto progress = parts.driver.progress();
    take_progress(progress);
    const auto made = report(progress);
    const auto reported = reporter.step(made);
    publish(made);
    problem_gauge.set(static_cast<double>(made.problem_routes));
    route_gauge.set(static_cast<double>(made.routes));
    down_gauge.set(static_cast<double>(checks.down_members()));
    if (lrp_share) lrp_share->show(progress.problems);
    sooner(step, reported);
    if (!ends.empty()) {
        const auto end =
            parts.clock.monotonic() + std::chrono::duration_cast<MonotonicTime::duration>(ends.begin()->first - now);
        if (!step.due || end < *step.due) step.due = end;
    }
    return step;
}

Agent::Agent(AgentOptions options, const AgentParts& parts)
    : impl_(std::make_unique<Impl>(std::move(options), parts)) {}

Agent::~Agent() = default;

Step Agent::step() { return impl_->step(); }

bool Agent::leave() {
    bool done = false;
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->leaving = true;
        done = impl_->left;
    }
    if (!done) impl_->parts.wake();
    return done;
}

void Agent::set_notice(std::string text) {
    {
        const std::lock_guard lock(impl_->mutex);
        if (impl_->notice == text) return;
        impl_->notice = std::move(text);
    }
    impl_->parts.wake();
}

bool Agent::ready() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->is_ready;
}

std::string Agent::problem() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->why;
}

bool Agent::orphaned() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->is_orphaned;
}

std::vector<SampleFamily> Agent::figures() const { return impl_->shown_figures(); }

std::optional<RouterFacts> Agent::router() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->facts;
}

}  // namespace fairlead::router
