// Which namespace has a host of a balancer that several share.
#include "ingress/hosts.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "base/text.h"
#include "ingress/table.h"
#include "route/world.h"

namespace fairlead::ingress {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Rules as "host/path"; without a host any. A default backend is "default".
resource::Ingress make(const std::string& key, const std::string& created, const std::string& rules,
                       const std::string& tls = "") {
    const auto slash = key.find('/');
    const std::string backend = "{service: {name: web, port: {number: 80}}}";
    std::string list, more;
    for (const auto& each : split(rules, ' ')) {
        if (each == "default") {
            more = "defaultBackend: " + backend + ", ";
            continue;
        }
        const auto at = each.find('/');
        list += fmt::format("{}{{host: '{}', http: {{paths: [{{path: '{}', pathType: Prefix, backend: {}}}]}}}}",
                            list.empty() ? "" : ", ", each.substr(0, at), each.substr(at), backend);
    }
    if (!tls.empty()) more += fmt::format("tls: [{{hosts: ['{}']}}], ", tls);
    return route::read<resource::Ingress>(
        fmt::format("{{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {{name: {}, namespace: {}, "
                    "creationTimestamp: '2026-01-0{}T00:00:00Z'}}, spec: {{{}rules: [{}]}}}}",
                    key.substr(slash + 1), key.substr(0, slash), created, more, list));
}

route::Whole whole(const std::vector<resource::Ingress>& ingresses) {
    static const route::TestWorld world;
    std::vector<const resource::Ingress*> list;
    for (const auto& each : ingresses) list.push_back(&each);
    return whole_of(list, world.world());
}

// "shop.test/cart shop/web" for each rule; "tls" if it has that.
std::vector<std::string> rules(const route::Whole& whole) {
    std::vector<std::string> list;
    for (const auto& [key, rule] : whole.table.rules) {
        list.push_back(fmt::format("{} {}{}", rule_text(key), rule.owner.substr(owner_prefix.size()),
                                   rule.tls == traffic::Tls::terminate ? " tls" : ""));
    }
    return list;
}

// What the balancer has against them; Services are nobody's fault here.
std::vector<std::string> problems(const route::Whole& whole) {
    std::vector<std::string> list;
    for (const auto& [key, problem] : whole.problems) {
        if (problem.reason != "NoService")
            list.push_back(fmt::format("{} {}: {}", key, problem.reason, problem.message));
    }
    return list;
}

TEST(Hosts, TheOldestNamespaceHasAHostWithAllItsPaths) {
    const auto made = whole({make("blog/take", "2", "shop.test/cart blog.test/"), make("shop/web", "1", "shop.test/"),
                             make("shop/more", "3", "shop.test/more")});
    EXPECT_THAT(rules(made), ElementsAre("blog.test blog/take", "shop.test shop/web", "shop.test/more shop/more"));
    ASSERT_EQ(made.problems.count("blog/take"), 1U);
    EXPECT_EQ(made.table.pools.size(), 3U);
}

struct RefusedCase {
    std::string name, mine, theirs, message;
};
class Refused : public testing::TestWithParam<RefusedCase> {};

TEST_P(Refused, SaysWhoHasIt) {
    const auto& param = GetParam();
    Hosts hosts;
    const auto older = make("shop/web", "1", param.theirs);
    const auto mine = make("blog/mine", "2", param.mine);
    (void)hosts.set("blog/mine", &mine);
    (void)hosts.set("shop/web", &older);
    route::Part part;
    hosts.keep_own(mine, part);
    EXPECT_EQ(part.problems.empty() ? "" : part.problems.front().reason + ": " + part.problems.front().message,
              param.message);
}

INSTANTIATE_TEST_SUITE_P(
    All, Refused,
    testing::Values(
        RefusedCase{
            "TheSameHost", "shop.test/x", "shop.test/",
            "HostAlreadyClaimed: shop.test on this balancer is of namespace shop: its older Ingress shop/web has "
            "it"},
        RefusedCase{
            "BelowAWildcard", "www.shop.test/", "*.shop.test/",
            "HostAlreadyClaimed: www.shop.test on this balancer is of namespace shop: its older Ingress shop/web "
            "has *.shop.test"},
        RefusedCase{"AWildcardAbove", "*.shop.test/", "www.shop.test/",
                    "HostAlreadyClaimed: *.shop.test on this balancer is of namespace shop: its older Ingress shop/web "
                    "has www.shop.test"},
        RefusedCase{"AnyHost", "/x", "default",
                    "HostAlreadyClaimed: hosts that no Ingress names on this balancer are of namespace shop: its older "
                    "Ingress shop/web has them"},
        RefusedCase{"ADefaultBesideHosts", "blog.test/ default", "default", ""},
        RefusedCase{"ADefaultAlone", "default", "shop.test/", ""},
        RefusedCase{"OtherHosts", "blog.test/", "shop.test/", ""},
        RefusedCase{
            "Several", "a.test/ b.test/ c.test/ d.test/", "a.test/ b.test/ c.test/ d.test/",
            "HostAlreadyClaimed: a.test on this balancer is of namespace shop: its older Ingress shop/web has it; "
            "b.test on this balancer is of namespace shop: its older Ingress shop/web has it; c.test on this "
            "balancer is of namespace shop: its older Ingress shop/web has it and 1 more hosts"}),
    [](const auto& each) { return each.param.name; });

TEST(Hosts, WhoeverIsConcernedIsLookedAtAgain) {
    Hosts hosts;
    const auto web = make("shop/web", "2", "shop.test/");
    const auto more = make("shop/more", "3", "shop.test/more");
    const auto old = make("blog/old", "1", "shop.test/");
    EXPECT_THAT(hosts.set("shop/web", &web), IsEmpty());
    EXPECT_THAT(hosts.set("shop/more", &more), IsEmpty()) << "nothing is different for the first";
    EXPECT_THAT(hosts.set("blog/old", &old), ElementsAre("shop/more", "shop/web"));
    EXPECT_THAT(hosts.set("blog/old", &old), IsEmpty());
    EXPECT_THAT(hosts.set("blog/old", nullptr), ElementsAre("shop/more", "shop/web"));
}

TEST(Hosts, ADefaultBackendIsForItsOwnHostsAndForThoseOfNobody) {
    const auto made = whole({make("shop/web", "2", "shop.test/cart default"), make("shop/late", "3", "shop.test/"),
                             make("blog/any", "1", "default"), make("blog/web", "1", "blog.test/x")});
    EXPECT_THAT(rules(made),
                ElementsAre("* blog/any", "blog.test/x blog/web", "shop.test shop/late", "shop.test/cart shop/web"))
        << "what is written down comes before a default";
    EXPECT_THAT(problems(made), IsEmpty());
    const auto owner = [&](const char* host, const char* path) {
        const auto* rule = match(made.table, host, path);
        return rule == nullptr ? std::string("404") : rule->owner.substr(owner_prefix.size());
    };
    EXPECT_EQ(owner("blog.test", "/unknown"), "404");
    EXPECT_EQ(owner("nobody.test", "/"), "blog/any");
}

TEST(Hosts, ADefaultBackendBehindAPortAsksForNoHost) {
    const auto behind = [](const std::string& key, const std::string& created, const char* port) {
        auto made = make(key, created, "default");
        made.metadata.annotations["fairlead.dev/tcp-port"] = port;
        return made;
    };
    const auto made = whole({behind("shop/one", "1", "5432"), behind("blog/two", "2", "5433")});
    EXPECT_THAT(rules(made), IsEmpty());
    EXPECT_THAT(made.table.ports, testing::SizeIs(2));
    EXPECT_THAT(problems(made), IsEmpty());
    EXPECT_THAT(
        problems(whole({behind("shop/one", "1", "5432"), behind("shop/mine", "2", "5432")})),
        ElementsAre("shop/mine RuleTaken: tcp port 5432 on this balancer is served for the older Ingress shop/one"));
}

TEST(Hosts, AHostHasTlsOnAllPathsOrOnNone) {
    const auto made =
        whole({make("shop/plain", "1", "shop.test/a other.test/"), make("shop/safe", "2", "shop.test/b", "shop.test")});
    EXPECT_THAT(rules(made),
                ElementsAre("other.test shop/plain", "shop.test/a shop/plain tls", "shop.test/b shop/safe tls"));
}

TEST(Hosts, WithinANamespaceTheOldestHasARule) {
    const auto made = whole(
        {make("shop/b", "1", "shop.test/x"), make("shop/a", "1", "shop.test/x"), make("shop/c", "1", "shop.test/")});
    EXPECT_THAT(rules(made), ElementsAre("shop.test shop/c", "shop.test/x shop/a")) << "names decide within a second";
    EXPECT_THAT(made.parts, testing::SizeIs(3));
}

}  // namespace
}  // namespace fairlead::ingress
