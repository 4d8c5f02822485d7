// LRPs among the Routes: what users do with them, and what routers must serve of them.
#include <algorithm>

#include "base/text.h"
#include "resource/kinds/actual_lrp.h"
#include "resource/kinds/desired_lrp.h"
#include "simulation/routers_scene.h"

namespace fairlead::simulation {

namespace {

constexpr std::array<const char*, 2> lrp_names{"p1", "p2"};
// Routes have the first two as well.
constexpr std::array<const char*, 4> lrp_hosts{"shop.example.com", "www.example.com", "lrp.example.com", "x.lrp.test"};
constexpr std::int64_t max_index = 2;

std::string desired_path(std::string_view space, std::string_view name = {}) {
    return fmt::format("/apis/fairlead.dev/v1/namespaces/{}/desiredlrps{}{}", space, name.empty() ? "" : "/", name);
}

std::string actual_path(std::string_view space, std::string_view name = {}) {
    return fmt::format("/apis/fairlead.dev/v1/namespaces/{}/actuallrps{}{}", space, name.empty() ? "" : "/", name);
}

bool of_lrp(std::string_view owner) { return owner.starts_with("lrp/"); }

// "red" of "route/red/r1"
std::string_view namespace_of(std::string_view owner) {
    owner.remove_prefix(std::min(owner.find('/') + 1, owner.size()));
    return owner.substr(0, owner.find('/'));
}

std::string_view parent_of(std::string_view host) { return host.substr(std::min(host.find('.') + 1, host.size())); }

bool loses(const traffic::RuleKey& name, const LrpName& wanted, const traffic::RoutingTable& of_routes) {
    return std::any_of(of_routes.rules.begin(), of_routes.rules.end(), [&](const auto& each) {
        const auto& [key, rule] = each;
        const std::string space(namespace_of(rule.owner));
        const bool foreign = wanted.spaces.size() > 1 || !wanted.spaces.contains(space);
        if (key.wildcard) return foreign && key.host == parent_of(name.host);
        return key.host == name.host && (foreign || key.path == name.path);
    });
}

std::string shown(const traffic::RuleKey& key) {
    return fmt::format("{}{}{}", key.wildcard ? "*." : "", key.host, key.path);
}

}  // namespace

// A host, or a path of it that only this namespace asks for.
std::string RoutersWorld::lrp_routes(const std::string& space) {
    std::string names;
    for (std::size_t i = dice_.between(1, 3); i > 0; --i) {
        const std::string host = dice_.pick(lrp_hosts);
        names += fmt::format("{}\"{}{}\"", names.empty() ? "" : ",", host, dice_.chance(300) ? "/" + space : "");
    }
    return fmt::format(R"({{"cf-router":[{{"port":4000,"routes":[{}],"route_to_instances":{}}}]}})", names,
                       dice_.chance(300));
}

void RoutersWorld::change_lrp() {
    const std::string space = dice_.pick(spaces);
    const std::string name = dice_.pick(lrp_names);
    const auto path = desired_path(space, name);
    if (!api_.get(path).is_object()) {
        const auto routes = lrp_routes(space);
        const auto* const labels = dice_.chance(400) ? R"(,"labels":{"shard":"blue"})" : "";
        note(fmt::format("LRP {}/{} is made{}: {}", space, name, labels, routes));
        const auto code = send(
            "POST", desired_path(space),
            fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"DesiredLRP","metadata":{{"name":"{0}"{1}}},)"
                        R"("spec":{{"process_guid":"{0}","domain":"d","instances":{2},"ports":[4000],"routes":{3}}}}})",
                        name, labels, dice_.between(1, 2), routes));
        if (code != 201) violate(fmt::format("a DesiredLRP was answered with {}", code));
        return;
    }
    switch (dice_.below(8)) {
        case 0:
            note(fmt::format("LRP {}/{} goes", space, name));
            (void)send("DELETE", path);
            return;
        case 1: {
            const auto* const label = dice_.chance(500) ? R"("blue")" : "null";
            note(fmt::format("LRP {}/{} has label {}", space, name, label));
            (void)send("PATCH", path, fmt::format(R"({{"metadata":{{"labels":{{"shard":{}}}}}}})", label));
            return;
        }
        case 2: {
            const auto routes = lrp_routes(space);
            note(fmt::format("LRP {}/{} has {}", space, name, routes));
            (void)send("PATCH", path, fmt::format(R"({{"spec":{{"routes":{}}}}})", routes));
            return;
        }
        default:
            return change_lrp_instance(space, name);
    }
}

// It starts (each time elsewhere), stops, is evacuated, or its record goes.
void RoutersWorld::change_lrp_instance(const std::string& space, const std::string& process) {
    const auto index = static_cast<std::int64_t>(dice_.below(max_index + 1));
    const bool evacuating = dice_.chance(250);
    const auto name = resource::actual_lrp_name(process, index, evacuating);
    const auto path = actual_path(space, name);
    if (dice_.chance(200)) {
        note(fmt::format("instance {}/{} goes", space, name));
        (void)send("DELETE", path);
        return;
    }
    const auto number = ++lrp_instances_;
    const auto running = fmt::format(
        R"("state":"RUNNING","instance_guid":"i{0}","cell_id":"c","since":{0},"address":"10.{1}.{2}.{3}","ports":[{{"container_port":4000,"host_port":4000}}])",
        number, space.size(), number / 250, number % 250 + 1);
    const bool runs = evacuating || dice_.chance(700);
    note(fmt::format("instance {}/{} {}", space, name, runs ? running : "stops"));
    const auto* const idle = R"("state":"UNCLAIMED","instance_guid":null,"cell_id":null,"address":null,"ports":null)";
    auto code = send("PATCH", path, fmt::format(R"({{"spec":{{{}}}}})", runs ? running : idle));
    if (code == 404) {
        code = send("POST", actual_path(space),
                    fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"ActualLRP","metadata":{{"name":"{}"}},)"
                                R"("spec":{{"process_guid":"{}","domain":"d","index":{},"evacuating":{},{}}}}})",
                                name, process, index, evacuating, runs ? running : R"("state":"UNCLAIMED")"));
    }
    if (code >= 300) violate(fmt::format("an ActualLRP was answered with {}", code));
}

