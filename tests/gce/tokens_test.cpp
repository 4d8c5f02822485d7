// Tokens: whose they are asked for, how long they are kept, and what is never said.
#include "gce/tokens.h"

#include <gmock/gmock.h>

#include "gce/api.h"
#include "world.h"

namespace fairlead::gce {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Answers {
    std::vector<net::ClientRequest> asked;
    int status = 200;
    std::string body = R"({"access_token":"secret-1","expires_in":3600})";
    bool flavor = true;
    TokenCall call() {
        return [this](const std::string&, const net::ClientRequest& request) -> Result<net::Response> {
            asked.push_back(request);
            net::Response response;
            response.status = status;
            response.body = body;
            if (flavor) response.headers.set("Metadata-Flavor", "Google");
            return response;
        };
    }
};

TEST(GceTokens, AreKeptUntilShortlyBeforeTheyEnd) {
    ManualClock clock;
    Answers answers;
    auto tokens = Tokens::make({}, clock, answers.call()).value();
    EXPECT_EQ(tokens.get().value(), "secret-1");
    clock.advance(54min);
    EXPECT_EQ(tokens.get().value(), "secret-1");
    EXPECT_EQ(answers.asked.size(), 1U);
    EXPECT_EQ(answers.asked[0].headers.get("Metadata-Flavor"), "Google");
    clock.advance(2min);
    answers.body = R"({"access_token":"secret-2","expires_in":3600})";
    EXPECT_EQ(tokens.get().value(), "secret-2");
    // A server that is away for a while: the old one is good for its last minutes, and no longer.
    clock.advance(56min);
    answers.status = 503;
    EXPECT_EQ(tokens.get().value(), "secret-2");
    clock.advance(5min);
    EXPECT_EQ(tokens.get().error().code, Errc::unavailable);
}

TEST(GceTokens, ShortOnesAreUsedForHalfTheirLife) {
    ManualClock clock;
    Answers answers;
    answers.body = R"({"access_token":"t","expires_in":60})";
    auto tokens = Tokens::make({}, clock, answers.call()).value();
    (void)tokens.get();
    clock.advance(29s);
    (void)tokens.get();
    EXPECT_EQ(answers.asked.size(), 1U);
    clock.advance(2s);
    (void)tokens.get();
    EXPECT_EQ(answers.asked.size(), 2U);
}

TEST(GceTokens, DropsTheOneThatWasRefusedAlone) {
    ManualClock clock;
    Answers answers;
    auto tokens = Tokens::make({}, clock, answers.call()).value();
    (void)tokens.get();
    tokens.drop("another");
    (void)tokens.get();
    EXPECT_EQ(answers.asked.size(), 1U);
    tokens.drop("secret-1");
    (void)tokens.get();
    EXPECT_EQ(answers.asked.size(), 2U);
}

TEST(GceTokens, WhatIsNoTokenIsAnError) {
    const struct {
        int status;
        const char* body;
        bool flavor;
        Errc code;
    } rows[] = {
        {200, "<html>", true, Errc::unavailable},
        {200, R"({"access_token":"secret-x"})", true, Errc::unavailable},
        {200, R"({"access_token":"","expires_in":3600})", true, Errc::unavailable},
        {200, R"({"access_token":"secret-x","expires_in":3600})", false, Errc::unavailable},
        {429, "{}", true, Errc::unavailable},
        {500, "", true, Errc::unavailable},
        {404, R"({"error":"not_found"})", true, Errc::invalid},
    };
    for (const auto& row : rows) {
        ManualClock clock;
        Answers answers;
        answers.status = row.status;
        answers.body = row.body;
        answers.flavor = row.flavor;
        auto tokens = Tokens::make({}, clock, answers.call()).value();
        const auto token = tokens.get();
        ASSERT_FALSE(token) << row.status << row.body;
        EXPECT_EQ(token.error().code, row.code) << row.status << row.body;
        EXPECT_THAT(token.error().text(), Not(HasSubstr("secret-x")));
    }
}

TEST(GceServiceAccount, WrongKeysAreRefusedWithoutShowingThem) {
    const struct {
        const char *text, *said;
    } rows[] = {
        {"hush", "no JSON"},
        {"[]", "no JSON object"},
        {R"({"type":"authorized_user","client_email":"hush"})", "type"},
        {R"({"type":"service_account"})", "client_email"},
        {R"({"type":"service_account","client_email":"a@b","private_key":"hush"})", "private_key"},
    };
    for (const auto& row : rows) {
        const auto parsed = parse_service_account(row.text);
        ASSERT_FALSE(parsed) << row.text;
        EXPECT_EQ(parsed.error().code, Errc::invalid);
        EXPECT_EQ(parsed.error().field, "secret");
        EXPECT_THAT(parsed.error().message, HasSubstr(row.said));
        EXPECT_THAT(parsed.error().message, Not(HasSubstr("hush")));
    }
}

TEST(GceAccess, TokensGoNowhereInTheOpen) {
    const struct {
        const char *endpoint, *token_endpoint;
        const char* field;
    } rows[] = {
        {"", "", ""},
        {"https://proxy.test/", "https://sts.test/token", ""},
        {"http://127.0.0.1:8080", "http://localhost/token", ""},
        {"http://proxy.test", "", "endpoint"},
        {"http://127.0.0.1.evil.test", "", "endpoint"},
        {"", "http://sts.test/token", "parameters.tokenEndpoint"},
    };
    for (const auto& row : rows) {
        balancer::ProviderSettings settings;
        settings.installation = "prod";
        settings.endpoint = row.endpoint;
        settings.parameters = {{"project", "acme"}};
        if (*row.token_endpoint != 0) settings.parameters["tokenEndpoint"] = row.token_endpoint;
        const auto access = access_of(settings);
        EXPECT_EQ(access ? "" : access.error().field, row.field) << row.endpoint << row.token_endpoint;
    }
}

TEST(GceApi, TroublesByReason) {
    const struct {
        int status;
        const char* reason;
        Trouble trouble;
    } rows[] = {
        {409, "alreadyExists", Trouble::exists},
        {409, "RESOURCE_ALREADY_EXISTS", Trouble::exists},
        {404, "notFound", Trouble::missing},
        {400, "resourceInUseByAnotherResource", Trouble::in_use},
        {400, "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", Trouble::in_use},
        {400, "resourceNotReady", Trouble::not_ready},
        {412, "conditionNotMet", Trouble::stale},
        {403, "quotaExceeded", Trouble::quota},
        {403, "QUOTA_EXCEEDED", Trouble::quota},
        {403, "rateLimitExceeded", Trouble::passing},
        {429, "", Trouble::passing},
        {500, "", Trouble::passing},
        {503, "backendError", Trouble::passing},
        {403, "forbidden", Trouble::access},
        {401, "authError", Trouble::access},
        {400, "invalid", Trouble::refused},
        {400, "sslCertificateKeyMismatch", Trouble::refused},
    };
    for (const auto& row : rows) EXPECT_EQ(trouble_of(row.status, row.reason), row.trouble) << row.status << row.reason;
    const auto quota = error_of(Trouble::quota, "insert", "Quota 'BACKEND_SERVICES' exceeded.  Limit: 9.0 globally.");
    EXPECT_EQ(quota.error.code, Errc::too_large);
    EXPECT_EQ(quota.error.field, "BACKEND_SERVICES");
}

}  // namespace
}  // namespace fairlead::gce
