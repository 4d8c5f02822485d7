#include "controller/route_admission.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "controller/status_json.h"

namespace fairlead::controller {

namespace {

using resource::Route;
using resource::Router;

constexpr std::size_t batch = 64;  // Routes per turn
// The view is a moment behind what was read or written.
constexpr std::chrono::milliseconds catch_up_wait{10};
constexpr std::chrono::seconds retry_wait{1};

std::vector<std::string> routers_named(const Route& route) {
    std::vector<std::string> names;
    if (!route.status.router.empty()) names.push_back(route.status.router);
    for (const auto& former : route.status.former) {
        if (std::find(names.begin(), names.end(), former.router) == names.end()) names.push_back(former.router);
    }
    return names;
}

// The subjects that none of `without` covers.
std::vector<std::string> difference(const std::vector<std::string>& of, const std::vector<std::string>& without) {
    std::vector<std::string> left;
    for (const auto& each : of) {
        const auto covering = [&](const std::string& other) { return route::covers(other, each); };
        if (std::none_of(without.begin(), without.end(), covering)) left.push_back(each);
    }
    return left;
}

bool contains(const std::vector<std::string>& subjects, const std::string& subject) {
    return std::find(subjects.begin(), subjects.end(), subject) != subjects.end();
}

bool holds(const Route& route, const std::string& subject) {
    return contains(route::admitted_subjects(route.status.ingress), subject);
}

}  // namespace

RouteAdmission::RouteAdmission(control::Context& context)
    : context_(context),
      routes_(context.view<Route>(resource::route_kind())),
      routers_(context.view<Router>(resource::router_kind())),
      by_router_(routes_.add_index(routers_named)),
      holders_(routes_.add_index([](const Route& route) { return route::admitted_subjects(route.status.ingress); })),
      below_(routes_.add_index([](const Route& route) {
          std::vector<std::string> parents;
          for (const auto& subject : route::admitted_subjects(route.status.ingress)) {
              if (!subject.starts_with("*.")) parents.emplace_back(route::parent_of(subject));
          }
          return parents;
      })),
      wildcards_(routes_.add_index([](const Route& route) {
          return route.spec.wildcard_policy == "Subdomain" ? std::vector<std::string>{""} : std::vector<std::string>{};
      })),
      by_host_(routes_.add_index([](const Route& route) {
          return std::vector<std::string>{lower(route.status.host), lower(route.spec.host)};
      })),
      by_dns_(
          routers_.add_index([](const Router& router) { return std::vector<std::string>{lower(router.spec.dns)}; })),
      facts_{[this](std::string_view name) { return routers_.get(name); },
             [this](std::string_view domain) { return !by_dns_.find(domain).empty(); }} {
    routes_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        note(control::Key((after ? after : before)->name()));
    });
    routers_.informer().add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { note_router(before, after); });
}

void RouteAdmission::ask_for(const control::Key& key) {
    waiting_.add(key);
    context_.enqueue(key);
}

void RouteAdmission::come_back(const control::Key& key, std::chrono::nanoseconds wait) {
    waiting_.add_later(key);
    context_.enqueue_after(key, wait);
}

void RouteAdmission::note(const control::Key& key) {
    std::vector<route::Claim> claims;
    const auto* route = routes_.get(key);
    if (route != nullptr) {
        for (auto& wish : route::hosts_of(*route, facts_)) {
            if (wish.claim) claims.push_back(std::move(*wish.claim));
        }
        ask_for(key);
    }
    for (const auto& subject : book_.set(key, std::move(claims))) {
        for (const auto& claimant : book_.claimants(subject)) ask_for(claimant);
    }
}