std::vector<json::Value> RoutersWorld::list(const std::string& path) {
    const auto answer = api_.get(path);
    const auto* items = json::find(answer, "items");
    if (items == nullptr || !items->is_array()) return {};
    return {items->as_array().begin(), items->as_array().end()};
}

// What LRPs ask of a router, read here anew: by labels, all running instances below the count, those that are evacuated
// too.
LrpNames RoutersWorld::lrp_truth(const std::string& router) {
    const auto all = routers();
    const auto is_labelled = [&](const std::string& name) { return !all.at(name).spec.label.empty(); };
    const bool any_labelled =
        std::any_of(all.begin(), all.end(), [&](const auto& each) { return is_labelled(each.first); });
    const auto actual = list("/apis/fairlead.dev/v1/actuallrps");
    LrpNames names;
    for (const auto& lrp : list("/apis/fairlead.dev/v1/desiredlrps")) {
        const bool blue = json::string_at(lrp, "metadata.labels.shard") == "blue";
        if (is_labelled(router) != (blue && any_labelled)) continue;
        const auto space = json::string_at(lrp, "metadata.namespace");
        const auto process = json::string_at(lrp, "spec.process_guid");
        const auto count = json::int_at(lrp, "spec.instances").value_or(1);
        std::map<std::int64_t, std::set<std::string>> running;  // addresses by index
        for (const auto& each : actual) {
            const auto index = json::int_at(each, "spec.index").value_or(0);
            if (json::string_at(each, "metadata.namespace") != space || index >= count ||
                json::string_at(each, "spec.process_guid") != process ||
                json::string_at(each, "spec.state") != "RUNNING")
                continue;
            running[index].emplace(json::string_at(each, "spec.address"));
        }
        const auto& entry = json::find(lrp, "spec.routes.cf-router")->as_array().front();
        for (const auto& text : json::find(entry, "routes")->as_array()) {
            const std::string name(json::view(text.get_string()));
            const auto slash = std::min(name.find('/'), name.size());
            const traffic::RuleKey key{name.substr(0, slash), false, name.substr(slash)};
            const auto add = [&](const traffic::RuleKey& to) -> LrpName& {
                auto& wanted = names[to];
                wanted.spaces.emplace(space);
                return wanted;
            };
            auto& whole = add(key);
            for (const auto& [index, addresses] : running) whole.members.insert(addresses.begin(), addresses.end());
            if (!json::bool_at(entry, "route_to_instances")) continue;
            for (const auto& [index, addresses] : running) {
                add({fmt::format("{}.{}", index, key.host), false, key.path})
                    .members.insert(addresses.begin(), addresses.end());
            }
        }
    }
    return names;
}

void RoutersWorld::check_lrps(const ShardInstance& instance, const traffic::RoutingTable& of_routes) {
    auto wanted = lrp_truth(instance.router);
    std::erase_if(wanted, [&](const auto& each) { return loses(each.first, each.second, of_routes); });
    const auto& table = instance.proxy->table();
    for (const auto& [key, rule] : table.rules) {
        if (!of_lrp(rule.owner)) continue;
        const auto found = wanted.find(key);
        std::set<std::string> members;
        for (const auto& member : table.pools.at(rule.pool).members) members.insert(member.address);
        // A name of one instance that does not run may stay, and answers 503.
        if (found == wanted.end() && members.empty() && shown(key).find_first_of("012") == 0) continue;
        if (found == wanted.end() || found->second.members != members) {
            violate(fmt::format("{} serves {} of LRPs with {}, not {}", instance.name, shown(key),
                                join({members.begin(), members.end()}, " "),
                                found == wanted.end()
                                    ? "at all"
                                    : join({found->second.members.begin(), found->second.members.end()}, " ")));
        }
        if (found != wanted.end()) wanted.erase(found);
        ++report_.lrp_names;
    }
    for (const auto& [key, name] : wanted)
        violate(fmt::format("{} does not serve {} of LRPs", instance.name, shown(key)));
}

// At all times: in no table has an LRP a path of a host that a Route of another namespace has.
void RoutersWorld::check_lrp_hosts(const ShardInstance& instance) {
    const auto& rules = instance.proxy->table().rules;
    for (const auto& [key, rule] : rules) {
        if (!of_lrp(rule.owner) || key.path.empty()) continue;  // "/red" is of the namespace red
        for (const auto& [other, of_route] : rules) {
            if (!of_lrp(of_route.owner) && other.host == key.host && !other.wildcard &&
                namespace_of(of_route.owner) != key.path.substr(1))
                violate(fmt::format("the table of {}: {} is {}'s, and the host {}'s", instance.name, shown(key),
                                    rule.owner, of_route.owner));
        }
    }
}

// The part of the table that is not of LRPs.
traffic::RoutingTable without_lrps(traffic::RoutingTable table) {
    std::erase_if(table.rules, [](const auto& each) { return of_lrp(each.second.owner); });
    std::erase_if(table.pools, [](const auto& each) { return of_lrp(each.first); });
    return table;
}

}  // namespace fairlead::simulation
