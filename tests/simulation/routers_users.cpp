// What users, administrators and somebody hostile do, and what happens to processes and to the network.
#include <algorithm>

#include "base/text.h"
#include "simulation/routers_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

// Few, so that they meet; some are below one parent, where wildcards meet them.
constexpr std::array<const char*, 4> own_hosts{"shop.example.com", "www.example.com", "api.example.com",
                                               "a.deep.example.com"};
constexpr std::array<const char*, 3> system_hosts{"web", "shop", "x"};
constexpr std::array<const char*, 4> strategies{"round-robin", "least-routes", "weighted", "rendezvous"};

std::string dns_of(std::string_view router) { return fmt::format("{}.shard.test", router); }

}  // namespace

void RoutersWorld::set_up() {
    for (const auto* space : spaces) {
        (void)send("POST", "/api/v1/namespaces",
                   fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", space));
        for (const auto* service : services) {
            const auto code = send(
                "POST", fmt::format("/api/v1/namespaces/{}/services", space),
                fmt::format(
                    R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{}"}},"spec":{{"ports":[{{"port":80,"targetPort":8080}}]}}}})",
                    service));
            if (code != 201) violate(fmt::format("a Service was answered with {}", code));
            write_endpoints(space, service, dice_.between(1, 3));
        }
    }
    make_router("one");
    if (dice_.chance(700)) make_router("two");
}

void RoutersWorld::write_endpoints(const std::string& space, const std::string& service, std::size_t count) {
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < count; ++i) {
        addresses.push_back(
            fmt::format(R"({{"ip":"10.{}.{}.{}"}})", space.size(), service.size(), dice_.between(1, 9)));
    }
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    const auto subsets = addresses.empty()
                             ? std::string("[]")
                             : fmt::format(R"([{{"addresses":[{}],"ports":[{{"port":8080}}]}}])", join(addresses, ","));
    note(fmt::format("{}/{} has {} endpoints", space, service, addresses.size()));
    const auto room = fmt::format("/api/v1/namespaces/{}/endpoints", space);
    auto code = send("PATCH", fmt::format("{}/{}", room, service), fmt::format(R"({{"subsets":{}}})", subsets));
    if (code == 404) {
        code = send("POST", room,
                    fmt::format(R"({{"apiVersion":"v1","kind":"Endpoints","metadata":{{"name":"{}"}},"subsets":{}}})",
                                service, subsets));
    }
    if (code >= 300) violate(fmt::format("Endpoints were answered with {}", code));
}

void RoutersWorld::change_endpoints() {
    const std::string space = dice_.pick(spaces);
    const std::string service = dice_.pick(services);
    write_endpoints(space, service, dice_.chance(150) ? 0 : dice_.between(1, 3));
}

// --- routes ---

std::string RoutersWorld::route_spec() {
    const bool system = dice_.chance(350);
    const std::string host = system ? dice_.pick(system_hosts) : dice_.pick(own_hosts);
    const auto path = dice_.chance(300) ? R"("/cart")" : "null";
    const auto wildcard = !system && dice_.chance(120) ? "Subdomain" : "None";
    return fmt::format(
        R"("spec":{{"host":"{}","path":{},"wildcardPolicy":"{}","to":{{"kind":"Service","name":"{}"}}}})", host, path,
        wildcard, dice_.chance(50) ? "nowhere" : dice_.pick(services));
}

std::string RoutersWorld::route_labels() {
    return fmt::format(R"("labels":{{"shard":{}}})", dice_.chance(500) ? R"("blue")" : "null");
}

void RoutersWorld::make_route(const std::string& space, const std::string& name) {
    auto spec = route_spec();
    // null is a merge patch's word.
    const auto drop = [&spec](std::string_view text) {
        if (const auto at = spec.find(text); at != std::string::npos) spec.erase(at, text.size());
    };
    drop(R"("path":null,)");
    const auto labels = dice_.chance(500) ? R"(,"labels":{"shard":"blue"})" : "";
    note(fmt::format("{}/{} is made{}: {}", space, name, labels, spec));
    const auto code =
        send("POST", route_path(space),
             fmt::format(R"({{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{{"name":"{}"{}}},{}}})",
                         name, labels, spec));
    if (code != 201) violate(fmt::format("a Route was answered with {}", code));
}

