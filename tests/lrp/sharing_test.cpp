// Processes that share a name: what it is then, who is overruled, and who has to hear of a change.
#include "lrp/sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrps.h"

namespace fairlead::lrp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::set<std::string> put(Sharing& sharing, const std::string& lrp, std::vector<HttpRoute> routes) {
    auto desired = process("p");
    desired.routes.http = std::move(routes);
    return sharing.put(lrp, &desired);
}

std::vector<std::string> problems(const Sharing& sharing, const std::string& lrp) {
    return sharing.problems(lrp, [](const std::string&) { return true; });
}

struct Row {
    const char* what;
    HttpRoute first, second;   // of a/first and a/second
    const char *told, *other;  // to the first, and to the second; empty: nothing
};

TEST(Sharing, TellsWhoIsOverruled) {
    const auto route = [](auto change) {
        HttpRoute made{.port = 4000, .names = {"x.test"}};
        change(made);
        return made;
    };
    const auto plain = route([](auto&) {});
    const auto ssl = route([](auto& r) { r.ssl = true; });
    const auto http2 = route([](auto& r) { r.http2 = true; });
    const auto east = route([](auto& r) { r.route_service = "https://east.test"; });
    const auto west = route([](auto& r) { r.route_service = "https://west.test"; });
    const auto fewest = route([](auto& r) { r.options = R"({"loadbalancing":"least-connection"})"; });
    const Row rows[] = {
        {"Alike", ssl, ssl, "", ""},
        {"SslWins", plain, ssl, "x.test: answers on TLS only: another route wants ssl", ""},
        {"OneServiceWins", east, plain, "",
         "x.test: goes through the route service https://east.test, which another route wants"},
        {"TheFirstServiceCounts", east, west, "",
         "x.test: goes through the route service https://east.test, which another route wants"},
        {"OptionsWin", plain, fewest,
         R"(x.test: has the options {"loadbalancing":"least-connection"} of another route)", ""},
        {"Http2OnlyIfAllSayIt", http2, plain,
         "x.test: is asked by HTTP/1.1 but by gorouters: another route does not say http2", ""},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.what);
        Sharing sharing;
        put(sharing, "a/first", {row.first});
        put(sharing, "a/second", {row.second});
        EXPECT_THAT(problems(sharing, "a/first"),
                    *row.told == 0 ? testing::Matcher<std::vector<std::string>>(IsEmpty()) : ElementsAre(row.told));
        EXPECT_THAT(problems(sharing, "a/second"),
                    *row.other == 0 ? testing::Matcher<std::vector<std::string>>(IsEmpty()) : ElementsAre(row.other));
        sharing.put("a/second", nullptr);
        EXPECT_THAT(problems(sharing, "a/first"), IsEmpty()) << "alone it has what it wants";
    }
}

TEST(Sharing, OnlyThoseCountThatAreServedAtTheSamePlace) {
    Sharing sharing;
    put(sharing, "a/x", {{.port = 4000, .names = {"x.test"}}});
    put(sharing, "a/y", {{.port = 4000, .names = {"x.test"}, .ssl = true}});
    EXPECT_EQ(problems(sharing, "a/x").size(), 1U);
    EXPECT_THAT(sharing.problems("a/x", [](const std::string& other) { return other != "a/y"; }), IsEmpty());
}

TEST(Sharing, SaysWhoseNamesAreDifferentNow) {
    Sharing sharing;
    const HttpRoute plain{.port = 4000, .names = {"x.test"}};
    const HttpRoute ssl{.port = 4000, .names = {"x.test"}, .ssl = true};
    EXPECT_THAT(put(sharing, "a/x", {plain}), IsEmpty()) << "nobody else has it";
    EXPECT_THAT(put(sharing, "a/y", {plain}), IsEmpty()) << "of the same namespace, and wants the same";
    EXPECT_THAT(put(sharing, "b/z", {plain}), ElementsAre("a/x", "a/y")) << "another namespace has it";
    EXPECT_THAT(put(sharing, "b/z", {plain}), IsEmpty()) << "as before";
    EXPECT_THAT(put(sharing, "a/y", {ssl}), ElementsAre("a/x", "b/z"));
    EXPECT_THAT(sharing.at_odds(), ElementsAre("a/x", "a/y", "b/z"));
    EXPECT_THAT(sharing.put("a/y", nullptr), ElementsAre("a/x", "b/z"));
    EXPECT_THAT(sharing.at_odds(), IsEmpty());
    EXPECT_THAT(put(sharing, "b/z", {{.port = 4000, .names = {"other.test"}}}), ElementsAre("a/x"));
    EXPECT_EQ(sharing.sharers("x.test").size(), 1U);
    sharing.put("a/x", nullptr);
    EXPECT_TRUE(sharing.sharers("x.test").empty());
}

TEST(Sharing, OneProcessCanBeAtOddsWithItself) {
    Sharing sharing;
    put(sharing, "a/x", {{.port = 4000, .names = {"x.test"}}, {.port = 5000, .names = {"x.test"}, .ssl = true}});
    EXPECT_THAT(problems(sharing, "a/x"), ElementsAre("x.test: answers on TLS only: another route wants ssl"));
}

}  // namespace
}  // namespace fairlead::lrp
