#include "controller/lrp_routes.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "control/conditions.h"
#include "controller/status_json.h"
#include "lrp/read.h"

namespace fairlead::controller {

namespace {

using resource::Condition;
using resource::DesiredLrpStatus;
using resource::RouterInstance;

constexpr std::size_t batch = 64;  // LRPs per turn

// `wanted` in the place of our conditions; those of others stay. True if something is different.
bool set_conditions(std::vector<Condition>& list, const std::vector<Condition>& wanted, WallTime now) {
    const auto gone = std::erase_if(list, [&](const Condition& each) {
        return is_provider_condition(each.type) && control::find_condition(wanted, each.type) == nullptr;
    });
    bool changed = gone > 0;
    for (const auto& each : wanted) changed = control::set_condition(list, each, now) || changed;
    return changed;
}

// Of LRPs, by "namespace/name"; those that pass by themselves, or that the LRP is told of otherwise, are left out.
std::map<std::string, resource::RouterInstanceProblem> problems_of(const RouterInstance& instance) {
    std::map<std::string, resource::RouterInstanceProblem> problems;
    for (const auto& each : instance.status.problems) {
        const std::string_view route = each.route;
        if (!route.starts_with(resource::lrp_problem_prefix) || each.reason == "AllEndpointsFail" ||
            each.reason == "Unsupported")
            continue;
        problems.emplace(route.substr(resource::lrp_problem_prefix.size()), each);
    }
    return problems;
}

}  // namespace

LrpRoutes::LrpRoutes(control::Context& context)
    : context_(context),
      first_(context, [this](const control::Key& key) { ask_for(key); }),
      feed_(context, [this] { ask_for_touched(); }),
      routers_(context.view<resource::Router>(resource::router_kind())),
      instances_(context.view<RouterInstance>(resource::router_instance_kind())),
      troubled_(instances_.add_index([](const RouterInstance& instance) {
          std::vector<std::string> lrps;
          for (const auto& [lrp, problem] : problems_of(instance)) lrps.push_back(lrp);
          return lrps;
      })) {
    routers_.informer().add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { note_router(before, after); });
    instances_.informer().add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { note_instance(before, after); });
    feed_.lrps().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const control::Key key((after ? after : before)->name());
        if (after) return ask_for(key);
        first_.put(key, nullptr);
        unsettled_.erase(key);
    });
}

void LrpRoutes::ask_for(const control::Key& key) {
    waiting_.add(key);
    context_.enqueue(key);
}

void LrpRoutes::ask_for_touched() {
    for (const auto& turn : feed_.book().take_touched()) {
        if (feed_.lrps().get(turn.second)) ask_for(turn.second);
    }
}

std::set<std::string> LrpRoutes::routers_of(const lrp::Desired& desired) {
    std::set<std::string> routers;
    for (const auto* each : feed_.book().ledger().serving(desired.labels)) routers.insert(each->facts.name);
    return routers;
}

LrpFacts::Served LrpRoutes::served(const lrp::Desired& desired) {
    const auto& ledger = feed_.book().ledger();
    if (desired.routes.http.empty() || ledger.routers().empty()) return LrpFacts::Served::no_routers;
    return ledger.serving(desired.labels).empty() ? LrpFacts::Served::by_none : LrpFacts::Served::by_some;
}

// One that has gone without a word is known to its Router.
bool LrpRoutes::counts(const RouterInstance& instance) const {
    const auto* router = routers_.get(instance.spec.router);
    if (router == nullptr) return false;
    const auto& members = router->status.instances;
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&](const auto& each) { return each.name == instance.metadata.name; });
    return instance.status.ready && (member == members.end() || member->ready);
}

std::map<std::string, std::pair<std::string, std::string>> LrpRoutes::troubles(const control::Key& key,
                                                                               const lrp::Desired& desired) {
    std::map<std::string, std::pair<std::string, std::string>> found;
    const auto& names = troubled_.find(key);
    if (names.empty()) return found;
    const auto routers = routers_of(desired);
    for (const auto& name : names) {
        const auto& instance = *instances_.get(name);
        if (!routers.contains(instance.spec.router) || !counts(instance)) continue;
        const auto problems = problems_of(instance);
        const auto& problem = problems.at(key);
        found.try_emplace(instance.spec.router, problem.reason, problem.message);
    }
    return found;
}

// Whom it takes. Seldom: all are looked at.
void LrpRoutes::note_router(const store::ObjectRef& before, const store::ObjectRef& after) {
    const auto was = before ? decoded<resource::Router>(before) : Result<resource::Router>({});
    const auto is = after ? decoded<resource::Router>(after) : Result<resource::Router>({});
    if (before && after && was && is && was->spec == is->spec) {
        // Which instances count; few have problems with LRPs.
        if (was->status.instances == is->status.instances) return;
        for (const auto& member : is->status.instances) {
            const auto* instance = instances_.get(member.name);
            if (instance == nullptr) continue;
            for (const auto& [lrp, problem] : problems_of(*instance)) ask_for(lrp);
        }
        return;
    }
    feed_.lrps().scan("", "", [this](const store::ObjectRef& lrp) {
        ask_for(control::Key(lrp->name()));
        return true;
    });
}

