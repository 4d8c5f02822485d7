// What a strategy webhook is asked, and what its settings and answers mean.
#include "controller/route_webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::controller {
namespace {

using testing::HasSubstr;

struct ChoiceRow {
    std::string name, answer, error;
};

TEST(Webhook, AnswersAreChecked) {
    const std::vector<traffic::Candidate> routers{{"a", 0, {}, 0}, {"b", 1, 5, 0}};
    EXPECT_EQ(*webhook_choice(R"({"router":"b","because":"it is nice"})", routers), "b");
    const std::vector<ChoiceRow> rows{{"no JSON", "b", "no JSON"},
                                      {"no member", "{}", R"(no "router")"},
                                      {"a number", R"({"router":7})", R"(no "router")"},
                                      {"another's", R"({"router":"c"})", "none of those that may take the route"}};
    for (const auto& row : rows) {
        const auto chosen = webhook_choice(row.answer, routers);
        ASSERT_FALSE(chosen) << row.name;
        EXPECT_THAT(chosen.error().text(), HasSubstr(row.error)) << row.name;
    }
}

TEST(Webhook, KeysStayHere) {
    const auto route = json::parse(R"({"metadata":{"name":"r"},"spec":{"tls":{"key":"SECRET","termination":"edge"}}})");
    EXPECT_THAT(webhook_body(*route, {}), testing::Not(HasSubstr("SECRET")));
}

TEST(Webhook, SettingsAreChecked) {
    using Parameters = std::map<std::string, std::string>;
    EXPECT_EQ(webhook_settings({{"url", "https://x/"}})->fallback, "round-robin");
    const std::vector<std::pair<Parameters, std::string>> rows{
        {{}, "parameters.url"},
        {{{"url", "ftp://x"}}, "parameters.url: 'ftp://x' is no http or https URL"},
        {{{"url", "http://x"}, {"timeout", "1h"}}, "parameters.timeout: '1h' is no duration up to 30s"},
        {{{"url", "http://x"}, {"fallback", "random"}}, "parameters.fallback: 'random' is none of"},
        {{{"url", "http://x"}, {"uri", "y"}}, "parameters: 'uri' is none of url, ca, timeout, fallback"},
    };
    for (const auto& [parameters, error] : rows) {
        const auto settings = webhook_settings(parameters);
        ASSERT_FALSE(settings) << error;
        EXPECT_THAT(settings.error().text(), HasSubstr(error));
    }
}

}  // namespace
}  // namespace fairlead::controller
