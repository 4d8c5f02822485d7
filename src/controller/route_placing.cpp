// How a route gets its router: what it needs, who takes it, and the writes that follow. The other half of
// route_scheduler.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "control/conditions.h"
#include "controller/route_scheduler.h"

namespace fairlead::controller {

namespace {

// "blue1, blue2, blue3 and 7 more".
std::string names_of(const std::vector<const traffic::RouterFacts*>& routers) {
    constexpr std::size_t most = 3;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < routers.size() && i < most; ++i) names.push_back(routers[i]->name);
    auto text = join(names, ", ");
    if (routers.size() > most) text += fmt::format(" and {} more", routers.size() - most);
    return text;
}

std::string who_takes(const traffic::Place& place) {
    const auto& set = place.oldest->set;
    return set.empty() ? "without label and selector" : fmt::format("for {}", set);
}

struct Obstacle {
    std::string reason, message;
};

// What an administrator has to do so that the route finds its place.
Obstacle obstacle(const traffic::Place& place) {
    switch (place.why) {
        case traffic::NoPlace::none:
            break;
        case traffic::NoPlace::no_router:
            return {"NoRouter",
                    "no Router takes this route: add a Router without label and selector, or one for a label that the "
                    "route carries"};
        case traffic::NoPlace::no_wildcards:
            return {"NoWildcards",
                    fmt::format("the route has wildcardPolicy Subdomain, and no Router that would take it ({}) allows "
                                "that: set spec.wildcardPolicy of one to WildcardsAllowed, or add such a Router {}",
                                names_of(place.set), who_takes(place))};
        case traffic::NoPlace::all_closed:
            return {"RoutersDraining",
                    fmt::format("every Router that takes this route drains or is being deleted ({}): set spec.drain to "
                                "false or add a Router {}",
                                names_of(place.set), who_takes(place))};
        case traffic::NoPlace::no_room:
            return {"NoRoom",
                    fmt::format("every Router that takes this route has as many routes as its spec.capacity allows "
                                "({}): raise it or add a Router {}",
                                names_of(place.set), who_takes(place))};
    }
    return {};
}

std::string_view move_reason(const traffic::RouterFacts* router) {
    if (router == nullptr) return "router_gone";
    return router->open ? "labels" : "drain";
}

}  // namespace

RouteScheduler::Need RouteScheduler::need_of(const resource::Route& route, const Note& note) const {
    if (!route.metadata.deletion_timestamp.empty()) return Need::nothing;
    const auto& status = route.status;
    if (status.phase != "scheduled") return Need::place;
    const auto* router = shards_.find(status.router);
    if (router == nullptr) return Need::give_back;
    const auto& labels = route.metadata.labels;
    // Routers that are added later move nothing; labels that are changed do, also while nobody looked.
    const bool relabelled = !status.labels_mark.empty() && status.labels_mark != resource::labels_mark(labels);
    if (!router->open || !traffic::takes(*router, labels) || (relabelled && !shards_.belongs(labels, status.router))) {
        return Need::move;
    }
    if (note.rehosted) {
        const auto* home = home_of(route, note);
        if (home != nullptr && home->name != status.router) return Need::move;
    }
    if (dns_.at(status.router) != status.dns) return Need::rename;
    const auto* scheduled = control::find_condition(status.conditions, "Scheduled");
    if (scheduled == nullptr || scheduled->message != word_of(route, note).message) return Need::tidy;
    return former_left(route) != status.former ? Need::tidy : Need::nothing;
}

const traffic::RouterFacts* RouteScheduler::home_of(const resource::Route& route, const Note& note) const {
    if (!note.host) return nullptr;
    const traffic::RouterFacts* home = nullptr;
    std::int64_t most = 0;
    for (const auto& [name, count] : (*note.host)->second.routers) {
        const auto others = count - (name == note.router ? 1 : 0);
        if (others <= most) continue;
        const auto* facts = shards_.find(name);
        if (facts == nullptr || !facts->open || !shards_.belongs(route.metadata.labels, name)) continue;
        if (route.spec.wildcard_policy == "Subdomain" && !facts->wildcards) continue;
        home = facts;
        most = others;
    }
    return home;
}

