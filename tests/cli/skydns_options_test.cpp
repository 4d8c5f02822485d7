// Flags about the etcd of a SkyDNS beside us: what is taken, and what is refused with which words.
#include "cli/skydns_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

struct RefusedCase {
    std::string test;
    SkydnsArguments arguments;
    std::string flag, words;
};

SkydnsArguments with(void (*change)(SkydnsArguments&)) {
    SkydnsArguments arguments;
    arguments.etcd = "http://127.0.0.1:2379";
    change(arguments);
    return arguments;
}

class Refused : public testing::TestWithParam<RefusedCase> {};

TEST_P(Refused, NamesFlagAndRule) {
    const auto options = skydns_options(GetParam().arguments);
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().field, GetParam().flag);
    EXPECT_THAT(options.error().message, testing::HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, Refused,
    testing::Values(
        RefusedCase{"no_scheme", with([](auto& to) { to.etcd = "127.0.0.1:2379"; }), "--skydns-etcd", "127.0.0.1:2379"},
        RefusedCase{"empty_piece", with([](auto& to) { to.etcd = "http://a:1,"; }), "--skydns-etcd",
                    "http://HOST:PORT"},
        RefusedCase{"path", with([](auto& to) { to.etcd = "http://a:1/v3"; }), "--skydns-etcd", "http://a:1/v3"},
        RefusedCase{"prefix", with([](auto& to) { to.prefix = "skydns/"; }), "--skydns-prefix", "skydns/"},
        RefusedCase{"short_lease", with([](auto& to) { to.lease = "4s"; }), "--skydns-lease", "5s to 24h"},
        RefusedCase{"odd_lease", with([](auto& to) { to.lease = "5500ms"; }), "--skydns-lease", "whole seconds"},
        RefusedCase{"half_a_pair", with([](auto& to) { to.certificate = "a.pem"; }), "--skydns-etcd-cert", "other of"},
        RefusedCase{"half_a_login", with([](auto& to) { to.password_file = "p"; }), "--skydns-etcd-password-file",
                    "other of"},
        RefusedCase{"nowhere", with([](auto& to) {
                        to.etcd.reset();
                        to.prefix = "/sky";
                    }),
                    "--skydns-etcd", "is missing"}),
    [](const auto& row) { return row.param.test; });

TEST(SkydnsOptionsTest, TakesSeveralEndpoints) {
    const auto options = skydns_options(with([](auto& to) {
        to.etcd = "http://one:2379/,https://[2001:db8::1]:2379";
        to.lease = "2m";
    }));
    ASSERT_TRUE(options);
    EXPECT_THAT(options->endpoints, testing::ElementsAre("http://one:2379", "https://[2001:db8::1]:2379"));
    EXPECT_EQ(options->lease, std::chrono::seconds(120));
    EXPECT_EQ(options->prefix, "/skydns");
    EXPECT_TRUE(skydns_options({})->endpoints.empty());
}

}  // namespace
}  // namespace fairlead::cli
