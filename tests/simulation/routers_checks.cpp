// What must hold: with every change of a Route and of a proxy's table, and when all is quiet.
#include <algorithm>

#include "base/text.h"
#include "control/conditions.h"
#include "resource/kinds/router_instance.h"
#include "route/table.h"
#include "simulation/routers_scene.h"

namespace fairlead::simulation {

namespace {

constexpr std::size_t pull = 1'000;
constexpr std::string_view owner_prefix = "route/";

std::string namespace_of_owner(std::string_view owner) {
    if (owner.starts_with(owner_prefix)) owner.remove_prefix(owner_prefix.size());
    return std::string(owner.substr(0, owner.find('/')));
}

std::string parent_of(std::string_view host) {
    const auto dot = host.find('.');
    return dot == std::string_view::npos ? std::string() : std::string(host.substr(dot + 1));
}

// Read here anew, not with what the controllers read it with.
bool says_admitted(const resource::RouteIngress& ingress) {
    return std::any_of(ingress.conditions.begin(), ingress.conditions.end(), [](const json::Value& each) {
        return json::string_at(each, "type") == "Admitted" && json::string_at(each, "status") == "True";
    });
}

template <class T>
std::map<std::string, T> all_of(ClusterApi& api, const std::string& path) {
    std::map<std::string, T> all;
    const auto list = api.get(path);
    const auto* items = json::find(list, "items");
    if (items == nullptr || !items->is_array()) return all;
    for (const auto& item : items->as_array()) {
        auto read = resource::decode<T>(item);
        if (!read) continue;
        const auto& meta = read->metadata;
        all.emplace(meta.namespace_.empty() ? meta.name : meta.namespace_ + "/" + meta.name, std::move(*read));
    }
    return all;
}

// Who has what of the hosts: an exact host, or all hosts beside one.
struct Holder {
    std::string space, who, path;
    bool wild = false;  // has the host because it has all beside it: within a namespace an exact one goes before it
};
struct Holders {
    std::map<std::string, std::vector<Holder>> exact, wildcard;  // by host, by parent
};

// Two with one path.
std::string twice_of(const std::vector<Holder>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t k = i + 1; k < list.size(); ++k) {
            if (list[i].path == list[k].path && list[i].wild == list[k].wild)
                return fmt::format("{} has {} and {}", list[i].path, list[i].who, list[k].who);
        }
    }
    return {};
}

// Two that must not have it both; empty: none.
std::string clash_of(const Holders& holders, bool paths) {
    for (const auto& [host, list] : holders.exact) {
        const auto& first = list.front();
        for (std::size_t i = 1; i < list.size(); ++i) {
            if (list[i].space != first.space) return fmt::format("{} has {} and {}", host, first.who, list[i].who);
        }
        if (const auto twice = paths ? twice_of(list) : std::string(); !twice.empty()) return host + twice;
        const auto over = holders.wildcard.find(parent_of(host));
        if (over == holders.wildcard.end()) continue;
        for (const auto& each : over->second) {
            if (each.space != first.space) return fmt::format("{} has {} and, below *, {}", host, first.who, each.who);
        }
    }
    for (const auto& [parent, list] : holders.wildcard) {
        for (const auto& each : list) {
            if (each.space != list.front().space)
                return fmt::format("*.{} has {} and {}", parent, list.front().who, each.who);
        }
        if (const auto twice = paths ? twice_of(list) : std::string(); !twice.empty()) return "*." + parent + twice;
    }
    return {};
}

}  // namespace

std::map<std::string, resource::Router> RoutersWorld::routers() { return all_of<resource::Router>(api_, routers_path); }

std::vector<const ShardInstance*> RoutersWorld::live(const std::string& router) const {
    std::vector<const ShardInstance*> list;
    for (const auto& [name, instance] : instances_) {
        if (instance.router == router && instance.process && instance.proxy->up()) list.push_back(&instance);
    }
    return list;
}

// --- at all times ---

