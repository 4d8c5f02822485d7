#include "controller/router_status.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "control/conditions.h"
#include "controller/status_json.h"

namespace fairlead::controller {

namespace {

constexpr std::string_view reader = "routers";  // of the monitor's news
constexpr std::chrono::seconds usual_lease{15};
constexpr std::chrono::seconds seen_every{60};         // how old lastSeen may be while nothing else changes
constexpr std::chrono::milliseconds gather_wait{200};  // routes change many at a time
constexpr std::chrono::seconds drain_look{2};          // while moved routes are still served

std::string group_of(std::string_view router) { return fmt::format("{}|{}", reader, router); }

std::chrono::seconds lease_of(const resource::RouterInstance& instance) {
    const auto seconds = instance.status.lease_duration_seconds;
    return seconds ? std::chrono::seconds(*seconds) : usual_lease;
}

// Every text that may name a router, in order: equal ones mean equal routers. Routes change far more often than that,
// and most changes need not be parsed.
std::vector<std::string_view> mentions(const store::ObjectRef& stored) {
    constexpr std::string_view member = "\"router\":\"";
    std::vector<std::string_view> found;
    if (!stored) return found;
    const std::string_view text = stored->value();
    for (auto at = text.find(member); at != std::string_view::npos; at = text.find(member, at)) {
        at += member.size();
        found.push_back(text.substr(at, text.find('"', at) - at));
    }
    return found;
}

// Routers that the Route is placed on, or was.
std::set<std::string> routers_of(const store::ObjectRef& stored) {
    std::set<std::string> names;
    if (!stored) return names;
    const auto route = json::parse(stored->value());
    if (!route) return names;
    names.emplace(json::string_at(*route, "status.router"));
    const auto* former = json::find(*route, "status.former");
    if (former != nullptr && former->is_array()) {
        for (const auto& each : former->get_array()) names.emplace(json::string_at(each, "router"));
    }
    names.erase("");
    return names;
}

// Texts of times that are compared only to be kept still.
bool older(std::string_view before, std::string_view after, std::chrono::nanoseconds by) {
    const auto a = from_rfc3339(before);
    const auto b = from_rfc3339(after);
    return !a || !b || *b - *a >= by;
}

bool same_member(const resource::RouterMember& a, const resource::RouterMember& b) {
    auto other = b;
    other.last_seen = a.last_seen;
    return a == other;
}

std::string plural(std::size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

struct RouterStatus::Wait {
    std::optional<std::chrono::nanoseconds> time;
    void at_most(std::chrono::nanoseconds other) {
        other = std::max(other, std::chrono::nanoseconds(std::chrono::milliseconds(1)));
        time = time ? std::min(*time, other) : other;
    }
};

RouterStatus::RouterStatus(control::Context& context, health::Monitor& monitor, RouterStatusOptions options)
    : context_(context),
      monitor_(monitor),
      options_(options),
      routers_(context.view<resource::Router>(resource::router_kind())),
      instances_(context.view<resource::RouterInstance>(resource::router_instance_kind())),
      routes_(context.view<resource::Route>(resource::route_kind())),
      instances_of_(instances_.add_index(
          [](const resource::RouterInstance& instance) { return std::vector<std::string>{instance.spec.router}; })),
      routes_of_(routes_.add_index([](const resource::Route& route) {
          return route.status.router.empty() ? std::vector<std::string>{}
                                             : std::vector<std::string>{route.status.router};
      })),
      former_of_(routes_.add_index([](const resource::Route& route) {
          std::vector<std::string> names;
          names.reserve(route.status.former.size());
          for (const auto& former : route.status.former) names.push_back(former.router);
          return names;
      })),
      figures_(context.metrics()) {
    watch_all();
    context_.add_source([this] {
        for (const auto& group : monitor_.take_news(reader)) context_.enqueue(group.substr(reader.size() + 1));
    });
    monitor_.on_news(context_.waker());
}

RouterStatus::~RouterStatus() {
    monitor_.on_news({});
    for (const auto& router : ready_since_) monitor_.set(group_of(router.first), {});
}

void RouterStatus::watch_all() {
    context_.watch(routers_.informer());
    instances_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        see(after);
        if (!after) seen_.erase(std::string(before->name()));
        for (const auto& each : {before, after}) {
            const auto object = each ? json::parse(each->value()) : Result<json::Value>(json::Value());
            if (object) {
                const auto router = json::string_at(*object, "spec.router");
                if (!router.empty()) context_.enqueue(std::string(router));
            }
        }
    });
    routes_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (mentions(before) == mentions(after)) return;
        const auto was = routers_of(before);
        const auto is = routers_of(after);
        if (was == is) return;
        for (const auto& names : {was, is}) {
            for (const auto& name : names) context_.enqueue_after(name, gather_wait);
        }
    });
}

