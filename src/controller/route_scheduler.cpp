// What is followed, what is due, and the turns. How a route gets its router is in route_placing.cpp.
#include "controller/route_scheduler.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "control/conditions.h"
#include "route/shard.h"

namespace fairlead::controller {

namespace {

const control::Key all_work = "routes";          // the one key
constexpr std::size_t looks_per_turn = 8'192;    // routes that need no write cost about 1 us each
constexpr std::size_t woken_by_room = 64;        // a free place is for one route; which one, strategy and set decide
constexpr std::chrono::seconds caught_up_in{1};  // by then the informer knows what a conflict was about
constexpr int quiet_failures = 3;                // of a Router that is not as we know it

bool same_facts(const traffic::RouterFacts& a, const traffic::RouterFacts& b) {
    return a.created == b.created && a.set == b.set && a.label == b.label && a.capacity == b.capacity &&
           a.open == b.open && a.ready == b.ready && a.wildcards == b.wildcards && a.strategy == b.strategy &&
           a.parameters == b.parameters;
}

}  // namespace

bool RouteScheduler::Pace::take(MonotonicTime now) {
    const auto burst = std::max(1.0, rate / 10);
    tokens = at ? std::min(burst, tokens + std::chrono::duration<double>(now - *at).count() * rate) : burst;
    at = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
}

std::chrono::nanoseconds RouteScheduler::Pace::wait() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>((1 - tokens) / rate)) +
           std::chrono::milliseconds(1);
}

RouteScheduler::RouteScheduler(control::Context& context, RouteSchedulerOptions options)
    : context_(context),
      options_(std::move(options)),
      routes_(context.view<resource::Route>(resource::route_kind())),
      routers_(context.view<resource::Router>(resource::router_kind())),
      former_(routes_.add_index([](const resource::Route& route) {
          std::vector<std::string> routers;
          routers.reserve(route.status.former.size());
          for (const auto& entry : route.status.former) routers.push_back(entry.router);
          return routers;
      })),
      bindings_(*context.kinds().find("fairlead.dev", "v1", "routebindings")),
      queue_(context.clock(), context.random(), options_.backoff, nullptr),
      webhook_(options_.ask, context.waker()),
      moves_{.rate = options_.moves_per_second},
      returns_{.rate = options_.returns_per_second},
      figures_(context.metrics()) {
    routers_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        router_changed(std::string((after ? after : before)->name()));
    });
    routes_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        route_changed(std::string((after ? after : before)->name()));
    });
    context_.add_source([this] { take_news(); });
}

// --- what is followed ---

void RouteScheduler::route_changed(const std::string& key) {
    const auto* route = routes_.get(key);
    if (route == nullptr) return forget(key);
    if (const auto known = notes_.find(key); known != notes_.end() && known->second.uid != route->metadata.uid) {
        forget(key);
    }
    const auto [at, fresh] = notes_.try_emplace(key);
    auto& note = at->second;
    if (fresh) {
        note.uid = route->metadata.uid;
        figures_.count("", 1);
    }
    const auto host = route::shared_host(*route);
    if (host != (note.host ? (*note.host)->first : std::string())) {
        note.rehosted = !fresh;
        set_host(key, note, host);
    }
    const bool scheduled = route->status.phase == "scheduled";
    if (note.router.empty() && !scheduled && !note.since) note.since = context_.clock().monotonic();
    set_router(key, note, scheduled ? route->status.router : "");
    if (scheduled) {
        note.since.reset();
        set_reason(note, "");
        if (note.announce) {
            context_.events().record(control::reference_to(routes_.kind(), route->metadata), control::EventType::normal,
                                     "Scheduled", resource::bound_message(route->status.router, route->status.host));
        }
        note.announce = false;
    }
    if (!route->status.former.empty() || need_of(*route, note) != Need::nothing) look_again(key);
}

void RouteScheduler::router_changed(const std::string& name) {
    const auto* router = routers_.get(name);
    const auto* before = shards_.find(name);
    if (router == nullptr) {
        shards_.erase(name);
    } else {
        auto facts = route::router_facts(*router);
        const auto& dns = dns_[name];
        if (before != nullptr && same_facts(*before, facts) && dns == router->spec.dns) return;
        shards_.put(std::move(facts));
    }
    if (router != nullptr) {
        dns_[name] = router->spec.dns;
    } else {
        dns_.erase(name);
    }
    if (const auto placed = placed_.find(name); placed != placed_.end()) {
        for (const auto& key : placed->second) {
            const auto* route = routes_.get(key);
            if (route != nullptr && need_of(*route, notes_.at(key)) != Need::nothing) look_again(key);
        }
    }
    // Names on a former router end with it.
    const auto former = former_.find(name);
    for (const auto& key : former) {
        if (notes_.contains(key)) look_again(key);
    }
    wake_waiting(waiting_.size());
    check_strategies_ = true;
    context_.enqueue(all_work);
}

