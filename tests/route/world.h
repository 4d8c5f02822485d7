// What the tests of this layer share: objects written as YAML, and a world made of them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/text.h"
#include "json/yaml.h"
#include "route/table.h"

namespace fairlead::route {

template <class T>
T read(std::string_view yaml) {
    const auto documents = json::parse_yaml(yaml);
    EXPECT_TRUE(documents) << yaml;
    auto object = resource::decode<T>(documents->front().value);
    EXPECT_TRUE(object) << (object ? "" : object.error().text());
    return std::move(*object);
}

// Services web (two endpoints), next (one) and tls (port names, a second subset); routes are "shop/cart".
class TestWorld {
public:
    std::map<std::string, resource::Service, std::less<>> services;
    std::map<std::string, resource::Endpoints, std::less<>> endpoints;
    std::map<std::string, resource::Secret, std::less<>> secrets;
    std::set<std::pair<std::string, std::uint16_t>> down;
    WallTime now = *from_rfc3339("2026-03-01T12:00:00Z");

    TestWorld() {
        service("web", "ports: [{port: 80}]");
        ends("web",
             "[{addresses: [{ip: 10.0.0.1}, {ip: 10.0.0.2}], notReadyAddresses: [{ip: 10.0.0.9}], ports: "
             "[{port: 8080}]}]");
        service("next", "ports: [{port: 80}]");
        ends("next", "[{addresses: [{ip: 10.0.1.1}], ports: [{port: 8080}]}]");
        service("named", "ports: [{name: http, port: 80}, {name: admin, port: 81}]");
        ends("named",
             "[{addresses: [{ip: 10.0.2.1}], ports: [{name: http, port: 8000}, {name: admin, port: 8001}]}, "
             "{addresses: [{ip: 10.0.2.2}], ports: [{name: http, port: 9000}]}]");
    }
    void service(const std::string& name, const std::string& spec) {
        services["shop/" + name] = read<resource::Service>("{apiVersion: v1, kind: Service, metadata: {name: " + name +
                                                           ", namespace: shop}, spec: {" + spec + "}}");
    }
    void ends(const std::string& name, const std::string& subsets) {
        endpoints["shop/" + name] =
            read<resource::Endpoints>("{apiVersion: v1, kind: Endpoints, metadata: {name: " + name +
                                      ", namespace: shop}, subsets: " + subsets + "}");
    }
    [[nodiscard]] World world() const {
        World world;
        world.service = [this](std::string_view key) { return find(services, key); };
        world.endpoints = [this](std::string_view key) { return find(endpoints, key); };
        world.secret = [this](std::string_view key) { return find(secrets, key); };
        world.state = [this](std::string_view address, std::uint16_t port) {
            return down.contains({std::string(address), port}) ? traffic::MemberState::down
                                                               : traffic::MemberState::ready;
        };
        world.now = now;
        return world;
    }

private:
    template <class T>
    static const T* find(const std::map<std::string, T, std::less<>>& objects, std::string_view key) {
        const auto found = objects.find(key);
        return found != objects.end() ? &found->second : nullptr;
    }
};

inline constexpr std::string_view admitted_on_edge =
    "[{host: cart.example.com, routerName: edge, conditions: [{type: Admitted, status: 'True'}]}]";

// A Route that is bound to the router "edge" and admitted there; flow maps without their braces.
inline resource::Route route_with(const std::string& spec, const std::string& annotations = "",
                                  const std::string& more_status = "") {
    return read<resource::Route>(
        "{apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: cart, namespace: shop, annotations: {" +
        annotations + "}}, spec: {host: cart.example.com, " + spec +
        "}, status: {phase: scheduled, host: Cart.Example.com, dns: edge.test, router: edge, ingress: " +
        std::string(admitted_on_edge) + (more_status.empty() ? "" : ", ") + more_status + "}}");
}

}  // namespace fairlead::route
