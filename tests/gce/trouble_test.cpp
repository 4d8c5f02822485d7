// The provider against an emulator that makes trouble: throttled, slow, behind, cut off, out of quota, without a token.
#include <gmock/gmock.h>

#include "gce_fixture.h"

namespace fairlead::gce {
namespace {

using balancer::State;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class GceTrouble : public Fixture {
protected:
    // Again and again, as a controller does, until it is done.
    void settle(balancer::Provider& provider, const traffic::RoutingTable& table) {
        for (int tries = 0; tries < 20; ++tries) {
            const auto applied = provider.update_rules(order(), table);
            if (applied && applied->settled) return;
        }
        ADD_FAILURE() << "it does not settle";
    }
};

TEST_F(GceTrouble, ThrottlingAndServerErrorsPass) {
    emulator->configure(R"({"fail":[
        {"operation":"list","status":403,"reason":"rateLimitExceeded","times":2},
        {"operation":"insert","status":429,"reason":"rateLimitExceeded","times":3},
        {"operation":"insert","collection":"urlMaps","status":503,"reason":"backendError","times":2},
        {"operation":"follow","status":500,"reason":"internalError","times":2}]})");
    auto provider = make();
    apply(*provider, shop());
    EXPECT_THAT(world.metrics.expose(), HasSubstr("fairlead_gce_throttled_total 5"));
    EXPECT_EQ(route(80, "shop.test", "/"), "10.0.0.1:8080 10.0.0.2:8080");
}

TEST_F(GceTrouble, PatienceEnds) {
    emulator->configure(R"({"fail":[{"operation":"list","status":429,"reason":"rateLimitExceeded","times":1000}]})");
    auto provider = make();
    const auto seen = provider->create(order());
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, Errc::unavailable);
    EXPECT_LE(world.clock.waited(), 90s);
    EXPECT_GE(world.clock.waited(), 2s);
    EXPECT_LE(emulator->requests("list"), 8);
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(GceTrouble, StoppingEndsTheWait) {
    emulator->configure(R"({"fail":[{"operation":"list","status":503,"times":1000}]})");
    auto surroundings = world.surroundings();
    surroundings.wait = [](std::chrono::nanoseconds) { return false; };
    auto provider = std::move(make_gce(settings(), surroundings).value());
    EXPECT_THAT(provider->list().error().message, HasSubstr("stopping"));
    EXPECT_EQ(emulator->requests("list"), 1);
}

TEST_F(GceTrouble, CallsHaveATimeLimit) {
    emulator->configure(R"({"delay":0.4})");
    auto given = settings();
    given.timeout = 40ms;
    auto provider = make(given);
    const auto began = std::chrono::steady_clock::now();
    const auto seen = provider->list();
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, Errc::timeout);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
    emulator->configure(R"({"delay":0})");
}

TEST_F(GceTrouble, WhatIsNotReadyIsTriedAgain) {
    emulator->configure(R"({"fail":[
        {"operation":"insert","collection":"urlMaps","status":400,"reason":"resourceNotReady","times":3},
        {"operation":"attachNetworkEndpoints","status":400,"reason":"resourceNotReady","times":2}]})");
    auto provider = make();
    apply(*provider, shop());
    EXPECT_GE(world.clock.waited(), 1s);
    EXPECT_EQ(route(80, "shop.test", "/"), "10.0.0.1:8080 10.0.0.2:8080");
    // For ever: it is asked for again, and not without end.
    emulator->configure(R"({"fail":[{"operation":"update","status":400,"reason":"resourceNotReady","times":1000}]})");
    const auto applied = provider->update_rules(order(), {});
    ASSERT_TRUE(applied) << applied.error().text();
    EXPECT_FALSE(applied->settled);
    EXPECT_LE(emulator->requests("update"), 20);
}

