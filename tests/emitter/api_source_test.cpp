// What the book is told by lists and watches of our API.
#include "emitter/api_source.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/random.h"
#include "lrp/book.h"

namespace fairlead::emitter {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// Lists what it has; watches say nothing until they break.
class ListedApi final : public cluster::Link {
public:
    std::unique_ptr<cluster::Call> list(std::string path, std::function<void(Result<std::string>)> done) override {
        const auto& items = path.find("/desiredlrps") != std::string::npos  ? desired
                            : path.find("/actuallrps") != std::string::npos ? actual
                                                                            : leases;
        done(fmt::format(R"({{"kind":"List","metadata":{{"resourceVersion":"{}"}},"items":[{}]}})", ++revision, items));
        return nullptr;
    }
    std::unique_ptr<cluster::Call> watch(std::string, std::function<void(std::string_view)>,
                                         std::function<void(Result<void>)> done) override {
        ends.push_back(std::move(done));
        return nullptr;
    }
    void break_watches() {
        for (const auto& end : std::exchange(ends, {})) end(fail(Errc::compacted, "too old resource version"));
    }
    std::string desired, actual, leases;
    std::vector<std::function<void(Result<void>)>> ends;
    int revision = 100;
};

std::string process(std::string_view uid, std::string_view name) {
    return fmt::format(
        R"({{"metadata":{{"namespace":"diego","name":"web","uid":"{}","resourceVersion":"7"}},"spec":{{"process_guid":"web","domain":"d","instances":1,"ports":[4000],"routes":{{"cf-router":[{{"port":4000,"hostnames":["{}"]}}]}}}}}})",
        uid, name);
}

class ApiSourceTest : public testing::Test {
protected:
    void pass(std::chrono::milliseconds time) {
        for (auto at = 0ms; at <= time; at += 100ms) {
            while (source.step().more) {
            }
            clock.advance(100ms);
        }
    }
    std::vector<std::string> names() {
        std::vector<std::string> names;
        const auto desired = book.desired({"diego", "web"});
        for (const auto& route : desired->routes.http) {
            names.insert(names.end(), route.names.begin(), route.names.end());
        }
        return names;
    }
    ManualClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    ListedApi api;
    lrp::Book book;
    ApiSource source{"", api, book, clock, random, log, [] {}};
};

// Found by the simulator (world emitter, seed 413): the routes of both led to it, for good.
TEST_F(ApiSourceTest, WhatWasDeletedAndMadeAgainWhileTheWatchWasAwayIsTheNewOneAlone) {
    api.desired = process("u1", "old.test");
    pass(1s);
    ASSERT_TRUE(source.complete());
    EXPECT_THAT(names(), ElementsAre("old.test"));
    api.desired = process("u2", "new.test");
    api.break_watches();
    pass(5s);
    EXPECT_THAT(names(), ElementsAre("new.test"));
}

TEST_F(ApiSourceTest, ItIsCertainOfAllDomainsButThoseWhoseLeaseHasRunOut) {
    const auto lease = [](std::string_view domain, std::string_view renewed) {
        return fmt::format(
            R"({{"metadata":{{"namespace":"diego","name":"domain-{0}","annotations":{{"fairlead.dev/receptor-domain":"{0}"}}}},"spec":{{"renewTime":"{1}","leaseDurationSeconds":60}}}})",
            domain, renewed);
    };
    api.leases = lease("old", "1960-01-01T00:00:00.000000Z") + "," + lease("new", "2200-01-01T00:00:00.000000Z");
    pass(1s);
    const auto certainty = source.certainty();
    EXPECT_FALSE(certainty.covers("old"));
    EXPECT_TRUE(certainty.covers("new"));
    EXPECT_TRUE(certainty.covers("never announced"));
    EXPECT_LE(certainty.as_of, clock.monotonic() - 25s) << "so long a watch may say nothing";
    EXPECT_GE(certainty.as_of, clock.monotonic() - 40s);
    api.desired = R"({"metadata":{"namespace":"diego","name":"web"},"spec":{}})";
    api.break_watches();
    pass(5s);
    EXPECT_EQ(source.certainty().as_of, MonotonicTime{}) << "what cannot be read may be there";
}

}  // namespace
}  // namespace fairlead::emitter