void RouteScheduler::take_news() {
    for (const auto& key : webhook_.take_news()) look_again(key);
    for (auto free = webhook_.free(); free > 0 && !unasked_.empty(); --free) {
        look_again(*unasked_.begin());
        unasked_.erase(unasked_.begin());
    }
}

void RouteScheduler::set_router(const std::string& key, Note& note, const std::string& router) {
    if (note.router == router) return;
    figures_.count(note.router, -1);
    figures_.count(router, 1);
    count_host(note, -1);
    if (!note.router.empty()) {
        const auto* facts = shards_.find(note.router);
        const bool was_full = facts != nullptr && facts->capacity && shards_.routes(note.router) >= *facts->capacity;
        shards_.count(note.router, -1);
        const auto placed = placed_.find(note.router);
        placed->second.erase(key);
        if (placed->second.empty()) placed_.erase(placed);
        if (was_full) wake_waiting(woken_by_room);
    }
    note.router = router;
    note.rehosted = false;
    count_host(note, 1);
    if (router.empty()) return;
    shards_.count(router, 1);
    placed_[router].insert(key);
    waiting_.erase(key);
}

void RouteScheduler::set_host(const std::string& key, Note& note, const std::string& host) {
    count_host(note, -1);
    if (note.host) {
        (*note.host)->second.routes.erase(key);
        if ((*note.host)->second.routes.empty()) hosts_.erase(*note.host);
    }
    note.host.reset();
    if (host.empty()) return;
    note.host = hosts_.try_emplace(host).first;
    (*note.host)->second.routes.insert(key);
    count_host(note, 1);
}

// While its routes are on several Routers, each of them says so.
void RouteScheduler::count_host(Note& note, std::int64_t difference) {
    if (!note.host || note.router.empty()) return;
    auto& host = (*note.host)->second;
    const auto before = host.routers.size();
    const auto at = host.routers.try_emplace(note.router).first;
    at->second += difference;
    if (at->second == 0) host.routers.erase(at);
    if (before == host.routers.size() || std::max(before, host.routers.size()) < 2) return;
    for (const auto& route : host.routes) {
        if (notes_.contains(route)) look_again(route);
    }
}

void RouteScheduler::set_reason(Note& note, const std::string& reason) {
    figures_.waits(note.reason, reason);
    note.reason = reason;
}

void RouteScheduler::forget(const std::string& key) {
    const auto at = notes_.find(key);
    if (at == notes_.end()) return;
    set_reason(at->second, "");
    set_router(key, at->second, "");
    set_host(key, at->second, "");
    figures_.count("", -1);
    queue_.remove(key);
    waiting_.erase(key);
    webhook_.forget(key);
    notes_.erase(at);
}

// --- what is due ---

void RouteScheduler::look_again(const std::string& key) {
    if (!notes_.contains(key)) return;
    queue_.add(key);
    context_.enqueue(all_work);
}

void RouteScheduler::look_later(const std::string& key, std::chrono::nanoseconds delay) {
    if (notes_.contains(key)) queue_.add_after(key, delay);
}

void RouteScheduler::wake_waiting(std::size_t most) {
    for (const auto& key : waiting_) {
        if (most-- == 0) return;
        notes_.at(key).failures = 0;
        look_again(key);
    }
}

// Lists what is unscheduled. Nothing should be found: what is new is noted when it changes. Should that ever fail, it
// costs a minute.
void RouteScheduler::relist() {
    const auto now = context_.clock().monotonic();
    if (relist_at_ && now < *relist_at_) return;
    if (relist_at_) {
        for (const auto& each : notes_) {
            const auto& note = each.second;
            if (!note.router.empty() || webhook_.asking(each.first)) continue;
            if (queue_.queued(each.first) || queue_.delayed(each.first)) continue;
            const auto* route = routes_.get(each.first);
            if (route != nullptr && need_of(*route, note) != Need::nothing) look_again(each.first);
        }
    }
    relist_at_ = now + options_.relist;
}

