#include "lookup/host_cache.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace fairlead::lookup {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

class HostCacheTest : public testing::Test, public Resolver {
protected:
    Result<Addresses> resolve(const std::string&) override {
        ++questions;
        return answer;
    }
    // What is told at once, or else after the question was asked.
    Result<Texts> find(const std::string& host) {
        std::optional<Result<Texts>> told;
        cache.find(host, [&](Result<Texts> found) { told = std::move(found); });
        while (cache.run().more) {
        }
        EXPECT_TRUE(told);
        return told ? *told : fail(Errc::internal, "not told");
    }
    Result<Addresses> answer = Addresses{{"192.0.2.1"}, 30s};
    int questions = 0;
    ManualClock clock;
    HostCache cache{*this, clock};
};

TEST_F(HostCacheTest, asks_once_within_the_ttl) {
    EXPECT_EQ(find("a").value(), Texts{"192.0.2.1"});
    clock.advance(29s);
    EXPECT_EQ(find("a").value(), Texts{"192.0.2.1"});
    EXPECT_EQ(questions, 1);
    clock.advance(1s);
    answer = Addresses{{"192.0.2.2"}, 30s};
    EXPECT_EQ(find("a").value(), Texts{"192.0.2.1"}) << "nobody waits for what is known";
    EXPECT_EQ(questions, 2);
    EXPECT_EQ(find("a").value(), Texts{"192.0.2.2"});
}

TEST_F(HostCacheTest, keeps_the_last_addresses_while_no_resolver_answers) {
    EXPECT_TRUE(find("a"));
    answer = fail(Errc::timeout, "no answer");
    clock.advance(31s);
    EXPECT_TRUE(find("a"));
    EXPECT_EQ(find("a").value(), Texts{"192.0.2.1"});
    EXPECT_EQ(find("b").error().code, Errc::timeout) << "nothing is known of it";
    answer = fail(Errc::not_found, "a does not exist");
    clock.advance(15s);
    (void)find("a");
    EXPECT_EQ(find("a").error().code, Errc::not_found);
}

TEST_F(HostCacheTest, lets_a_bounded_number_wait) {
    int told = 0, refused = 0;
    for (std::size_t i = 0; i <= HostCache::max_waiting; ++i) {
        cache.find(fmt::format("h{}", i), [&](const Result<Texts>& found) { ++(found ? told : refused); });
    }
    EXPECT_EQ(refused, 1);
    while (cache.run().more) {
    }
    EXPECT_EQ(told, static_cast<int>(HostCache::max_waiting));
}

}  // namespace
}  // namespace fairlead::lookup