void LrpRoutes::note_instance(const store::ObjectRef& before, const store::ObjectRef& after) {
    const auto read = [](const store::ObjectRef& stored) {
        const auto instance = stored ? decoded<RouterInstance>(stored) : Result<RouterInstance>({});
        return instance ? problems_of(*instance) : std::map<std::string, resource::RouterInstanceProblem>();
    };
    const auto was = read(before);
    const auto is = read(after);
    if (was == is) return;
    const auto ask_for_missing = [this](const auto& from, const auto& in) {
        for (const auto& [lrp, problem] : from) {
            const auto same = in.find(lrp);
            if (same == in.end() || same->second != problem) ask_for(lrp);
        }
    };
    ask_for_missing(was, is);
    ask_for_missing(is, was);
}

LrpFacts::Names LrpRoutes::routes_first(const control::Key& key, const lrp::Desired& desired) {
    first_.put(key, &desired);
    std::optional<std::set<std::string>> serving;
    const auto serves = [&](const std::string& router) {
        if (!serving) serving = routers_of(desired);
        return serving->contains(router);
    };
    const auto now = context_.clock().now();
    auto lost = first_.lost(desired, serves, now);
    if (lost.until) {
        waiting_.add_later(key);
        context_.enqueue_after(key, *lost.until - now);
    }
    return std::move(lost.names);
}

// Gorouters take all; of Routers those that serve both, and a process that no Router serves is at gorouters only.
std::vector<std::string> LrpRoutes::overruled(const control::Key& key, const lrp::Desired& desired) {
    std::optional<std::set<std::string>> routers;
    return first_.sharing().problems(key, [&](const std::string& other) {
        if (!routers) routers = routers_of(desired);
        const auto stored = feed_.lrps().get(other);
        const auto object = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, other));
        const auto read = object ? lrp::desired_of_object(*object) : Result<lrp::Desired>(fail(object.error()));
        if (!read) return false;
        const auto others = routers_of(*read);
        return (routers->empty() && others.empty()) ||
               std::any_of(routers->begin(), routers->end(), [&](const auto& each) { return others.contains(each); });
    });
}

std::optional<LrpRoutes::Draft> LrpRoutes::draft(const control::Key& key) {
    const auto stored = feed_.lrps().get(key);
    if (!stored) return std::nullopt;
    auto object = json::parse(stored->value());
    const auto desired = object ? lrp::desired_of_object(*object) : Result<lrp::Desired>(fail(object.error()));
    auto status = object ? status_of<DesiredLrpStatus>(*object) : Result<DesiredLrpStatus>(fail(object.error()));
    if (!desired || !status) return std::nullopt;  // the feed has told
    const auto plan = desired->routes.ports.empty() ? lrp::PortPlan{} : feed_.book().plan(key);
    const auto story = lrp_story({.desired = *desired,
                                  .generation = json::int_at(*object, "metadata.generation").value_or(0),
                                  .plan = plan,
                                  .routes_first = routes_first(key, *desired),
                                  .overruled = overruled(key, *desired),
                                  .served = served(*desired),
                                  .troubles = troubles(key, *desired)});
    const auto now = context_.clock().monotonic();
    if (!story.unsettled) {
        unsettled_.erase(key);
    } else if (const auto since = unsettled_.try_emplace(key, now).first->second; now - since < patience) {
        waiting_.add_later(key);
        context_.enqueue_after(key, since + patience - now);
        return std::nullopt;
    }
    Draft draft{.key = key, .object = std::move(*object), .before = *status, .after = *status};
    const bool other_ports = draft.after.ports != story.ports;
    draft.after.ports = story.ports;
    if (!set_conditions(draft.after.conditions, story.conditions, context_.clock().now()) && !other_ports) {
        return std::nullopt;
    }
    set_status(draft.object, draft.after);
    return draft;
}

Result<control::Again> LrpRoutes::reconcile(const control::Key& key) {
    std::vector<Draft> drafts;
    for (const auto& each : waiting_.take(key, batch)) {
        if (each != key) context_.taken_along(each);
        if (auto made = draft(each)) drafts.push_back(std::move(*made));
    }
    write(std::move(drafts));
    return control::Again::no();
}

void LrpRoutes::write(std::vector<Draft> drafts) {
    std::vector<StatusWrite> writes;
    writes.reserve(drafts.size());
    for (auto& draft : drafts) writes.push_back({draft.key, std::move(draft.object)});
    write_statuses(context_, feed_.lrps().kind(), std::move(writes), waiting_,
                   [&](std::size_t i, const json::Value& written) { tell(drafts[i], written); });
}

// When a provider's routes turn bad, or good again.
void LrpRoutes::tell(const Draft& draft, const json::Value& written) {
    for (const auto& after : draft.after.conditions) {
        if (!is_provider_condition(after.type)) continue;
        const auto* before = control::find_condition(draft.before.conditions, after.type);
        const bool was_bad = before != nullptr && before->status == "False";
        if (after.status == "False" && (!was_bad || before->message != after.message)) {
            context_.events().warning(written, after.reason, after.type + ": " + after.message);
        } else if (after.status == "True" && was_bad) {
            context_.events().normal(written, after.reason, after.type + ": " + after.message);
        }
    }
}

}  // namespace fairlead::controller