// Of a Router only what decides about hosts counts; its figures change often.
void RouteAdmission::note_router(const store::ObjectRef& before, const store::ObjectRef& after) {
    const auto spec = [](const store::ObjectRef& stored) {
        const auto router = stored ? decoded<Router>(stored) : Result<Router>(fail(Errc::not_found, ""));
        return router ? std::tuple{router->spec.dns, router->spec.wildcard_policy, router->spec.namespace_ownership}
                      : std::tuple<std::string, std::string, std::string>{};
    };
    const auto was = spec(before);
    const auto is = spec(after);
    if (was == is) return;
    const auto keys = by_router_.find((after ? after : before)->name());
    for (const auto& key : keys) note(key);
    if (std::get<0>(was) == std::get<0>(is)) return;
    const auto others = wildcards_.find("");
    for (const auto& key : others) note(key);
    // A Router's own name is nobody's.
    for (const auto& dns : {std::get<0>(was), std::get<0>(is)}) {
        if (dns.empty()) continue;
        const auto named = by_host_.find(lower(dns));
        for (const auto& key : named) note(key);
    }
}

std::optional<RouteAdmission::Draft> RouteAdmission::draft(const control::Key& key) const {
    Draft draft;
    draft.key = key;
    draft.route = routes_.get(key);
    if (draft.route == nullptr) return std::nullopt;
    const auto verdict = [this](const route::Claim& claim) {
        return book_.refusal(claim.key, route::subject_of(claim));
    };
    draft.wanted =
        route::ingress_of(*draft.route, route::hosts_of(*draft.route, facts_), verdict, context_.clock().now());
    if (draft.wanted == draft.route->status.ingress) return std::nullopt;
    const auto before = route::admitted_subjects(draft.route->status.ingress);
    const auto after = route::admitted_subjects(draft.wanted);
    draft.gives = difference(after, before);
    draft.takes = difference(before, after);
    return draft;
}

RouteAdmission::Rivals RouteAdmission::rivals_of(const Draft& draft, const std::string& subject) const {
    Rivals rivals;
    for (const auto& claim : book_.of(draft.key)) {
        if (route::subject_of(*claim) != subject) continue;
        for (const auto* rival : book_.rivals(*claim)) {
            rivals.emplace(rival->key, route::subject_of(*rival));
            if (rival->wildcard) rivals.emplace(rival->key, rival->host);  // that it has from before
        }
    }
    // Who has it by its status, but claims it no more.
    const auto look_at = [&](const control::Index::Names& holders) {
        for (const auto& holder : holders) {
            const auto* route = routes_.get(holder);
            if (holder == draft.key || route == nullptr) continue;
            const auto& claims = book_.of(holder);
            for (const auto& held : route::admitted_subjects(route->status.ingress)) {
                const bool meets = route::covers(held, subject) || route::covers(subject, held);
                const bool together = held != subject && route->metadata.namespace_ == draft.route->metadata.namespace_;
                const bool claimed = std::any_of(claims.begin(), claims.end(),
                                                 [&](const auto& each) { return route::subject_of(*each) == held; });
                if (meets && !together && !claimed) rivals.emplace(holder, held);
            }
        }
    };
    look_at(holders_.find(subject));
    if (subject.starts_with("*.")) {
        look_at(below_.find(std::string_view(subject).substr(2)));
    } else {
        look_at(holders_.find(route::wildcard_above(subject)));
    }
    return rivals;
}

// Whoever stands in the way of one that gets a host goes first, in the same turn.
void RouteAdmission::add_losers(std::map<control::Key, Draft>& drafts) const {
    std::map<control::Key, Draft> losers;
    for (const auto& [key, draft] : drafts) {
        for (const auto& subject : draft.gives) {
            for (const auto& [rival, held] : rivals_of(draft, subject)) {
                const auto* route = routes_.get(rival);
                if (drafts.contains(rival) || route == nullptr || !holds(*route, held)) continue;
                if (auto loser = this->draft(rival)) losers.emplace(rival, std::move(*loser));
            }
        }
    }
    drafts.merge(losers);
}

RouteAdmission::Ingress RouteAdmission::only_losses(const Draft& draft) {
    Ingress ingress;
    for (const auto& entry : draft.wanted) {
        if (!contains(draft.gives, route::subject_of(entry))) {
            ingress.push_back(entry);
            continue;
        }
        // What becomes wider is what it was until then.
        const auto& before = draft.route->status.ingress;
        const auto same =
            std::find_if(before.begin(), before.end(), [&](const auto& each) { return each.host == entry.host; });
        if (same != before.end() && route::is_admitted(*draft.route, entry.host)) ingress.push_back(*same);
    }
    return ingress;
}