// A report counts from when we saw it. One that was over when we came, of an instance that was out already, does not.
void RouterStatus::see(const store::ObjectRef& after) {
    if (!after) return;
    const auto* instance = instances_.get(after->name());
    if (instance == nullptr) return;
    const auto found = seen_.find(after->name());
    if (found != seen_.end() && found->second.renew_time == instance->status.renew_time) return;
    Seen seen{instance->status.renew_time, context_.clock().monotonic(), true};
    const auto* router = routers_.get(instance->spec.router);
    if (found == seen_.end() && router != nullptr) {
        const auto& members = router->status.instances;
        const bool was_out = std::any_of(members.begin(), members.end(), [&](const auto& member) {
            return member.name == instance->metadata.name && !member.ready;
        });
        const auto renewed = from_rfc3339(instance->status.renew_time);
        seen.counts = !was_out || !renewed || *renewed + lease_of(*instance) > context_.clock().now();
    }
    seen_.insert_or_assign(std::string(after->name()), std::move(seen));
}

bool RouterStatus::fresh(const resource::RouterInstance& instance) const {
    const auto found = seen_.find(instance.metadata.name);
    if (found == seen_.end() || !found->second.counts) return false;
    return context_.clock().monotonic() < found->second.at + lease_of(instance);
}

bool RouterStatus::settled(const std::string& router, const std::string& name) const {
    const auto of_router = ready_since_.find(router);
    if (of_router == ready_since_.end()) return false;
    const auto since = of_router->second.find(name);
    return since != of_router->second.end() && context_.clock().monotonic() >= since->second + options_.take_back_after;
}

void RouterStatus::remember_ready(const std::string& router, const Members& members) {
    auto& since = ready_since_[router];
    std::map<std::string, MonotonicTime> now;
    for (const auto& member : members.list) {
        if (!member.ready) continue;
        const auto found = since.find(member.name);
        now.emplace(member.name, found == since.end() ? context_.clock().monotonic() : found->second);
    }
    since = std::move(now);
}

Members RouterStatus::look(const resource::Router& router) {
    const auto& name = router.metadata.name;
    MembersWorld world{router, {}, {}, {}, monitor_.verdicts(group_of(name))};
    for (const auto& instance : instances_of_.find(name)) world.registered.push_back(instances_.get(instance));
    world.fresh = [this](const resource::RouterInstance& instance) { return fresh(instance); };
    world.settled = [this, &name](const std::string& instance) { return settled(name, instance); };
    auto members = members_of(world);
    remember_ready(name, members);
    monitor_.set(group_of(name), members.probes);
    return members;
}

Result<control::Again> RouterStatus::reconcile(const control::Key& key) {
    Wait wait;
    const auto* router = routers_.get(key);
    if (router == nullptr) {
        monitor_.set(group_of(key), {});
        figures_.erase(key);
        ready_since_.erase(key);
        written_.erase(key);
        if (auto done = forget_instances(key, false, wait); !done) return fail(done.error());
        return wait.time ? Again::in(*wait.time) : Again::no();
    }
    const auto members = look(*router);
    if (members.waits) wait.at_most(std::chrono::seconds(1));
    const auto status = wanted_status(*router, members);
    count(*router, status);
    if (auto written = write(*router, status, wait); !written) return fail(written.error());
    if (auto done = forget_instances(key, true, wait); !done) return fail(done.error());
    if (router->spec.drain && leaving(key) > 0) wait.at_most(drain_look);
    return wait.time ? Again::in(*wait.time) : Again::no();
}

// An instance whose probe answers is alive, though it cannot report. Those of a Router that does not exist go when
// they have stopped: one that runs may be waiting for its Router.
Result<void> RouterStatus::forget_instances(const std::string& router, bool exists, Wait& wait) {
    const auto verdicts = exists ? monitor_.verdicts(group_of(router)) : std::map<health::Probe, health::Verdict>{};
    const auto names = instances_of_.find(router);
    for (const auto& name : names) {
        const auto* instance = instances_.get(name);
        const auto seen = seen_.find(name);
        if (instance == nullptr || seen == seen_.end()) continue;
        const auto ends = seen->second.at + lease_of(*instance);
        const auto due = exists ? ends + options_.forget_after : ends;
        const auto now = context_.clock().monotonic();
        if (now < ends && seen->second.counts) wait.at_most(ends - now);
        if (now < due) {
            wait.at_most(due - now);
            continue;
        }
        const auto probe = instance_probe(*instance);
        const auto verdict = probe ? verdicts.find(*probe) : verdicts.end();
        if (verdict != verdicts.end() && verdict->second.state == health::State::healthy) {
            wait.at_most(options_.forget_after);
            continue;
        }
        control::DeleteOptions exactly;
        exactly.uid = instance->metadata.uid;
        exactly.resource_version = instance->metadata.resource_version;
        const auto removed = context_.client().remove(control::object_id(instances_.kind(), name), exactly);
        if (!removed && removed.error().code != Errc::not_found && removed.error().code != Errc::conflict) {
            return fail(removed.error());
        }
    }
    return {};
}