void RoutersWorld::change_route() {
    const std::string space = dice_.pick(spaces);
    const std::string name = dice_.pick(route_names);
    const auto path = route_path(space, name);
    if (!routes_.contains(space + "/" + name)) return make_route(space, name);
    switch (dice_.below(6)) {
        case 0:
            note(fmt::format("{}/{} goes", space, name));
            (void)send("DELETE", path);
            return;
        case 1:
            note(fmt::format("{}/{} goes and comes again", space, name));
            (void)send("DELETE", path);
            check();
            return make_route(space, name);
        case 2:
        case 3: {
            const auto labels = route_labels();
            note(fmt::format("{}/{} has {}", space, name, labels));
            (void)send("PATCH", path, fmt::format(R"({{"metadata":{{{}}}}})", labels));
            return;
        }
        default: {
            const auto spec = route_spec();
            // What makes its final name too long, and the like, may be refused.
            const auto code = send("PATCH", path, "{" + spec + "}");
            note(fmt::format("{}/{} has {}: {}", space, name, spec, code));
        }
    }
}

// --- routers ---

void RoutersWorld::make_router(const std::string& name) {
    const bool labelled = dice_.chance(400);
    const auto capacity = dice_.chance(200) ? fmt::format(R"(,"capacity":{})", dice_.between(1, 3)) : std::string();
    const auto spec =
        fmt::format(R"("spec":{{"dns":"{}"{}{},"strategy":{{"name":"{}"}},"wildcardPolicy":"{}"}})", dns_of(name),
                    labelled ? R"(,"label":"shard=blue")" : "", capacity, dice_.pick(strategies),
                    dice_.chance(500) ? "WildcardsAllowed" : "WildcardsDisallowed");
    note(fmt::format("router {} is made: {}", name, spec));
    const auto code = send(
        "POST", routers_path,
        fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{{"name":"{}"}},{}}})", name, spec));
    if (code != 201) violate(fmt::format("a Router was answered with {}", code));
}

void RoutersWorld::change_router() {
    const std::string name = dice_.pick(router_names);
    const auto path = routers_path + "/" + name;
    if (!api_.get(path).is_object()) return make_router(name);
    switch (dice_.below(5)) {
        case 0:
            note(fmt::format("router {} goes", name));
            (void)send("DELETE", path);
            return;
        case 1:
            note(fmt::format("router {} goes and comes again", name));
            (void)send("DELETE", path);
            if (!api_.get(path).is_object()) make_router(name);
            return;
        case 2: {
            const auto capacity = dice_.chance(500) ? std::string("null") : std::to_string(dice_.between(1, 4));
            note(fmt::format("router {} has capacity {}", name, capacity));
            (void)send("PATCH", path, fmt::format(R"({{"spec":{{"capacity":{}}}}})", capacity));
            return;
        }
        default: {
            const bool drain = dice_.chance(500);
            note(fmt::format("router {} {}", name, drain ? "drains" : "does not drain"));
            (void)send("PATCH", path, fmt::format(R"({{"spec":{{"drain":{}}}}})", drain));
        }
    }
}

// --- somebody hostile ---

// Binds what he likes, twice, and with words that are not true.
void RoutersWorld::bind_badly() {
    const std::string space = dice_.pick(spaces);
    const std::string name = dice_.pick(route_names);
    const auto found = routes_.find(space + "/" + name);
    if (found == routes_.end()) return;
    const auto& route = found->second;
    const auto bind = [&](const std::string& router, const std::string& uid, const std::string& from) {
        std::string more;
        if (!router.empty()) more += fmt::format(R"(,"router":"{}","dns":"{}")", router, dns_of(router));
        if (!uid.empty()) more += fmt::format(R"(,"routeUID":"{}")", uid);
        if (!from.empty()) more += fmt::format(R"(,"from":"{}")", from);
        const auto code = send(
            "POST", fmt::format("/apis/fairlead.dev/v1/namespaces/{}/routebindings", space),
            fmt::format(
                R"({{"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{{"name":"mine"}},"routeName":"{}"{}}})",
                name, more));
        note(fmt::format("somebody binds {}/{}{}: {}", space, name, more, code));
        if (code >= 400) ++report_.refusals;
        check();
        return code;
    };
    const auto now = route.status.router;
    const auto uid = route.metadata.uid;
    const std::string other = dice_.pick(router_names);
    switch (dice_.below(5)) {
        case 0:
            if (bind(other, "00000000-0000-0000-0000-000000000000", "") < 300)
                violate(space + "/" + name + " was bound with the uid of another");
            return;
        case 1: {  // of two, one wins
            const std::string second = dice_.pick(router_names);
            const bool first = bind(other, "", "") < 300;
            if (bind(second, "", "") < 300 && first && second != other)
                violate(space + "/" + name + " was bound to two routers");
            return;
        }
        case 2:
            // What is so already may be asked for again.
            if (bind(other, uid, "four") < 300 && other != now)
                violate(space + "/" + name + " was moved from where it was not");
            return;
        case 3:
            if (!now.empty()) (void)bind(other, uid, now);
            return;
        default:
            write_past(space, name);
    }
}