Result<control::Again> RouteScheduler::reconcile(const control::Key& /*key*/) {
    relist();
    if (check_strategies_) compare_strategies();
    Wishes wishes;
    for (std::size_t i = 0; i < looks_per_turn && wishes.size() < options_.batch; ++i) {
        const auto key = queue_.pop();
        if (!key) break;
        queue_.done(*key);  // what a look finds out may ask for another
        consider(*key, wishes);
    }
    // What a refusal has to tell is written in a second round.
    while (!wishes.empty()) wishes = write(std::move(wishes));
    if (queue_.ready()) return control::Again::now();
    const auto next = std::min(*relist_at_, queue_.due().value_or(*relist_at_));
    return control::Again::in(std::max(std::chrono::nanoseconds(next - context_.clock().monotonic()),
                                       std::chrono::nanoseconds(std::chrono::milliseconds(1))));
}

RouteScheduler::Wishes RouteScheduler::write(Wishes wishes) {
    std::vector<control::Request> requests;
    requests.reserve(wishes.size());
    for (auto& wish : wishes) requests.push_back(std::move(wish.request));
    const auto answers = context_.client().write_all(std::move(requests));
    Wishes more;
    const Error* trouble = nullptr;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i]) {
            done(wishes[i]);
        } else {
            failed(wishes[i], answers[i].error(), more);
            const auto code = answers[i].error().code;
            if (code == Errc::unavailable || code == Errc::timeout || code == Errc::internal) {
                trouble = &answers[i].error();
            }
        }
    }
    if (trouble != nullptr) {
        context_.log().warn("routes cannot be placed, they are tried again", {{"why", trouble->text()}});
    }
    return more;
}

void RouteScheduler::done(const Wish& wish) {
    const auto at = notes_.find(wish.key);
    if (at == notes_.end()) return;
    auto& note = at->second;
    switch (wish.need) {
        case Need::nothing:
        case Need::tidy:
            return;
        case Need::place:
            if (note.since) figures_.placed(context_.clock().monotonic() - *note.since);
            break;
        case Need::move:
        case Need::rename:
        case Need::give_back:
            figures_.moved(wish.why);
            break;
    }
    note.failures = 0;
    note.announce = wish.need != Need::give_back;
    if (wish.need == Need::give_back) {
        note.since = context_.clock().monotonic();
        set_router(wish.key, note, "");
    }
    set_reason(note, "");
}

void RouteScheduler::failed(const Wish& wish, const Error& error, Wishes& more) {
    const auto at = notes_.find(wish.key);
    const auto* route = routes_.get(wish.key);
    if (at == notes_.end() || route == nullptr) return;
    auto& note = at->second;
    set_router(wish.key, note, route->status.phase == "scheduled" ? route->status.router : "");
    note.rehosted = note.rehosted || wish.why == "host";  // it is still where it should not be
    switch (error.code) {
        case Errc::conflict:
        case Errc::not_found:
        case Errc::already_exists:
            // Changed or gone: the informer is a moment behind, and will say so.
            return look_later(wish.key, caught_up_in);
        case Errc::invalid:
        case Errc::too_large:
        case Errc::unsupported: {
            // The Router drains, is gone or renamed since we looked, which the informer will say; if not, we do.
            const bool router = error.field == "router" || error.field == "dns";
            if (router && ++note.failures <= quiet_failures) return look_later(wish.key, caught_up_in);
            const bool name = error.field == "spec.host";
            return no_place(wish.key, *route, wish.need, name ? "InvalidName" : "BindingRefused",
                            name
                                ? fmt::format("{}: choose a shorter spec.host, or add a Router with a shorter spec.dns",
                                              error.message)
                                : error.text(),
                            more);
        }
        default:
            break;
    }
    look_later(wish.key, options_.backoff.delay(++note.failures, context_.random()));
}

// Routers of one set should agree on the strategy: the oldest that names one decides.
void RouteScheduler::compare_strategies() {
    check_strategies_ = false;
    std::map<std::string, const traffic::RouterFacts*> first;
    std::set<std::string> differing;
    for (const auto* facts : shards_.routers()) {
        if (facts->strategy.empty()) continue;
        const auto* decides = first.emplace(facts->set, facts).first->second;
        if (decides->strategy == facts->strategy && decides->parameters == facts->parameters) continue;
        const auto text =
            fmt::format("strategy {} is not used: the older Router {} takes the same routes and decides ({})",
                        facts->strategy, decides->name, decides->strategy);
        differing.insert(facts->name + text);
        if (told_.contains(facts->name + text)) continue;
        const auto* router = routers_.get(facts->name);
        context_.events().record(control::reference_to(routers_.kind(), router->metadata), control::EventType::warning,
                                 "StrategyIgnored", text);
    }
    told_ = std::move(differing);
}

}  // namespace fairlead::controller