std::size_t RouterStatus::leaving(const std::string& router) const {
    std::size_t number = 0;
    const auto now = context_.clock().now();
    for (const auto& name : former_of_.find(router)) {
        const auto* route = routes_.get(name);
        if (route == nullptr || route->status.router == router) continue;
        const auto& former = route->status.former;
        number += std::any_of(former.begin(), former.end(), [&](const auto& each) {
            return each.router == router && resource::serves_still(each, now);
        });
    }
    return number;
}

resource::RouterStatus RouterStatus::wanted_status(const resource::Router& router, const Members& members) const {
    auto status = router.status;
    const auto now = context_.clock().now();
    const auto before = status.instances;
    status.instances = members.list;
    for (auto& member : status.instances) {
        const auto was =
            std::find_if(before.begin(), before.end(), [&](const auto& each) { return each.name == member.name; });
        if (was != before.end() && same_member(*was, member) && !older(was->last_seen, member.last_seen, seen_every)) {
            member.last_seen = was->last_seen;
        }
    }
    const auto placed = routes_of_.find(router.metadata.name).size();
    status.routes = static_cast<std::int32_t>(placed);
    const auto all = status.instances.size();
    const auto ready = static_cast<std::size_t>(
        std::count_if(status.instances.begin(), status.instances.end(), [](const auto& each) { return each.ready; }));
    resource::Condition condition;
    condition.type = "Ready";
    condition.observed_generation = router.metadata.generation;
    condition.status = ready > 0 ? "True" : "False";
    condition.reason = ready > 0 ? "InstancesReady" : all > 0 ? "NoneReady" : "NoInstances";
    if (all == 0) {
        condition.message = fmt::format(
            "no instance has registered and spec.addresses is empty: run `fairlead router "
            "--router {}`, or list addresses",
            router.metadata.name);
    } else {
        condition.message = fmt::format("{} of {} ready{}", ready, plural(all, "instance"),
                                        ready == 0 ? "; the router's names lead on to where they led" : "");
    }
    if (members.left_out > 0) {
        condition.message +=
            fmt::format("; {} more are left out, a router has {} at most", members.left_out, max_router_members);
    }
    control::set_condition(status.conditions, condition, now);

    auto& conditions = status.conditions;
    if (!router.spec.drain) {
        std::erase_if(conditions, [](const auto& each) { return each.type == "Drained"; });
        return status;
    }
    const auto served = leaving(router.metadata.name);
    condition.type = "Drained";
    condition.status = placed + served == 0 ? "True" : "False";
    condition.reason = placed + served == 0 ? "NoRoutes" : placed > 0 ? "RoutesLeft" : "CachesLeft";
    condition.message = placed + served == 0 ? "no route is left here"
                                             : fmt::format(
                                                   "{} left to move, {} moved and still served here until "
                                                   "the new routers serve and caches have run out",
                                                   plural(placed, "route"), served);
    control::set_condition(conditions, condition, now);
    return status;
}

bool only_figures_differ(const resource::RouterStatus& before, const resource::RouterStatus& after) {
    auto other = after;
    other.routes = before.routes;
    const auto* was = control::find_condition(before.conditions, "Drained");
    for (auto& condition : other.conditions) {
        if (was != nullptr && condition.type == "Drained" && condition.status == was->status) condition = *was;
    }
    if (before.instances.size() != other.instances.size()) return false;
    for (std::size_t i = 0; i < other.instances.size(); ++i) {
        other.instances[i].last_seen = before.instances[i].last_seen;
    }
    return other == before;
}

Result<void> RouterStatus::write(const resource::Router& router, const resource::RouterStatus& status, Wait& wait) {
    if (status == router.status) return {};
    const auto& name = router.metadata.name;
    const auto now = context_.clock().monotonic();
    if (only_figures_differ(router.status, status)) {
        const auto last = written_.find(name);
        if (last != written_.end() && now < last->second + options_.figures_every) {
            wait.at_most(last->second + options_.figures_every - now);
            return {};
        }
    }
    const auto events = member_events(router.status.instances, status.instances);
    const auto stored = routers_.stored(name);
    auto object = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, name));
    if (!object) return fail(object.error());
    set_status(*object, status);
    const auto reference = control::reference_to(*object);
    const auto done = context_.client().update_status(control::object_id(routers_.kind(), name), std::move(*object));
    // Gone or changed meanwhile: that is news of its own.
    if (!done && (done.error().code == Errc::not_found || done.error().code == Errc::conflict)) return {};
    if (!done) return fail(done.error());
    written_[name] = now;
    for (const auto& event : events) {
        context_.events().record(reference, event.bad ? control::EventType::warning : control::EventType::normal,
                                 event.reason, event.message);
    }
    return {};
}

void RouterStatus::count(const resource::Router& router, const resource::RouterStatus& status) {
    RouterFigures figures;
    for (const auto& member : status.instances) {
        ++(member.ready ? figures.ready : figures.unready);
        figures.active += member.active ? 1 : 0;
    }
    figures.routes = static_cast<std::size_t>(status.routes.value_or(0));
    figures_.set(router.metadata.name, figures);
}

}  // namespace fairlead::controller