TEST_F(GceTrouble, NothingSecretIsLogged) {
    testing::internal::CaptureStderr();
    std::string said;
    {
        Log log(LogLevel::debug, LogFormat::text);
        auto surroundings = world.surroundings();
        const balancer::Surroundings loud{surroundings.clock, surroundings.random, log, surroundings.metrics,
                                          surroundings.wait};
        emulator->configure(R"({"fail":[{"operation":"insert","status":503,"times":2}]})");
        auto provider = std::move(make_gce(settings(), loud).value());
        EXPECT_TRUE(provider->update_rules(order(), shop()));
        emulator->configure(R"({"revoke":true})");
        EXPECT_TRUE(provider->remove(order()));
    }
    said = testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr("gce change"));
    EXPECT_THAT(said, HasSubstr("tried again"));
    for (const char* secret : {"ya29.", "PRIVATE", "assertion", "Bearer"}) EXPECT_THAT(said, Not(HasSubstr(secret)));
}

TEST_F(GceTrouble, QuotasAreNamed) {
    emulator->configure(R"({"quotas":{"BACKEND_SERVICES":3}})");
    auto provider = make();
    const auto applied = provider->update_rules(order(), shop());
    ASSERT_FALSE(applied);
    EXPECT_EQ(applied.error().code, Errc::too_large);
    EXPECT_EQ(applied.error().field, "BACKEND_SERVICES");
    EXPECT_THAT(applied.error().message, HasSubstr("Limit: 3.0"));
    emulator->configure(R"({"quotas":{}})");
    apply(*provider, shop());
}

TEST_F(GceTrouble, SlowOperationsAreAskedForAgain) {
    auto provider = make();
    emulator->configure(R"({"polls":1000})");
    const auto seen = provider->create(order());
    ASSERT_TRUE(seen) << seen.error().text();
    EXPECT_EQ(seen->state, State::pending);
    EXPECT_LE(world.clock.waited(), 65s);
    // Nothing is begun twice while it is under way.
    const auto again = provider->create(order());
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->state, State::pending);
    EXPECT_FALSE(provider->remove(order()).value_or(true)) << "what is being made is not gone";
    emulator->configure(R"({"settle":true,"polls":2})");
    EXPECT_EQ(provider->create(order())->state, State::running);
    EXPECT_TRUE(provider->remove(order()).value());
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(GceTrouble, ErrorsAtTheEndOfOperations) {
    emulator->configure(R"({"late":true})");
    auto provider = make();
    auto table = shop();
    table.certificates["bad.test"] = {
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "ingress/shop/bad"};
    const auto applied = provider->update_rules(order(), table);
    ASSERT_TRUE(applied) << applied.error().text();
    EXPECT_TRUE(applied->settled);
    EXPECT_THAT(applied->problems.at("ingress/shop/bad"), HasSubstr("could not be parsed"));
    EXPECT_EQ(route(443, "shop.test", "/"), "10.0.0.1:8080 10.0.0.2:8080");
    EXPECT_TRUE(provider->remove(order()).value());
    EXPECT_THAT(names(), IsEmpty());
}