resource::Condition RouteScheduler::word_of(const resource::Route& route, const Note& note) const {
    const auto& status = route.status;
    resource::Condition condition;
    condition.type = "Scheduled";
    condition.status = "True";
    condition.reason = "Bound";
    condition.message = resource::bound_message(status.router, status.host);
    if (!note.host || (*note.host)->second.routers.size() < 2) return condition;
    // Routes on a Router that drains or is gone are on their way.
    const auto* own = shards_.find(status.router);
    std::vector<const traffic::RouterFacts*> others;
    for (const auto& [name, count] : (*note.host)->second.routers) {
        const auto* facts = name == status.router ? nullptr : shards_.find(name);
        if (facts != nullptr && facts->open) others.push_back(facts);
    }
    if (others.empty() || own == nullptr || !own->open) return condition;
    condition.reason = "HostOnOtherRouter";
    condition.message += fmt::format(
        "; other routes of {} are on router {}, and DNS leads a host to one router only: give them labels "
        "that the same Routers take, then run fairlead rebalance",
        status.host, names_of(others));
    return condition;
}

void RouteScheduler::leave_room(const Note& note, Need need, traffic::Place& place) {
    if (!note.host) return;
    auto homeless = static_cast<std::int64_t>((*note.host)->second.routes.size());
    for (const auto& [name, count] : (*note.host)->second.routers) {
        const auto* facts = shards_.find(name);
        if (facts != nullptr && facts->open) homeless -= count;
    }
    const auto full = [&](const auto& each) { return each.capacity && each.routes + homeless > *each.capacity; };
    if (homeless < 2 || std::none_of(place.routers.begin(), place.routers.end(), full)) return;
    roomy_.assign(place.routers.begin(), place.routers.end());
    std::erase_if(roomy_, full);
    if (!roomy_.empty()) {
        place.routers = roomy_;
    } else if (need == Need::move) {
        place.why = traffic::NoPlace::no_room;  // served together where they are, which is better than some
    }
}

// The time of an entry begins when the new router has: a slow one must not cost a request. It is over when its time is,
// unless it stands for a name that the route still has: one of a Router that exists.
std::vector<resource::RouteFormer> RouteScheduler::former_left(const resource::Route& route) const {
    const auto now = context_.clock().now();
    const auto& own = route.status.phase == "scheduled" ? route.status.host : route.spec.host;
    std::vector<resource::RouteFormer> left;
    for (auto entry : route.status.former) {
        const auto dns = dns_.find(entry.router);
        if (entry.until.empty() && dns == dns_.end()) continue;
        if (entry.until.empty() && !resource::awaits_router(route.status)) {
            entry.until = rfc3339(now + resource::former_time);
        }
        const bool a_name = entry.host != own && dns != dns_.end() && dns->second == entry.dns;
        if (a_name || resource::serves_still(entry, now)) left.push_back(std::move(entry));
    }
    return left;
}

void RouteScheduler::consider(const std::string& key, Wishes& wishes) {
    const auto* route = routes_.get(key);
    if (route == nullptr) return;
    auto& note = notes_.at(key);
    // What we did is on its way to us: nothing more until it is here.
    if (note.router != (route->status.phase == "scheduled" ? route->status.router : "")) return;
    const auto need = need_of(*route, note);
    const auto now = context_.clock().monotonic();
    switch (need) {
        case Need::nothing:
            waiting_.erase(key);
            note.failures = 0;
            break;
        case Need::place:
        case Need::move:
            return place(key, *route, need, wishes);
        case Need::rename:
            if (!moves_.take(now)) return look_later(key, moves_.wait());
            return bind(key, *route, need, route->status.router, wishes);
        case Need::give_back:
            if (!returns_.take(now)) return look_later(key, returns_.wait());
            return bind(key, *route, need, "", wishes);
        case Need::tidy:
            tidy(key, *route, word_of(*route, note), wishes);
            break;
    }
    for (const auto& entry : route->status.former) {
        const auto until = from_rfc3339(entry.until);
        const auto left = until ? *until - context_.clock().now() : WallTime::duration(0);
        if (left.count() > 0) look_later(key, left + std::chrono::milliseconds(1));
    }
}

