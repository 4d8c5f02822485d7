// The provider with the emulator behind it, for provider_test.cpp and trouble_test.cpp.
#pragma once

#include <regex>

#include "world.h"

namespace fairlead::gce {

class Fixture : public testing::Test {
protected:
    // One process for all: a Python and its key take longer to make than any of these tests.
    static void SetUpTestSuite() { emulator = std::make_unique<EmulatorProcess>(); }
    static void TearDownTestSuite() { emulator.reset(); }

    void SetUp() override {
        ASSERT_FALSE(emulator->url.empty());
        start();
    }
    static void start() {
        emulator->configure(R"({"reset":true})");
        emulator->ask("instance",
                      R"({"zone":"europe-west1-b","name":"vm1","ip":"10.0.0.1","aliases":["10.1.0.0/24"]})");
        emulator->ask("instance", R"({"zone":"europe-west1-c","name":"vm2","ip":"10.0.0.2"})");
    }

    static balancer::ProviderSettings settings(const std::string& installation = "prod") {
        balancer::ProviderSettings made;
        made.name = "gce-test";
        made.type = "gce";
        made.installation = installation;
        made.endpoint = emulator->url;
        made.parameters = {{"project", "acme-prod"},           {"zones", "europe-west1-b,europe-west1-c"},
                           {"region", "europe-west1"},         {"subnetwork", "default"},
                           {"operationTimeout", "60s"},        {"tokenEndpoint", emulator->url + "/token"},
                           {"metadataEndpoint", emulator->url}};
        made.secret["key.json"] = json::serialize(emulator->ask("key"));
        made.requests_per_second = 1'000;
        return made;
    }
    std::unique_ptr<balancer::Provider> make(const std::string& installation = "prod") {
        return make(settings(installation));
    }
    std::unique_ptr<balancer::Provider> make(const balancer::ProviderSettings& given) {
        auto made = make_gce(given, world.surroundings());
        EXPECT_TRUE(made) << made.error().text();
        return std::move(*made);
    }
    static balancer::Order order(const std::string& name = "shop", const std::string& uid = "uid-1") {
        return {name, uid, balancer::Scope::internet, {}};
    }

    // Hosts with and without TLS, paths, a wildcard, weights.
    static traffic::RoutingTable shop() {
        traffic::RoutingTable table;
        add_pool(table, "web", {member("10.0.0.1"), member("10.0.0.2")});
        add_pool(table, "api", {member("10.1.0.5")});
        add_pool(table, "wild", {member("10.0.0.2")});
        add_pool(table, "split", {member("10.0.0.1", "a", 30), member("10.0.0.2", "b", 10)});
        auto& secure = add_rule(table, "shop.test", "", "web");
        secure.tls = traffic::Tls::terminate;
        add_rule(table, "shop.test", "/api", "api");
        add_rule(table, "*.shop.test", "", "wild");
        add_rule(table, "api.shop.test", "/api", "api");
        auto& redirect = add_rule(table, "old.test", "", "web");
        redirect.tls = traffic::Tls::terminate;
        redirect.plain = traffic::Plain::redirect;
        add_rule(table, "split.test", "/cart", "split");
        static const auto pem = certificate_for("shop.test");
        table.certificates["shop.test"] = {pem, "ingress/shop/web"};
        return table;
    }

    void apply(balancer::Provider& provider, const traffic::RoutingTable& table) {
        const auto applied = provider.update_rules(order(), table);
        ASSERT_TRUE(applied) << applied.error().text();
        EXPECT_TRUE(applied->settled);
        for (const auto& [owner, problem] : applied->problems) ADD_FAILURE() << owner << ": " << problem;
    }

    // "404", "FOUND", "refused", or the members, with weights if there are several services.
    static std::string route(int port, const std::string& host, const std::string& path) {
        const auto to =
            emulator->ask("route?port=" + std::to_string(port) + "&host=" + host + "&path=" + percent_encode(path));
        if (json::bool_at(to, "refused")) return "refused";
        if (const auto status = json::int_at(to, "status")) return std::to_string(*status);
        if (const auto code = json::string_at(to, "redirect"); !code.empty()) return std::string(code);
        std::vector<std::string> services;
        const auto& all = json::find(to, "services")->get_array();
        for (const auto& service : all) {
            std::vector<std::string> members;
            for (const auto& each : json::find(service, "endpoints")->get_array())
                members.emplace_back(json::view(each.get_string()));
            services.push_back(join(members, " "));
            if (all.size() > 1) services.back() += "*" + std::to_string(json::int_at(service, "weight").value_or(-1));
        }
        return join(services, " | ");
    }

    static json::Value thing(const std::string& path) {
        const auto things = emulator->ask("state").at("things");
        const auto* found = things.get_object().if_contains(path);
        return found == nullptr ? json::Value() : *found;
    }
    // Paths of all that is there, with "*" for hashes.
    static std::vector<std::string> names() {
        std::vector<std::string> made;
        const auto things = emulator->ask("state").at("things");
        for (const auto& each : things.get_object())
            made.push_back(std::regex_replace(std::string(each.key()), std::regex("-([shgc])-[0-9a-f]{12}$"), "-$1-*"));
        std::sort(made.begin(), made.end());
        return made;
    }
    // All that is there, without what is another each time.
    static std::string state() {
        auto now = emulator->ask("state");
        for (auto& each : now.at("things").get_object()) {
            for (const char* name : {"id", "fingerprint", "labelFingerprint", "address", "IPAddress"})
                each.value().get_object().erase(name);
        }
        return json::serialize(now.at("things")) + json::serialize(now.at("members"));
    }

    World world;
    static inline std::unique_ptr<EmulatorProcess> emulator;
};

}  // namespace fairlead::gce
