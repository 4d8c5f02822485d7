// The file of --balancers: what is read, and what is said of mistakes.
#include "balancer/settings_file.h"

#include "things.h"

namespace fairlead::balancer {
namespace {

SecretSources sources() {
    return {[](const std::string& path) -> Result<std::string> {
                if (path == "/run/aws") return std::string("accessKeyId: AKID\nsecretAccessKey: hidden\nversion: 1\n");
                return fail(Errc::not_found, path, "no such file");
            },
            [](const std::string& name) { return name == "TOKEN" ? std::optional<std::string>("t") : std::nullopt; }};
}

TEST(SettingsFile, IsReadWhole) {
    const auto settings = parse_settings(R"(
installation: prod
defaultProvider: metal
providers:
- name: dublin
  type: aws
  endpoint: http://127.0.0.1:1
  parameters: {region: eu-west-1}
  secretFile: /run/aws
  secretEnvironment: {sessionToken: TOKEN}
  requestsPerSecond: 2.5
  timeout: 4s
  capacity: {network-bandwidth: 1Gi}
- name: metal
  type: bareMetal
  proxy: Nginx
  addresses: [192.0.2.1, "2001:db8::1"]
  http: 8080
  https: 8443
  reclaimPolicy: Recycle
)",
                                         sources());
    ASSERT_TRUE(settings) << settings.error().text();
    ASSERT_EQ(settings->providers.size(), 2U);
    EXPECT_EQ(settings->default_provider, "metal");
    const auto& aws = settings->providers[0];
    EXPECT_EQ(aws.installation, "prod");
    EXPECT_EQ(aws.secret, (Texts{{"accessKeyId", "AKID"}, {"secretAccessKey", "hidden"}, {"sessionToken", "t"}}));
    EXPECT_EQ(aws.timeout, std::chrono::seconds(4));
    EXPECT_EQ(aws.requests_per_second, 2.5);
    EXPECT_EQ(aws.capacity, amounts({{"network-bandwidth", "1Gi"}}));
    EXPECT_EQ(aws.reclaim_policy, "Delete");
    const auto& metal = settings->providers[1];
    EXPECT_EQ(metal.proxy, "Nginx");
    EXPECT_EQ(metal.http, 8080);
    EXPECT_EQ(metal.addresses.size(), 2U);
    EXPECT_EQ(metal.reclaim_policy, "Recycle");
}

struct MistakeCase {
    std::string name, text, error;
};
class Mistakes : public testing::TestWithParam<MistakeCase> {};

TEST_P(Mistakes, AreNamed) {
    const auto settings = parse_settings(GetParam().text, sources());
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().text(), GetParam().error);
}

std::string one(const std::string& more) { return "providers: [{name: a, type: aws, " + more + "}]"; }

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    testing::Values(
        MistakeCase{"NoList", "{}", "providers: must be a list of providers"},
        MistakeCase{"NoMapping", "[]", "must be a mapping"},
        MistakeCase{"Type", "providers: [{name: a, type: azure}]",
                    "providers[0].type: 'azure' is not one of aws, gce, bareMetal"},
        MistakeCase{"Timeout", one("timeout: 15x"), "providers[0].timeout: '15x' is no duration such as 15s"},
        MistakeCase{"Rate", one("requestsPerSecond: 0"),
                    "providers[0].requestsPerSecond: 0 is no number from 0.01 to 10000"},
        MistakeCase{"Capacity", one("capacity: {bw: much}"),
                    "providers[0].capacity.bw: \"much\" is no amount such as 100Mi or 2k"},
        MistakeCase{"Policy", one("reclaimPolicy: Forget"),
                    "providers[0].reclaimPolicy: 'Forget' is not one of Retain, Recycle, Delete"},
        MistakeCase{"SecretFile", one("secretFile: /nowhere"),
                    "providers[0].secretFile: '/nowhere' cannot be used: /nowhere: no such file"},
        MistakeCase{"Environment", one("secretEnvironment: {k: NONE}"),
                    "providers[0].secretEnvironment.k: the environment has no variable 'NONE'"},
        MistakeCase{"Default", "{providers: [], defaultProvider: a}",
                    "defaultProvider: 'a' is not one of the providers"},
        MistakeCase{"NoInstallation", one("timeout: 15s"),
                    "installation: must say who we are: by it installations that share an account know what is whose"},
        MistakeCase{"Twice", "providers: [{name: a, type: aws}, {name: a, type: gce}]",
                    "providers[1].name: 'a' is the name of another provider"},
        MistakeCase{"NoAddresses", "providers: [{name: a, type: bareMetal}]",
                    "providers[0].addresses: a bareMetal provider needs at least one"},
        MistakeCase{"SamePorts", "providers: [{name: a, type: bareMetal, addresses: [192.0.2.1], http: 443}]",
                    "providers[0].https: must differ from http"}),
    [](const auto& each) { return each.param.name; });

TEST(SettingsFile, NamesWhatIsNotASetting) {
    const auto settings = parse_settings(one("regoin: x"), sources());
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().field, "providers[0].regoin");
}

}  // namespace
}  // namespace fairlead::balancer