void RoutersWorld::check() {
    bool changed = false;
    for (;;) {
        auto batch = cursor_->next(pull);
        if (!batch) return violate("the Routes cannot be followed: " + batch.error().text());
        for (const auto& event : batch->events) {
            changed = true;
            const std::string key(event.object->name());
            const auto known = routes_.find(key);
            const auto* before = known == routes_.end() ? nullptr : &known->second;
            if (event.removed) {
                take_change(key, before, nullptr);
                routes_.erase(key);
                continue;
            }
            const auto object = json::parse(event.object->value());
            auto route =
                object ? resource::decode<resource::Route>(*object) : Result<resource::Route>(fail(object.error()));
            if (!route) return violate(key + " cannot be read: " + route.error().text());
            take_change(key, before, &*route);
            routes_.insert_or_assign(key, std::move(*route));
            check_owners();
        }
        if (batch->events.size() < pull) break;
    }
    if (changed) check_owners();
    check_tables();
}

void RoutersWorld::take_change(const std::string& key, const resource::Route* before, const resource::Route* after) {
    if (after == nullptr) return;
    const auto& status = after->status;
    if ((status.phase == "scheduled") != !status.router.empty() || status.router.empty() != status.dns.empty() ||
        status.router.empty() != status.host.empty()) {
        violate(fmt::format("{} has phase {}, router {}, dns {}, host {}", key, status.phase, status.router, status.dns,
                            status.host));
    }
    if (before == nullptr || before->metadata.uid != after->metadata.uid) {
        if (!status.router.empty()) violate(key + " was made with a router");
        return;
    }
    if (before->status.router != status.router) check_binding(key, *before, *after);
}

void RoutersWorld::check_binding(const std::string& key, const resource::Route& before, const resource::Route& after) {
    const auto& from = before.status.router;
    const auto& to = after.status.router;
    note(fmt::format("{}: {} -> {} as {}", key, from.empty() ? "new" : from, to.empty() ? "new" : to,
                     after.status.host));
    if (to.empty()) return;
    ++report_.bindings;
    const auto router = api_.get(routers_path + "/" + to);
    // The Router may go in the moment after; it was there when its routes were counted last.
    if (router.is_object() && json::string_at(router, "spec.dns") != after.status.dns)
        violate(fmt::format("{} has dns {}, its router {} has another", key, after.status.dns, to));
    if (from.empty()) return;
    ++report_.moves;
    if (after.status.former.empty() || after.status.former.front().router != from)
        violate(fmt::format("{} went from {} to {} and does not say where it was", key, from, to));
}

void RoutersWorld::check_owners() {
    Holders holders;
    for (const auto& [key, route] : routes_) {
        for (const auto& each : route.status.ingress) {
            if (!says_admitted(each)) continue;
            const bool wild = each.wildcard_policy == "Subdomain";
            const Holder holder{route.metadata.namespace_, key, route.spec.path == "/" ? "" : route.spec.path, wild};
            holders.exact[each.host].push_back(holder);
            if (wild) holders.wildcard[parent_of(each.host)].push_back(holder);
        }
    }
    if (const auto clash = clash_of(holders, true); !clash.empty()) violate("two are admitted: " + clash);
}

// A proxy that lags behind may have what was true a moment ago, but never two that exclude each other.
void RoutersWorld::check_tables() {
    for (const auto& [name, instance] : instances_) {
        const auto version = instance.proxy->progress().programmed;
        if (std::exchange(tables_checked_[name], version) == version) continue;
        check_lrp_hosts(instance);
        Holders holders;
        for (const auto& [key, rule] : without_lrps(instance.proxy->table()).rules) {
            auto& list = key.wildcard ? holders.wildcard[key.host] : holders.exact[key.host];
            list.push_back({namespace_of_owner(rule.owner), rule.owner, key.path, key.wildcard});
        }
        if (const auto clash = clash_of(holders, false); !clash.empty())
            violate(fmt::format("the table of {}: {}", name, clash));
    }
}

// --- at rest ---

void RoutersWorld::check_rest() {
    report_.served = report_.lrp_names = 0;
    check_admitted();
    for (const auto& [key, route] : routes_) {
        check_placed(route);
        check_served(route);
    }
    check_proxies();
}

