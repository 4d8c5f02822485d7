#include "controller/route_status.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "control/conditions.h"
#include "controller/status_json.h"
#include "dns/address.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/service.h"
#include "route/admission.h"
#include "route/table.h"

namespace fairlead::controller {

namespace {

using resource::Condition;
using resource::Route;
using resource::Router;
using resource::RouterInstance;

constexpr std::size_t batch = 64;                    // Routes per turn
constexpr std::string_view reader = "route-status";  // of the news of lookups

std::string group_of(const control::Key& key) { return fmt::format("{}|{}", reader, key); }
bool is_bound(const Route& route) { return route.status.phase == "scheduled"; }
std::string namespace_of(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }

// Changes with whatever the routers of the Route have to put into force.
std::uint64_t fingerprint(const Route& route) {
    auto text = fmt::format("{}|{}|{}", route.metadata.generation, route.status.router, route.status.host);
    for (const auto& host : route::admitted_hosts(route.status.ingress)) text += "|" + host;
    for (const auto& former : route.status.former) text += fmt::format("|{}@{}", former.host, former.router);
    return fnv1a(text);
}

// Said before, by us, of the Route as it is: after a restart it counts on.
bool was_serving(const Route& route) {
    const auto* serving = control::find_condition(route.status.conditions, "Serving");
    return serving != nullptr && serving->status == "True" &&
           serving->observed_generation == route.metadata.generation &&
           serving->message.find(fmt::format("://{}", route.status.host)) != std::string::npos &&
           serving->message.find(fmt::format("by router {}", route.status.router)) != std::string::npos;
}

// What DNSRecords are looked for by: the name itself, and the wildcard of the router's zone above it.
std::vector<std::string> names_asked(const Route& route) {
    if (!is_bound(route)) return {};
    std::vector<std::string> names{lower(route.status.host)};
    if (is_shard_name(route)) names.push_back("*." + lower(route.status.dns));
    return names;
}

bool has_addresses(const store::ObjectRef& stored) {
    const auto endpoints =
        stored ? decoded<resource::Endpoints>(stored) : Result<resource::Endpoints>(fail(Errc::not_found, ""));
    return endpoints && std::any_of(endpoints->subsets.begin(), endpoints->subsets.end(),
                                    [](const auto& subset) { return !subset.addresses.empty(); });
}

std::vector<std::string> server_names(const resource::ManagedZone& zone) {
    if (!zone.status.name_servers.empty()) return zone.status.name_servers;
    std::vector<std::string> names;
    names.reserve(zone.spec.name_servers.size());
    for (const auto& server : zone.spec.name_servers) names.push_back(server.name);
    return names;
}

bool is_below(std::string_view host, std::string_view domain) {
    return host == domain ||
           (host.size() > domain.size() && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
}

const Condition* find(const std::vector<Condition>& list, std::string_view type) {
    return control::find_condition(list, type);
}

// Whether writing it would change something.
bool differs(const std::vector<Condition>& present, const Condition& wanted) {
    auto copy = present;
    return control::set_condition(copy, wanted, WallTime{});
}

// It has problems with more routes than it can list.
bool has_unlisted(const RouterInstance& instance) {
    const auto listed = static_cast<std::int64_t>(instance.status.problems.size());
    return instance.status.problem_routes.value_or(0) > listed;
}

}  // namespace

RouteStatus::RouteStatus(control::Context& context, lookup::Lookups& lookups)
    : context_(context),
      lookups_(lookups),
      routes_(context.view<Route>(resource::route_kind())),
      routers_(context.view<Router>(resource::router_kind())),
      instances_(context.view<RouterInstance>(resource::router_instance_kind())),
      zones_(context.view<resource::ManagedZone>(resource::managed_zone_kind())),
      services_(context.informer(resource::service_kind())),
      by_router_(routes_.add_index([](const Route& route) {
          return is_bound(route) ? std::vector<std::string>{route.status.router} : std::vector<std::string>{};
      })),
      by_name_(routes_.add_index(names_asked)),
      by_service_(routes_.add_index([](const Route& route) { return route::services_of(route); })),
      user_routes_(routes_.add_index([](const Route& route) {
          const bool user = is_bound(route) && !is_shard_name(route);
          return user ? std::vector<std::string>{route.metadata.namespace_} : std::vector<std::string>{};
      })),
      instances_of_(instances_.add_index(
          [](const RouterInstance& instance) { return std::vector<std::string>{instance.spec.router}; })),
      zones_of_(zones_.add_index(
          [](const resource::ManagedZone& zone) { return std::vector<std::string>{zone.metadata.namespace_}; })),
      figures_(context.metrics()) {
    watch_all();
    context_.add_source([this] { take_news(); });
    lookups_.on_news(context_.waker());
}

RouteStatus::~RouteStatus() {
    lookups_.on_news({});
    for (const auto& [key, hosts] : asked_) lookups_.set(group_of(key), {});
}

void RouteStatus::watch_all() {
    using Ref = store::ObjectRef;
    routes_.informer().add_handler([this](const Ref& before, const Ref& after) { note_route(before, after); });
    routers_.informer().add_handler(
        [this](const Ref& before, const Ref& after) { note_router(std::string((after ? after : before)->name())); });
    instances_.informer().add_handler([this](const Ref& before, const Ref& after) { note_instance(before, after); });
    zones_.informer().add_handler([this](const Ref& before, const Ref& after) { note_zone(before, after); });
    context_.informer(resource::dns_record_kind()).add_handler([this](const Ref& before, const Ref& after) {
        note_record(before, after);
    });
    context_.informer(resource::endpoints_kind()).add_handler([this](const Ref& before, const Ref& after) {
        note_endpoints(before, after);
    });
    services_.add_handler([this](const Ref& before, const Ref& after) {
        if (!before || !after) ask_for_all(by_service_.find((after ? after : before)->name()));
    });
}

void RouteStatus::ask_for(const control::Key& key) {
    waiting_.add(key);
    context_.enqueue(key);
}

void RouteStatus::ask_for_all(const control::Index::Names& keys) {
    for (const auto& key : keys) ask_for(key);
}

void RouteStatus::take_news() {
    for (const auto& group : lookups_.take_news(reader)) ask_for(group.substr(reader.size() + 1));
}

void RouteStatus::forget(const control::Key& key) {
    figures_.set(key, nullptr);
    look_up(key, {});
    const auto version = versions_.find(key);
    if (version == versions_.end()) return;
    by_revision_[version->second.router].erase({version->second.revision, key});
    versions_.erase(version);
}

void RouteStatus::note_route(const store::ObjectRef& before, const store::ObjectRef& after) {
    const control::Key key((after ? after : before)->name());
    const auto* route = routes_.get(key);
    if (route == nullptr) return forget(key);
    figures_.set(key, route);
    const auto [at, is_new] = versions_.try_emplace(key);
    auto& version = at->second;
    const auto served = fingerprint(*route);
    if (is_new || version.served != served) {
        by_revision_[version.router].erase({version.revision, key});
        version.served = served;
        version.router = route->status.router;
        version.revision = is_new && was_serving(*route) ? 0 : after->modified();
        version.unsettled.reset();
        by_revision_[version.router].insert({version.revision, key});
    }
    ask_for(key);
}

bool RouteStatus::is_ready(const Router* router, const RouterInstance& instance) const {
    if (!instance.status.ready) return false;
    if (router != nullptr) {
        for (const auto& member : router->status.instances) {
            if (member.name == instance.metadata.name) return member.ready;
        }
    }
    const auto renewed = from_rfc3339(instance.status.renew_time);
    const std::chrono::seconds lease(instance.status.lease_duration_seconds.value_or(0));
    return renewed && *renewed + lease > context_.clock().now();
}

RouteStatus::RouterSummary RouteStatus::summary_of(const std::string& name) const {
    RouterSummary summary;
    const auto* router = routers_.get(name);
    std::set<std::string> addresses;
    if (router != nullptr) {
        summary.exists = true;
        summary.dns = router->spec.dns;
        summary.http = router->spec.ports.http;
        summary.https = router->spec.ports.https;
        addresses.insert(router->spec.addresses.begin(), router->spec.addresses.end());
    }
    for (const auto& key : instances_of_.find(name)) {
        const auto& instance = *instances_.get(key);
        summary.reports = true;
        addresses.insert(instance.spec.address);
        if (!is_ready(router, instance)) continue;
        const auto programmed = static_cast<store::Revision>(instance.status.programmed.value_or(0));
        summary.programmed = summary.ready ? std::min(summary.programmed, programmed) : programmed;
        summary.ready = true;
    }
    summary.addresses.assign(addresses.begin(), addresses.end());
    return summary;
}

// A report of progress concerns the Routes that it passes, anything else all of the Router.
void RouteStatus::note_router(const std::string& name) {
    auto now = summary_of(name);
    auto& known = summaries_[name];
    if (now == known) return;
    const auto before = std::exchange(known, now);
    auto same = before;
    same.programmed = now.programmed;
    if (same != now) return ask_for_all(by_router_.find(name));
    const auto& routes = by_revision_[name];
    const auto [low, high] = std::minmax(before.programmed, now.programmed);
    for (auto at = routes.upper_bound({low, "\xff"}); at != routes.end() && at->first <= high; ++at) {
        ask_for(at->second);
    }
}

void RouteStatus::note_instance(const store::ObjectRef& before, const store::ObjectRef& after) {
    using Problems = std::vector<resource::RouterInstanceProblem>;
    struct Said {
        Problems problems;
        bool unlisted = false;
    };
    std::set<std::string> routers;
    const auto read = [&](const store::ObjectRef& stored) -> Said {
        const auto instance =
            stored ? decoded<RouterInstance>(stored) : Result<RouterInstance>(fail(Errc::not_found, ""));
        if (!instance) return {};
        routers.insert(instance->spec.router);
        return {instance->status.problems, has_unlisted(*instance)};
    };
    const auto was = read(before);
    const auto is = read(after);
    const auto ask_for_missing = [this](const Problems& from, const Problems& in) {
        for (const auto& each : from) {
            if (std::find(in.begin(), in.end(), each) == in.end() && routes_.get(each.route) != nullptr)
                ask_for(each.route);
        }
    };
    if (was.problems != is.problems) {
        ask_for_missing(was.problems, is.problems);
        ask_for_missing(is.problems, was.problems);
    }
    for (const auto& router : routers) {
        note_router(router);
        if (was.unlisted == is.unlisted) continue;
        for (const auto& [revision, key] : by_revision_[router]) ask_for(key);
    }
}

void RouteStatus::note_record(const store::ObjectRef& before, const store::ObjectRef& after) {
    const control::Key key((after ? after : before)->name());
    RecordFacts facts;
    const auto record =
        after ? decoded<resource::DnsRecord>(after) : Result<resource::DnsRecord>(fail(Errc::not_found, ""));
    if (record) {
        std::set<std::string> names{lower(record->spec.dns_name)};
        for (const auto& endpoint : record->spec.endpoints) names.insert(lower(endpoint.dns_name));
        names.erase("");
        facts.names.assign(names.begin(), names.end());
        const auto* ready = find(record->status.conditions, "Ready");
        facts.ready = ready != nullptr && ready->status == "True";
        if (ready != nullptr && !facts.ready) facts.why = ready->message;
    }
    const auto known = records_.find(key);
    if (known != records_.end() && known->second == facts) return;
    std::set<std::string> names(facts.names.begin(), facts.names.end());
    if (known != records_.end()) names.insert(known->second.names.begin(), known->second.names.end());
    if (record) {
        records_of_.set(key, facts.names);
        records_.insert_or_assign(key, std::move(facts));
    } else {
        records_of_.erase(key);
        records_.erase(key);
    }
    for (const auto& name : names) ask_for_all(by_name_.find(name));
}

void RouteStatus::note_endpoints(const store::ObjectRef& before, const store::ObjectRef& after) {
    const std::string service((after ? after : before)->name());
    const bool changed =
        has_addresses(after) ? with_endpoints_.insert(service).second : with_endpoints_.erase(service) > 0;
    if (changed) ask_for_all(by_service_.find(service));
}

// Its serial changes often, what users are told to do with it does not.
void RouteStatus::note_zone(const store::ObjectRef& before, const store::ObjectRef& after) {
    const auto told = [](const store::ObjectRef& stored) -> std::vector<std::string> {
        const auto zone =
            stored ? decoded<resource::ManagedZone>(stored) : Result<resource::ManagedZone>(fail(Errc::not_found, ""));
        if (!zone) return {};
        auto texts = server_names(*zone);
        texts.push_back(zone->spec.domain_name);
        return texts;
    };
    if (told(before) != told(after)) ask_for_all(user_routes_.find(namespace_of((after ? after : before)->name())));
}

std::string RouteStatus::no_endpoints(const Route& route) const {
    std::vector<const resource::RouteTarget*> targets{&route.spec.to};
    for (const auto& other : route.spec.alternate_backends) targets.push_back(&other);
    std::vector<std::string> why;
    for (const auto* target : targets) {
        if (target->weight == 0) continue;
        const auto key = fmt::format("{}/{}", route.metadata.namespace_, target->name);
        if (!services_.get(key)) {
            why.push_back(fmt::format("service {} does not exist", target->name));
        } else if (with_endpoints_.contains(key)) {
            return {};
        } else {
            why.push_back(fmt::format("service {} has no endpoints that are ready", target->name));
        }
    }
    return why.empty() ? "all its services have the weight 0" : join(why, "; ");
}

ServingFacts RouteStatus::serving_facts(const control::Key& key, const Route& route) const {
    ServingFacts facts;
    facts.router = routers_.get(route.status.router);
    if (const auto summary = summaries_.find(route.status.router); summary != summaries_.end()) {
        facts.reports = summary->second.reports;
        facts.ready = summary->second.ready;
        const auto version = versions_.find(key);
        facts.programmed = version != versions_.end() && version->second.revision <= summary->second.programmed;
    }
    for (const auto& name : instances_of_.find(route.status.router)) {
        const auto& instance = *instances_.get(name);
        const auto& problems = instance.status.problems;
        if (!is_ready(facts.router, instance)) continue;
        const auto mine =
            std::find_if(problems.begin(), problems.end(), [&](const auto& each) { return each.route == key; });
        if (mine != problems.end()) {
            facts.problem = *mine;
            break;
        }
        facts.unlisted = facts.unlisted || has_unlisted(instance);
    }
    facts.no_endpoints = no_endpoints(route);
    return facts;
}

NameFacts RouteStatus::name_facts(const Route& route) const {
    NameFacts facts;
    const bool shard = is_shard_name(route);
    for (const auto& name : names_asked(route)) {
        for (const auto& key : records_of_.find(name)) {
            // A user's own name is in his own zones; a router's zone may be anywhere.
            if (!shard && namespace_of(key) != route.metadata.namespace_) continue;
            const auto& record = records_.find(key)->second;
            if (record.ready) return {NameFacts::Record::ready, {}};
            facts.record = NameFacts::Record::waiting;
            if (facts.why.empty()) facts.why = record.why;
        }
    }
    return facts;
}

void RouteStatus::look_up(const control::Key& key, const std::set<std::string>& hosts) {
    const auto asked = asked_.find(key);
    if (asked == asked_.end() ? hosts.empty() : asked->second == hosts) return;
    lookups_.set(group_of(key), hosts);
    if (hosts.empty()) {
        asked_.erase(asked);
    } else {
        asked_.insert_or_assign(key, hosts);
    }
}

DomainFacts RouteStatus::domain_facts(const control::Key& key, const Route& route) {
    DomainFacts facts;
    if (!is_bound(route) || is_shard_name(route)) {
        look_up(key, {});
        return facts;
    }
    std::set<std::string> ours, hosts{route.status.host};
    const auto add_router = [&](const std::string& name) {
        const auto summary = summaries_.find(name);
        if (summary == summaries_.end()) return;
        for (const auto& text : summary->second.addresses) {
            if (const auto address = dns::Address::parse(text)) {
                ours.insert(address->text());
            } else {
                hosts.insert(text);
            }
        }
    };
    add_router(route.status.router);
    for (const auto& former : route.status.former) add_router(former.router);  // where caches may still lead
    look_up(key, hosts);
    for (const auto& [host, known] : lookups_.known(group_of(key))) {
        if (host != route.status.host) {
            ours.insert(known.addresses.begin(), known.addresses.end());
            continue;
        }
        facts.known = !known.addresses.empty() || !known.problem.empty();
        facts.found = known.addresses;
        facts.problem = known.problem;
    }
    facts.ours.assign(ours.begin(), ours.end());
    for (const auto& name : zones_of_.find(route.metadata.namespace_)) {
        const auto& zone = *zones_.get(name);
        const auto& domain = zone.spec.domain_name;
        if (!is_below(route.status.host, domain) || domain.size() <= facts.zone.size()) continue;
        facts.zone = domain;
        facts.servers = server_names(zone);
    }
    return facts;
}

std::optional<RouteStatus::Draft> RouteStatus::draft(const control::Key& key) {
    const auto* route = routes_.get(key);
    const auto version = versions_.find(key);
    if (route == nullptr || version == versions_.end()) return std::nullopt;
    const auto story = route_story({*route, serving_facts(key, *route), name_facts(*route), domain_facts(key, *route)});
    const auto& present = route->status.conditions;
    bool serving = false, waits = false;
    for (const auto& each : story.conditions) {
        if (!differs(present, each)) continue;
        const bool unsettled = story.unsettled.contains(each.type);
        serving = serving || (each.type == "Serving" && !unsettled);
        waits = waits || unsettled;
    }
    auto& since = version->second.unsettled;
    const auto now = context_.clock().monotonic();
    if (!waits) since.reset();
    if (waits && !since) since = now;
    const bool patient = waits && now - *since < patience;
    if (patient) {
        waiting_.add_later(key);
        context_.enqueue_after(key, *since + patience - now);
        // What everybody waits for is told at once, whatever else is still to come.
        if (!serving) return std::nullopt;
    }
    Draft draft{key, present, present};
    bool changed = false;
    for (const auto& each : story.conditions) {
        if (patient && story.unsettled.contains(each.type)) continue;
        changed = control::set_condition(draft.after, each, context_.clock().now()) || changed;
    }
    if (is_bound(*route) && is_shard_name(*route)) {
        changed =
            std::erase_if(draft.after, [](const auto& each) { return each.type == "DomainPointsHere"; }) > 0 || changed;
    }
    if (!changed) return std::nullopt;
    return draft;
}

Result<control::Again> RouteStatus::reconcile(const control::Key& key) {
    std::vector<Draft> drafts;
    for (const auto& each : waiting_.take(key, batch)) {
        if (each != key) context_.taken_along(each);
        if (auto made = draft(each)) drafts.push_back(std::move(*made));
    }
    write(drafts);
    return Again::no();
}

void RouteStatus::write(const std::vector<Draft>& drafts) {
    std::vector<StatusWrite> writes;
    writes.reserve(drafts.size());
    for (const auto& draft : drafts) {
        auto object = json::parse(routes_.stored(draft.key)->value()).value_or(json::Value());  // the view decoded it
        json::Array list;
        list.reserve(draft.after.size());
        for (const auto& each : draft.after) list.push_back(resource::encode(each));
        json::set_at(object, "status.conditions", std::move(list));
        writes.push_back({draft.key, std::move(object)});
    }
    write_statuses(context_, routes_.kind(), std::move(writes), waiting_,
                   [&](std::size_t i, const json::Value& written) { tell(drafts[i], written); });
}

// An event when the answer to "is it up, and under which name?" changes.
void RouteStatus::tell(const Draft& draft, const json::Value& written) {
    const auto* before = find(draft.before, "Serving");
    const auto* after = find(draft.after, "Serving");
    if (after == nullptr) return;
    const bool same = before != nullptr && before->status == after->status;
    if (after->status == "True") {
        if (same && before->message == after->message) return;
        const auto* route = routes_.get(draft.key);
        const auto* router = route == nullptr ? nullptr : routers_.get(route->status.router);
        if (route == nullptr) return;
        context_.events().normal(
            written, "Reachable",
            fmt::format("Route is reachable as {}",
                        resource::route_url(*route, router == nullptr ? nullptr : &router->spec.ports)));
    } else if (!same || before->reason != after->reason) {
        context_.events().warning(written, after->reason, after->message);
    }
}

}  // namespace fairlead::controller