void RouteScheduler::place(const std::string& key, const resource::Route& route, Need need, Wishes& wishes) {
    const auto& note = notes_.at(key);
    if (const auto* home = home_of(route, note)) return follow(key, route, need, *home, wishes);
    auto found = shards_.place(route.metadata.labels, route.spec.wildcard_policy == "Subdomain");
    if (found.why == traffic::NoPlace::none) leave_room(note, need, found);
    if (found.why != traffic::NoPlace::none) {
        const auto [reason, message] = obstacle(found);
        return no_place(key, route, need, reason, message, wishes);
    }
    const auto chosen = choose(key, route, found);
    if (!chosen) return;
    if (!*chosen) {
        return no_place(key, route, need, "StrategyFailed", chosen->error().text(), wishes);
    }
    if (need == Need::move && !moves_.take(context_.clock().monotonic())) return look_later(key, moves_.wait());
    bind(key, route, need, **chosen, wishes);
}

// Whatever the strategy says, and at once: a host that is on its way should be all there soon.
void RouteScheduler::follow(const std::string& key, const resource::Route& route, Need need,
                            const traffic::RouterFacts& home, Wishes& wishes) {
    webhook_.forget(key);
    if (home.capacity && shards_.routes(home.name) >= *home.capacity) {
        return no_place(key, route, need, "NoRoom",
                        fmt::format("other routes of {} are on Router {}, which has as many routes as its "
                                    "spec.capacity allows, and DNS leads a host to one Router only: raise it",
                                    route.spec.host, home.name),
                        wishes);
    }
    bind(key, route, need, home.name, wishes);
}

void RouteScheduler::no_place(const std::string& key, const resource::Route& route, Need need,
                              const std::string& reason, const std::string& message, Wishes& wishes) {
    auto& note = notes_.at(key);
    waiting_.insert(key);
    if (need == Need::place) return wait(key, route, reason, message, wishes);
    look_later(key, options_.backoff.delay(++note.failures, context_.random()));
    // Of the Route, because each may have a reason of its own: its name is too long there, the next one's is not.
    auto condition = word_of(route, note);
    condition.reason = reason;
    condition.message = fmt::format("{}; it should leave this router and cannot: {}",
                                    resource::bound_message(route.status.router, route.status.host), message);
    const auto* before = control::find_condition(route.status.conditions, condition.type);
    const bool told = before != nullptr && before->message == condition.message;
    if (const auto* router = routers_.get(route.status.router); router != nullptr && !told) {
        context_.events().record(control::reference_to(routers_.kind(), router->metadata), control::EventType::warning,
                                 "CannotMove", fmt::format("routes stay on this Router: {}", message));
    }
    if (!told || former_left(route) != route.status.former) tidy(key, route, condition, wishes);
}

std::optional<Result<std::string>> RouteScheduler::choose(const std::string& key, const resource::Route& route,
                                                          const traffic::Place& place) {
    const bool own = !place.oldest->strategy.empty();
    const auto& name = own ? place.oldest->strategy : options_.strategy;
    const auto& parameters = own ? place.oldest->parameters : options_.parameters;
    if (name == traffic::webhook_strategy) return choose_by_webhook(key, route, place, parameters);
    return choose_by(name, key, route, place);
}

Result<std::string> RouteScheduler::choose_by(const std::string& strategy, const std::string& key,
                                              const resource::Route& route, const traffic::Place& place) {
    auto& made = strategies_[strategy];
    if (!made) {
        auto fresh = traffic::make_strategy(strategy);
        if (!fresh) return fail(fresh.error());
        made = std::move(*fresh);
    }
    return made->schedule({key, route.metadata.uid, route.metadata.labels}, place.routers);
}