// For who reads the trace.
void RoutersWorld::tell_all() {
    for (const auto& [key, route] : routes_) note(key + ": " + json::serialize(resource::encode(route.status)));
    for (const auto& [name, router] : routers()) note(name + ": " + json::serialize(resource::encode(router.status)));
    for (const auto& [name, instance] : instances_) {
        note(fmt::format("{}: {}, its proxy {}", name, instance.process ? "runs" : "is dead",
                         instance.proxy->up() ? "runs" : "is dead"));
        for (const auto& [key, rule] : instance.proxy->table().rules) {
            const auto pool = instance.proxy->table().pools.find(rule.pool);
            const auto members = pool == instance.proxy->table().pools.end() ? 0 : pool->second.members.size();
            note(fmt::format("  {}{}{} {} with {} members", key.wildcard ? "*." : "", key.host, key.path, rule.owner,
                             members));
        }
    }
    for (const auto& [name, instance] :
         all_of<resource::RouterInstance>(api_, "/apis/fairlead.dev/v1/routerinstances")) {
        note(name + ": " + json::serialize(resource::encode(instance.status)));
    }
}

void RoutersWorld::check_placed(const resource::Route& route) {
    const auto key = route.metadata.namespace_ + "/" + route.metadata.name;
    const auto all = routers();
    const auto& status = route.status;
    const auto is_labelled = [](const resource::Router& router) { return !router.spec.label.empty(); };
    const bool blue = route.metadata.labels.contains("shard");
    const bool any_labelled =
        blue && std::any_of(all.begin(), all.end(), [&](const auto& each) { return is_labelled(each.second); });
    std::map<std::string, std::int32_t> load;
    for (const auto& [other, each] : routes_) ++load[each.status.router];
    std::vector<std::string> open;
    for (const auto& [name, router] : all) {
        if (is_labelled(router) != any_labelled || router.spec.drain) continue;
        if (router.spec.capacity && load[name] >= *router.spec.capacity) continue;
        if (route.spec.wildcard_policy == "Subdomain" && router.spec.wildcard_policy != "WildcardsAllowed") continue;
        open.push_back(name);
    }
    // Routes of one host of a user stay together, also where that means to wait: for whom is the scheduler's tests'.
    const bool has_company = std::any_of(routes_.begin(), routes_.end(), [&](const auto& each) {
        const auto& other = each.second;
        return each.first != key && other.metadata.namespace_ == route.metadata.namespace_ &&
               route.spec.dns_type == "user" && other.spec.dns_type == "user" && other.spec.host == route.spec.host;
    });
    if (has_company) open.clear();
    const auto* scheduled = control::find_condition(status.conditions, "Scheduled");
    if (status.router.empty()) {
        if (!open.empty()) violate(fmt::format("{} has no router, and {} could take it", key, join(open, ", ")));
        if (scheduled == nullptr || scheduled->status != "False" || scheduled->message.empty())
            violate(key + " waits for a router and is not told why");
        return;
    }
    if (scheduled == nullptr || scheduled->status != "True") violate(key + " has a router and is not told so");
    const auto at = all.find(status.router);
    if (at == all.end()) return violate(fmt::format("{} is on {}, which is gone", key, status.router));
    if (at->second.spec.drain && !open.empty())
        violate(fmt::format("{} is on {}, which drains, and {} could take it", key, status.router, join(open, ", ")));
    for (const auto& former : status.former) {
        const bool keeps_name = all.contains(former.router) && former.host != status.host;
        const bool waits = all.contains(former.router) && former.until.empty() && resource::awaits_router(status);
        if (!keeps_name && !waits)
            violate(fmt::format("{} still says that it was on {} until {}", key, former.router, former.until));
    }
}

