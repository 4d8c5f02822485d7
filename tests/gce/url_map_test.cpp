// Rules as URL maps, and whether what is there does what is wanted.
#include "gce/url_map.h"

#include <gtest/gtest.h>

#include "gce/things.h"

namespace fairlead::gce {
namespace {

traffic::RuleKey key(std::string host, std::string path) {
    traffic::RuleKey made;
    made.wildcard = host.starts_with("*.");
    made.host = made.wildcard ? host.substr(2) : std::move(host);
    made.path = std::move(path);
    return made;
}

Target to(const std::string& service) { return {Target::What::services, {{service, 1}}}; }

// "host path -> target" of each rule of a map, in its order; "host -> target" for what is left.
std::vector<std::string> lines(const json::Object& map) {
    const auto shown = [](const json::Value& where, const std::string& service, const std::string& action,
                          const std::string& redirect) -> std::string {
        if (json::find(where, redirect) != nullptr) return "redirect";
        if (const auto status = json::int_at(where, action + ".faultInjectionPolicy.abort.httpStatus"))
            return std::to_string(*status);
        if (const auto* weighted = json::find(where, action + ".weightedBackendServices"))
            return json::serialize(*weighted);
        return std::string(json::string_at(where, service));
    };
    std::vector<std::string> made;
    std::map<std::string, json::Value> matchers;
    for (const auto& each : map.at("pathMatchers").get_array())
        matchers.emplace(std::string(json::string_at(each, "name")), each);
    for (const auto& rule : map.at("hostRules").get_array()) {
        const auto& matcher = matchers.at(std::string(json::string_at(rule, "pathMatcher")));
        const auto hosts = json::serialize(*json::find(rule, "hosts"));
        for (const auto& path : json::find(matcher, "pathRules")->get_array())
            made.push_back(hosts + " " + json::serialize(*json::find(path, "paths")) + " -> " +
                           shown(path, "service", "routeAction", "urlRedirect"));
        made.push_back(hosts + " -> " + shown(matcher, "defaultService", "defaultRouteAction", "defaultUrlRedirect"));
    }
    std::sort(made.begin(), made.end());
    made.push_back("-> " + shown(map, "defaultService", "defaultRouteAction", "defaultUrlRedirect"));
    return made;
}

TEST(GceUrlMap, OfRules) {
    using Lines = std::vector<std::string>;
    const struct {
        const char* name;
        Targets targets;
        Lines expected;
    } rows[] = {
        {"nothing", {}, {"-> 404"}},
        {"a whole host", {{key("a.test", ""), to("a")}}, {R"(["a.test"] -> a)", "-> 404"}},
        {"a path matches itself and what lies below",
         {{key("a.test", "/cart"), to("a")}},
         {R"(["a.test"] ["/cart","/cart/*"] -> a)", R"(["a.test"] -> 404)", "-> 404"}},
        {"a wildcard", {{key("*.a.test", ""), to("a")}}, {R"(["*.a.test"] -> a)", "-> 404"}},
        {"hosts that are treated alike share a matcher",
         {{key("a.test", ""), to("a")}, {key("b.test", ""), to("a")}},
         {R"(["a.test","b.test"] -> a)", "-> 404"}},
        {"redirect, and what nobody serves",
         {{key("a.test", ""), {Target::What::redirect, {}}}, {key("a.test", "/x"), {}}},
         {R"(["a.test"] ["/x","/x/*"] -> 404)", R"(["a.test"] -> redirect)", "-> 404"}},
        {"weights",
         {{key("a.test", ""), {Target::What::services, {{"a", 3}, {"b", 0}}}}},
         {R"(["a.test"] -> [{"backendService":"a","weight":3},{"backendService":"b","weight":0}])", "-> 404"}},
        {"a host falls back to its wildcard where it has no rule of its own",
         {{key("*.a.test", ""), to("wild")},
          {key("*.a.test", "/x/y"), to("deep")},
          {key("www.a.test", "/x"), to("own")}},
         {R"(["*.a.test"] ["/x/y","/x/y/*"] -> deep)", R"(["*.a.test"] -> wild)",
          R"(["www.a.test"] ["/x","/x/*"] -> own)", R"(["www.a.test"] -> wild)", "-> 404"}},
        {"any host is for those that are not named",
         {{key("", "/x"), to("any")}, {key("a.test", "/y"), to("a")}, {key("b.test", ""), to("b")}},
         {R"(["*"] ["/x","/x/*"] -> any)", R"(["*"] -> 404)", R"(["a.test"] ["/y","/y/*"] -> a)",
          R"(["a.test"] -> 404)", R"(["b.test"] -> b)", "-> 404"}},
    };
    for (const auto& row : rows) {
        auto expected = row.expected;
        std::sort(expected.begin(), expected.end() - 1);
        EXPECT_EQ(lines(url_map(row.targets, "none")), expected) << row.name;
    }
}

TEST(GceUrlMap, KeysThatNoUrlMapTakes) {
    const struct {
        const char *host, *path, *field;
    } rows[] = {{"a.test", "/x", ""},      {"", "", ""},
                {"a_b.test", "", "host"},  {"a.test", "/*", "path"},
                {"a.test", "x", "path"},   {"a.test", "/a?b", "path"},
                {"a.test", "/a b", "path"}};
    for (const auto& row : rows) {
        const auto good = check_key(key(row.host, row.path));
        EXPECT_EQ(good ? "" : good.error().field, row.field) << row.host << row.path;
    }
    EXPECT_FALSE(check_key(key("a.test", "/" + std::string(1'022, 'a'))));
}

struct KeyWithExact {
    bool exact = false;
};
struct KeyWithout {};
TEST(GceUrlMap, ExactPathsCountWhereRulesHaveThem) {
    EXPECT_TRUE(is_exact(KeyWithExact{true}));
    EXPECT_FALSE(is_exact(KeyWithExact{false}));
    EXPECT_FALSE(is_exact(KeyWithout{}));
}

TEST(GceThings, SatisfiesWhatIsWanted) {
    const struct {
        const char *name, *present, *wanted;
        bool good;
    } rows[] = {
        {"what the service filled in", R"({"a":1,"id":"7"})", R"({"a":1})", true},
        {"another value", R"({"a":1})", R"({"a":2})", false},
        {"missing", R"({})", R"({"a":2})", false},
        {"left out because it is nothing", R"({})", R"({"a":0,"b":[],"c":false,"d":""})", true},
        {"a whole number is one", R"({"a":100.0})", R"({"a":100})", true},
        {"full addresses", R"({"u":"https://h/compute/v1/projects/p/global/urlMaps/m"})",
         R"({"u":"projects/p/global/urlMaps/m"})", true},
        {"another thing", R"({"u":"https://h/compute/v1/projects/p/global/urlMaps/n"})",
         R"({"u":"projects/p/global/urlMaps/m"})", false},
        {"lists by order and length", R"({"l":[1,2]})", R"({"l":[1]})", false},
        {"inside of lists", R"({"l":[{"a":1,"x":2}]})", R"({"l":[{"a":1}]})", true},
        {"a redirect that is wanted no more", R"({"l":[{"service":"a","urlRedirect":{"x":1}}]})",
         R"({"l":[{"service":"a"}]})", false},
        {"rules that are wanted no more", R"({"pathRules":[{}]})", R"({})", false},
    };
    for (const auto& row : rows)
        EXPECT_EQ(satisfies(json::parse(row.present).value(), json::parse(row.wanted).value()), row.good) << row.name;
}

}  // namespace
}  // namespace fairlead::gce
