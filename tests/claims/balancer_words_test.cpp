// What balancers and their Ingresses say: why nobody serves, and who is refused.
#include "claims_world.h"

namespace fairlead::controller {
namespace {

using testing::HasSubstr;

TEST_F(ClaimsTest, ABalancerWhoseAddressNoServerHasSaysSo) {
    make_balancer("a", "1Gi", R"(,"listen":{"address":"203.0.113.9"})");
    settle();
    const auto message = [&] { return get(balancers_path, "a").at("status.message"); };
    EXPECT_EQ(message(), "waits for the server that has the address 203.0.113.9");
    pass(11s, 1s);
    EXPECT_EQ(message(), "no server has the address 203.0.113.9");
}

TEST_F(ClaimsTest, InstancesThatAreNotReadyAreNamed) {
    make_balancer("a", "1Gi");
    for (const auto* name : {"a-1", "a-2", "a-3", "a-4", "a-5"}) report("a", false, name);
    settle();
    const auto message = [&] { return get(balancers_path, "a").at("status.message"); };
    EXPECT_THAT(message(), testing::MatchesRegex(R"(instance a-1 \([0-9.]+\): not ready; instance a-2 .* and 2 more)"));
    pass(11min, 10s);
    EXPECT_THAT(message(), testing::MatchesRegex(R"(instance a-1 \([0-9.]+\) has not reported within its lease; .*)"));
}

TEST_F(ClaimsTest, AnIngressSaysThatNobodyServesItAndItsNameLeadsOn) {
    make_balancer("a", "1Gi", R"(,"listen":{"address":"203.0.113.9"})");
    report("a");
    make_ingress("web", std::string(names_a));
    settle();
    report("a");
    settle();
    ASSERT_THAT(condition(ingresses_path, "web", "Programmed"), HasSubstr("True InForce"));
    const auto points = [&](std::string_view path, const std::string& name, const char* field) {
        const auto object = get(path, name).value;
        return json::serialize(*json::find(object, field));
    };
    const auto before = points(ingresses_path, "web", "status.loadBalancer.ingress");
    pass(11s, 1s);
    report("a", false);
    settle();
    const auto said = condition(ingresses_path, "web", "Programmed");
    EXPECT_THAT(said, HasSubstr("False BalancerNotReady: balancer a is Pending: "));
    EXPECT_THAT(said, HasSubstr("no server has the address 203.0.113.9; instance a-1 ("));
    EXPECT_THAT(said, HasSubstr("; names lead on to 192.0.2."));
    EXPECT_THAT(condition(balancers_path, "a", "Programmed"), HasSubstr("False NotRunning: nobody serves"));
    EXPECT_EQ(points(ingresses_path, "web", "status.loadBalancer.ingress"), before);
    report("a");
    settle();
    EXPECT_THAT(condition(ingresses_path, "web", "Programmed"), HasSubstr("True InForce"));
    // Nobody else is known to be there: then the name does not lead there either.
    pass(11min, 10s);
    remove(instances_path, "a-1");
    settle();
    EXPECT_THAT(condition(ingresses_path, "web", "Programmed"), HasSubstr("False BalancerNotReady"));
    EXPECT_EQ(json::find(get(ingresses_path, "web").value, "status.loadBalancer.ingress"), nullptr);
}

TEST_F(ClaimsTest, ABalancerSaysWhichOfItsIngressesAreRefused) {
    make_balancer("a", "1Gi");
    report("a");
    make_ingress("web", std::string(names_a));
    make_ingress("late", std::string(names_a));
    settle();
    report("a");
    settle();
    ASSERT_THAT(condition(balancers_path, "a", "Programmed"), HasSubstr("True InForce"));
    const auto problem = [&](const char* list) {
        const auto told = world.merge(fmt::format("{}/a-1/status", instances_path),
                                      fmt::format(R"({{"status":{{"problems":{}}}}})", list));
        ASSERT_EQ(told.code, 200) << told.body;
        settle();
    };
    problem(R"([{"route":"shop/late","reason":"RuleTaken","message":"x.test/ is served for shop/web"}])");
    EXPECT_EQ(condition(balancers_path, "a", "Programmed"),
              "True PartlyRefused: 1 of 2 Ingresses are served as they say; refused, or not served whole: shop/late "
              "(RuleTaken: x.test/ is served for shop/web)");
    EXPECT_EQ(condition(ingresses_path, "late", "Programmed"), "False RuleTaken: x.test/ is served for shop/web");
    problem(R"([{"route":"shop/late","reason":"NoEndpoints","message":"service shop/web has no endpoints"}])");
    EXPECT_THAT(condition(balancers_path, "a", "Programmed"), HasSubstr("True InForce"));
}

}  // namespace
}  // namespace fairlead::controller