std::optional<Result<std::string>> RouteScheduler::choose_by_webhook(
    const std::string& key, const resource::Route& route, const traffic::Place& place,
    const std::map<std::string, std::string>& parameters) {
    const auto settings = webhook_settings(parameters);
    Result<std::string> chosen = fail(Errc::internal, "");
    if (!settings) {
        chosen = fail(settings.error());
    } else {
        const auto answer = webhook_.take(key);
        if (!answer) {
            if (webhook_.asking(key)) return std::nullopt;
            auto object = json::parse(routes_.stored(key)->value());
            if (!object) return Result<std::string>(fail(object.error()));
            Question question{settings->url, settings->ca_pem, webhook_body(std::move(*object), place.routers),
                              settings->timeout};
            if (!webhook_.ask(key, std::move(question))) unasked_.insert(key);
            return std::nullopt;
        }
        chosen = *answer ? webhook_choice(**answer, place.routers) : Result<std::string>(fail(answer->error()));
    }
    if (chosen) return chosen;
    const auto why =
        fmt::format("the strategy webhook of Router {} failed: {}", place.oldest->name, chosen.error().text());
    const auto fallback = settings ? settings->fallback : std::string("fail");
    if (fallback == "fail") {
        return Result<std::string>(
            fail(Errc::unavailable, fmt::format("{}: mend it, or set parameters.fallback to another strategy", why)));
    }
    if (const auto* router = routers_.get(place.oldest->name)) {
        context_.events().record(control::reference_to(routers_.kind(), router->metadata), control::EventType::warning,
                                 "StrategyFailed", fmt::format("{}; {} was used instead", why, fallback));
    }
    return choose_by(fallback, key, route, place);
}

void RouteScheduler::wait(const std::string& key, const resource::Route& route, const std::string& reason,
                          const std::string& message, Wishes& wishes) {
    auto& note = notes_.at(key);
    set_reason(note, reason);
    waiting_.insert(key);
    look_later(key, options_.backoff.delay(++note.failures, context_.random()));
    auto told = route;
    resource::Condition condition;
    condition.type = "Scheduled";
    condition.status = "False";
    condition.reason = reason;
    condition.message = message;
    if (!control::set_condition(told.status.conditions, condition, context_.clock().now())) return;
    auto object = control::changed_object(*routes_.stored(key), told);
    if (!object) return;
    context_.events().record(control::reference_to(routes_.kind(), route.metadata), control::EventType::warning,
                             "NotScheduled", fmt::format("{}: {}", reason, message));
    wishes.push_back({key, "", "", Need::nothing, status_request(key, std::move(*object))});
}

void RouteScheduler::tidy(const std::string& key, const resource::Route& route, const resource::Condition& condition,
                          Wishes& wishes) {
    auto told = route;
    told.status.former = former_left(route);
    const auto* before = control::find_condition(route.status.conditions, condition.type);
    const bool apart = condition.reason != "Bound" && (before == nullptr || before->reason != condition.reason);
    (void)control::set_condition(told.status.conditions, condition, context_.clock().now());
    auto object = control::changed_object(*routes_.stored(key), told);
    if (!object) return;
    if (apart) {
        context_.events().record(control::reference_to(routes_.kind(), route.metadata), control::EventType::warning,
                                 condition.reason, condition.message);
    }
    // Left out would mean unchanged.
    if (told.status.former.empty()) json::set_at(*object, "status.former", json::Array{});
    wishes.push_back({key, "", "", Need::tidy, status_request(key, std::move(*object))});
}

control::Request RouteScheduler::status_request(const std::string& key, json::Value object) const {
    control::Request request;
    request.verb = control::Verb::update;
    request.object = control::object_id(routes_.kind(), key);
    request.subresource = "status";
    request.body = std::move(object);
    return request;
}

// Counted at once: the next route is placed before the informer tells of this one.
void RouteScheduler::bind(const std::string& key, const resource::Route& route, Need need, const std::string& to,
                          Wishes& wishes) {
    resource::RouteBinding binding;
    binding.metadata.name = route.metadata.name;
    binding.metadata.namespace_ = route.metadata.namespace_;
    binding.route_namespace = route.metadata.namespace_;
    binding.route_name = route.metadata.name;
    binding.route_uid = route.metadata.uid;
    binding.router = to;
    if (!to.empty()) binding.dns = dns_.at(to);
    if (need != Need::place) binding.from = route.status.router;
    Wish wish{key, to, std::string(move_reason(shards_.find(route.status.router))), need, {}};
    if (need == Need::rename) wish.why = "renamed";
    if (need == Need::move && wish.why == "labels" && notes_.at(key).rehosted) wish.why = "host";
    wish.request.verb = control::Verb::create;
    wish.request.object = control::object_id(bindings_, key);
    wish.request.body = control::new_object(bindings_, binding);
    wishes.push_back(std::move(wish));
    if (to.empty() || need == Need::rename) return;
    set_router(key, notes_.at(key), to);
    shards_.took_turn(to);
}

}  // namespace fairlead::controller