// Everybody is told, and somebody has each host that is asked for.
void RoutersWorld::check_admitted() {
    // A wildcard may keep others out and not be allowed itself.
    const bool wild = std::any_of(routes_.begin(), routes_.end(),
                                  [](const auto& each) { return each.second.spec.wildcard_policy == "Subdomain"; });
    for (const auto& [key, route] : routes_) {
        const auto& host = route.status.host;
        if (host.empty()) continue;
        const auto& ingress = route.status.ingress;
        const bool told = std::any_of(ingress.begin(), ingress.end(),
                                      [&](const auto& each) { return each.host == host && !each.conditions.empty(); });
        if (!told) violate(fmt::format("{} is not told whether it has {}", key, host));
        // Also one that has it from a former router, or waits for a router and is older.
        const bool held = std::any_of(routes_.begin(), routes_.end(), [&](const auto& each) {
            const auto& other = each.second;
            if (other.status.router.empty() && other.spec.host == host) return true;
            return std::any_of(other.status.ingress.begin(), other.status.ingress.end(),
                               [&](const auto& entry) { return entry.host == host && says_admitted(entry); });
        });
        if (!held && !wild) violate(fmt::format("nobody has {}", host));
    }
}

// Serving is true exactly of what every instance that is there serves.
void RoutersWorld::check_served(const resource::Route& route) {
    const auto key = route.metadata.namespace_ + "/" + route.metadata.name;
    const auto* serving = control::find_condition(route.status.conditions, "Serving");
    const bool said = serving != nullptr && serving->status == "True";
    const auto instances = live(route.status.router);
    const auto owner = route::owner_of(route);
    std::string why;
    if (route.status.router.empty()) why = "it has no router";
    if (why.empty() && instances.empty()) why = "no instance is there";
    for (const auto* instance : instances) {
        const auto& table = instance->proxy->table();
        const auto rule = std::find_if(table.rules.begin(), table.rules.end(), [&](const auto& each) {
            const auto& host = route.status.host;
            return each.second.owner == owner && each.first.host == (each.first.wildcard ? parent_of(host) : host);
        });
        if (rule == table.rules.end()) {
            why = instance->name + " has no rule for it";
            continue;
        }
        const auto pool = table.pools.find(rule->second.pool);
        if (pool == table.pools.end() || pool->second.members.empty()) why = instance->name + " has no members for it";
    }
    if (said && !why.empty()) violate(fmt::format("{} says that it is served: {}", key, why));
    if (!said && why.empty()) {
        violate(fmt::format("{} is served and says: {}", key, serving == nullptr ? "nothing" : serving->message));
    }
    if (said) ++report_.served;
}

// What proxies have is what the objects say.
void RoutersWorld::check_proxies() {
    const auto endpoints = all_of<resource::Endpoints>(api_, "/api/v1/endpoints");
    const auto all_services = all_of<resource::Service>(api_, "/api/v1/services");
    const auto in = [](const auto& map, std::string_view key) {
        const auto found = map.find(std::string(key));
        return found == map.end() ? nullptr : &found->second;
    };
    route::World world;
    world.service = [&](std::string_view key) { return in(all_services, key); };
    world.endpoints = [&](std::string_view key) { return in(endpoints, key); };
    world.secret = [](std::string_view) { return nullptr; };
    world.state = [](std::string_view, std::uint16_t) { return traffic::MemberState::ready; };
    world.now = clock_.now();
    const auto all = routers();
    Holders everywhere;
    for (const auto& [name, instance] : instances_) {
        if (!instance.process || !instance.proxy->up() || !all.contains(instance.router)) continue;
        traffic::RoutingTable wanted;
        for (const auto& [key, route] : routes_) {
            auto part = route::part_of(route, instance.router, world);
            wanted.rules.merge(part.table.rules);
            wanted.pools.merge(part.table.pools);
        }
        const auto has = without_lrps(instance.proxy->table());
        if (wanted != has) {
            std::string differ;
            for (const auto& [key, rule] : traffic::diff(has, wanted).rules) {
                differ += fmt::format(" {}{}{}{}", rule ? "+" : "-", key.wildcard ? "*." : "", key.host, key.path);
            }
            violate(fmt::format("{} serves something else than was asked for:{}", name,
                                differ.empty() ? " members" : differ));
        }
        check_lrps(instance, wanted);
        for (const auto& [key, rule] : has.rules) {
            auto& list = key.wildcard ? everywhere.wildcard[key.host] : everywhere.exact[key.host];
            list.push_back({namespace_of_owner(rule.owner), rule.owner, key.path, key.wildcard});
        }
    }
    if (const auto clash = clash_of(everywhere, false); !clash.empty()) violate("two serve one host: " + clash);
}

}  // namespace fairlead::simulation