// Past the binding: by an ordinary write, and by one of the status.
void RoutersWorld::write_past(const std::string& space, const std::string& name) {
    const auto path = route_path(space, name);
    const auto before = api_.get(path);
    const std::string other = dice_.pick(router_names);
    const auto status = fmt::format(
        R"({{"status":{{"phase":"scheduled","router":"{0}","dns":"{1}","host":"stolen.{1}"}}}})", other, dns_of(other));
    for (const auto& target : {path, path + "/status"}) {
        const auto code = send("PATCH", target, status);
        note(fmt::format("somebody writes {} to {}: {}", status, target, code));
    }
    const auto after = api_.get(path);
    for (const auto* member : {"status.phase", "status.router", "status.dns", "status.host"}) {
        if (json::string_at(before, member) != json::string_at(after, member))
            violate(fmt::format("{} of {}/{} was written without a RouteBinding", member, space, name));
    }
}

// --- faults ---

void RoutersWorld::disturb() {
    if (instances_.empty()) return;
    auto at = instances_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(dice_.below(instances_.size())));
    auto& instance = at->second;
    switch (dice_.below(6)) {
        case 0:
            return stop(instance, true);
        case 1:
            return stop(instance, false);
        case 2: {
            const auto away = std::chrono::milliseconds(dice_.below(20'000));
            note(fmt::format("the proxy of {} dies for {} ms", instance.name, away.count()));
            ++report_.crashes;
            return instance.proxy->die(away);
        }
        case 3:
            note(fmt::format("what is open to {} breaks", instance.name));
            return network_.disturb(instance.name);
        default: {
            if (instance.heals) return;
            const auto how = dice_.chance(500) ? Network::Cut::silent : Network::Cut::refused;
            const auto away = std::chrono::milliseconds(dice_.below(dice_.chance(300) ? 120'000 : 10'000));
            note(fmt::format("{} is cut off for {} ms{}", instance.name, away.count(),
                             how == Network::Cut::silent ? ", without a word" : ""));
            ++report_.cuts;
            network_.cut(instance.name, how);
            instance.heals = clock_.monotonic() + away;
        }
    }
}

void RoutersWorld::act() {
    const auto dot = dice_.below(26);
    if (defects_.bind_behind && dot < 3 && !routes_.empty()) {
        auto route = routes_.begin()->second;
        route.status.router = "two";
        const auto stored = api_.text(route_path(route.metadata.namespace_, route.metadata.name));
        auto object = json::parse(stored);
        if (!object) return;
        json::set_at(*object, "status.router", json::Value("two"));
        (void)api_.store().commit_and_wait({store::put({resource::route_kind().table(), routes_.begin()->first},
                                                       store::Expect::anything(), {json::serialize(*object)})});
        return;
    }
    if (defects_.admit_all && dot < 5) {
        for (const auto& [key, route] : routes_) {
            (void)send("PATCH", route_path(route.metadata.namespace_, route.metadata.name) + "/status",
                       fmt::format(R"({{"status":{{"ingress":[{{"host":"{}","routerName":"{}","conditions":)"
                                   R"([{{"type":"Admitted","status":"True"}}]}}]}}}})",
                                   route.status.host, route.status.router));
        }
        return;
    }
    if (dot < 8) return change_route();
    if (dot < 11) return change_router();
    if (dot < 13) return change_endpoints();
    if (dot < 15) return bind_badly();
    if (dot < 21) return change_lrp();
    disturb();
}

}  // namespace fairlead::simulation