Result<bool> RouteAdmission::free_of_rivals(const Draft& draft) {
    for (const auto& subject : draft.gives) {
        for (const auto& [rival, held] : rivals_of(draft, subject)) {
            const auto live = control::decoded<Route>(context_.client().get(control::object_id(routes_.kind(), rival)));
            if (!live && live.error().code == Errc::not_found) continue;
            if (!live) return fail(live.error());
            if (holds(*live, held)) return false;
        }
    }
    return true;
}

Result<control::Again> RouteAdmission::reconcile(const control::Key& key) {
    std::map<control::Key, Draft> drafts;
    for (const auto& each : waiting_.take(key, batch)) {
        if (each != key) context_.taken_along(each);
        if (auto made = draft(each)) drafts.emplace(each, std::move(*made));
    }
    if (drafts.empty()) return Again::no();
    add_losers(drafts);

    Writes losses;
    for (const auto& [name, draft] : drafts) {
        if (draft.takes.empty() && !draft.gives.empty()) continue;
        if (auto added = add_write(losses, draft, only_losses(draft)); !added) return fail(added.error());
    }
    if (auto written = write(std::move(losses)); !written) return fail(written.error());

    Writes gains;
    for (const auto& [name, draft] : drafts) {
        if (draft.gives.empty()) continue;
        // Written a moment ago: what it gets is decided on its new version.
        const auto may = draft.takes.empty() ? free_of_rivals(draft) : Result<bool>(false);
        if (!may || !*may) {
            come_back(name, may ? std::chrono::nanoseconds(catch_up_wait) : std::chrono::nanoseconds(retry_wait));
            continue;
        }
        if (auto added = add_write(gains, draft, draft.wanted); !added) return fail(added.error());
    }
    if (auto written = write(std::move(gains)); !written) return fail(written.error());
    return Again::no();
}

Result<void> RouteAdmission::add_write(Writes& writes, const Draft& draft, const Ingress& ingress) const {
    const auto stored = routes_.stored(draft.key);
    auto object = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, draft.key));
    if (!object) return fail(object.error());
    if (ingress.empty()) {
        json::erase_at(*object, "status.ingress");
    } else {
        json::Array list;
        list.reserve(ingress.size());
        for (const auto& entry : ingress) list.push_back(resource::encode(entry));
        json::set_at(*object, "status.ingress", std::move(list));
    }
    auto& news = writes.news.emplace_back();
    for (const auto& entry : ingress) {
        auto refusal = route::refusal_in(entry);
        if (refusal && route::refusal_of(*draft.route, entry.host) != refusal) news.push_back(std::move(*refusal));
    }
    control::Request request;
    request.verb = control::Verb::update;
    request.object = control::object_id(routes_.kind(), draft.key);
    request.subresource = "status";
    request.body = std::move(*object);
    writes.requests.push_back(std::move(request));
    writes.keys.push_back(draft.key);
    return {};
}

Result<void> RouteAdmission::write(Writes writes) {
    if (writes.requests.empty()) return {};
    const auto answers = context_.client().write_all(std::move(writes.requests));
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i]) {
            for (const auto& refusal : writes.news[i]) {
                context_.events().warning(*answers[i], refusal.reason, refusal.message);
            }
            continue;
        }
        if (answers[i].error().code == Errc::not_found) continue;
        const auto& error = answers[i].error();
        // Changed meanwhile, or the store is away for a moment: each comes back by itself and holds up no other.
        const bool behind = error.code == Errc::conflict;
        if (!behind) {
            context_.log().warn("cannot write the admission of a route",
                                {{"route", writes.keys[i]}, {"why", error.text()}});
        }
        come_back(writes.keys[i],
                  behind ? std::chrono::nanoseconds(catch_up_wait) : std::chrono::nanoseconds(retry_wait));
    }
    return {};
}

}  // namespace fairlead::controller