// Lists show what was true a while ago: things that are there are missing, gone ones are shown, fingerprints are old.
TEST_F(GceTrouble, ListsThatAreBehind) {
    emulator->configure(R"({"lag":25})");
    auto provider = make();
    ASSERT_TRUE(provider->create(order()));
    auto table = shop();
    settle(*provider, table);
    add_rule(table, "new.test", "", "api");
    settle(*provider, table);
    EXPECT_EQ(route(80, "new.test", "/"), "10.1.0.5:8080");
    EXPECT_EQ(route(80, "shop.test", "/"), "10.0.0.1:8080 10.0.0.2:8080");
    int tries = 0;
    while (!provider->remove(order()).value_or(false) && ++tries < 20) {
    }
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(GceTrouble, OldFingerprintsAreReadAgain) {
    auto provider = make();
    apply(*provider, shop());
    auto table = shop();
    add_rule(table, "new.test", "", "api");
    emulator->configure(R"({"fail":[{"operation":"update","status":412,"reason":"conditionNotMet","times":2}]})");
    apply(*provider, table);
    EXPECT_EQ(emulator->requests("update"), 4);  // two maps, each of which was refused once
    EXPECT_EQ(route(80, "new.test", "/"), "10.1.0.5:8080");
}

TEST_F(GceTrouble, PagesOfOne) {
    emulator->configure(R"({"page":1})");
    auto provider = make();
    apply(*provider, shop());
    const auto changes = emulator->changes();
    apply(*provider, shop());
    EXPECT_EQ(emulator->changes(), changes);
    EXPECT_TRUE(provider->remove(order()).value());
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(GceTrouble, TokensEnd) {
    auto provider = make();
    ASSERT_TRUE(provider->create(order()));
    EXPECT_EQ(emulator->requests("token"), 1);
    emulator->configure(R"({"revoke":true})");
    apply(*provider, shop());
    EXPECT_EQ(emulator->requests("token"), 2);
    // Both clocks an hour on, but for a few minutes: a new one before the old one ends.
    world.clock.ahead = 56min;
    emulator->configure(R"({"clock":3360})");
    apply(*provider, shop());
    EXPECT_EQ(emulator->requests("token"), 3);
}

TEST_F(GceTrouble, MetadataServer) {
    auto given = settings();
    given.secret.clear();
    auto provider = make(given);
    ASSERT_TRUE(provider->create(order()));
    EXPECT_EQ(emulator->requests("metadata"), 1);
    EXPECT_EQ(emulator->requests("token"), 0);
}

TEST_F(GceTrouble, KeysThatAreNotTaken) {
    auto given = settings();
    auto key = json::parse(given.secret["key.json"]).value();
    key.get_object()["client_email"] = "somebody@else.test";
    given.secret["key.json"] = json::serialize(key);
    auto provider = make(given);
    const auto seen = provider->create(order());
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, Errc::invalid);
    EXPECT_EQ(seen.error().field, "secret");
    EXPECT_THAT(seen.error().message, HasSubstr("invalid_grant"));
    EXPECT_THAT(seen.error().message, Not(HasSubstr("PRIVATE")));
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(GceTrouble, ZonesThatAreNotThere) {
    auto provider = make();
    auto wanted = order();
    wanted.parameters = {{"zones", "mars-west1-a"}};
    EXPECT_EQ(provider->update_rules(wanted, shop()).error().field, "parameters.zones");
}

// The answer to each change in turn gets lost: it is not made twice, and all ends the same.
TEST_F(GceTrouble, AnyAnswerMayGetLost) {
    apply(*make(), shop());
    const auto changes = emulator->changes();
    const auto expected = state();
    ASSERT_GT(changes, 20);
    std::int64_t repeated = 0;
    for (std::int64_t n = 1; n <= changes; ++n) {
        start();
        emulator->configure(R"({"lose":)" + std::to_string(n) + "}");
        apply(*make(), shop());
        EXPECT_EQ(state(), expected) << "change " << n;
        EXPECT_EQ(emulator->changes(), changes + 1) << "change " << n;
        repeated += emulator->requests("repeated");
    }
    // A repeated request is known by its id; the labels of the two global rules are set without one.
    EXPECT_EQ(repeated, changes - 2);
}

// We die at each request in turn, between any two; whoever comes after us ends in the same state, and then with
// nothing.
TEST_F(GceTrouble, DeathAtAnyRequest) {
    auto table = shop();
    table.rules.erase(table.rules.begin());
    apply(*make(), shop());
    const auto made = emulator->number("count");
    apply(*make(), table);
    const auto expected = state();
    const auto all = emulator->number("count");
    for (std::int64_t n = 1; n <= all; n += n < made ? 7 : 3) {
        start();
        emulator->configure(R"({"cut":)" + std::to_string(n) + "}");
        {
            auto dying = make();
            if (dying->update_rules(order(), shop())) (void)dying->update_rules(order(), table);
        }
        emulator->configure(R"({"cut":null})");
        auto next = make();
        settle(*next, table);
        EXPECT_EQ(state(), expected) << "request " << n;
        int tries = 0;
        while (!next->remove(order()).value_or(false) && ++tries < 10) {
        }
        EXPECT_THAT(names(), IsEmpty()) << "request " << n;
    }
}

}  // namespace
}  // namespace fairlead::gce
