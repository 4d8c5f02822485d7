// What is asked of a Receptor, and when: the order of stream and passes, breaks, failures.
#include "emitter/receptor_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/random.h"

namespace fairlead::emitter {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string desired_a =
    R"({"process_guid":"a","domain":"d","instances":1,"ports":[4000],"routes":{"cf-router":[{"port":4000,"hostnames":["a.test"]}]},"modification_tag":{"epoch":"e","index":1}})";
const std::string actual_a =
    R"({"process_guid":"a","domain":"d","index":0,"instance_guid":"i","state":"RUNNING","address":"10.0.0.1","ports":[{"container_port":4000,"host_port":61001}],"since":1,"modification_tag":{"epoch":"f","index":1}})";

class ReceptorSyncTest : public testing::Test {
protected:
    std::vector<std::string> step() {
        std::vector<std::string> paths;
        const auto wanted = sync.step(now);
        for (const auto& ask : wanted.asks) {
            paths.push_back(ask.path + (ask.last_event_id.empty() ? "" : " after " + ask.last_event_id));
            calls[ask.path] = ask.number;
        }
        due = wanted.due;
        dropped.insert(dropped.end(), wanted.drop.begin(), wanted.drop.end());
        return paths;
    }
    void open() { sync.stream_opened(calls.at(stream), now); }
    void tell(const std::string& text) { sync.stream_bytes(calls.at(stream), text, now); }
    void answer(const std::string& desired = "[]", const std::string& actual = "[]") {
        answer(ReceptorPart::desired, "/v1/desired_lrps?view=routing", desired);
        answer(ReceptorPart::domains, "/v1/domains", R"(["d"])");
        answer(ReceptorPart::actual, "/v1/actual_lrps?view=routing", actual);
    }
    void answer(ReceptorPart part, const std::string& path, const std::string& text) {
        PartReader reader(part);
        if (auto found = reader.add(text)) sync.found(calls.at(path), std::move(*found));
        sync.answered(calls.at(path), reader.end(), now);
    }
    std::size_t endpoints() { return book.endpoints({"", "a"}, 4000).size(); }

    const std::string stream = "/v1/events?view=routing";
    MonotonicTime now{1000s};
    MonotonicTime due{};
    Log log{LogLevel::error, LogFormat::text};
    SeededRandom random{1};
    lrp::Book book;
    ReceptorSync sync{{}, book, random, log, now};
    std::map<std::string, std::uint64_t> calls;
    std::vector<std::uint64_t> dropped;
};

TEST_F(ReceptorSyncTest, IsCertainOfFreshDomainsAsOfTheBeginOfAPassThatEndedWell) {
    step();
    open();
    step();
    now += 3s;
    answer();
    step();
    EXPECT_EQ(sync.certainty().as_of, MonotonicTime(1000s));
    EXPECT_TRUE(sync.certainty().covers("d"));
    EXPECT_FALSE(sync.certainty().covers("another"));
    now = MonotonicTime(1100s);
    step();
    sync.answered(calls.at("/v1/desired_lrps?view=routing"), fail(Errc::unavailable, "HTTP 500"), now);
    EXPECT_EQ(sync.certainty().as_of, MonotonicTime(1000s)) << "what has failed says nothing";
    now = MonotonicTime(1200s);
    step();
    now += 1s;
    answer();
    step();
    EXPECT_EQ(sync.certainty().as_of, MonotonicTime(1200s));
    now = MonotonicTime(1300s);
    step();
    answer("[" + desired_a + R"(,{"process_guid":7}])");
    step();
    EXPECT_EQ(sync.figures().passes, 3U);
    EXPECT_EQ(sync.certainty().as_of, MonotonicTime(1200s)) << "what cannot be read may be there";
}

TEST_F(ReceptorSyncTest, OpensTheStreamBeforeItReads) {
    EXPECT_THAT(step(), ElementsAre(stream));
    EXPECT_THAT(step(), IsEmpty());
    open();
    EXPECT_THAT(step(), ElementsAre("/v1/desired_lrps?view=routing", "/v1/actual_lrps?view=routing", "/v1/domains"));
    EXPECT_FALSE(sync.complete());
    answer("[" + desired_a + "]", "[" + actual_a + "]");
    EXPECT_TRUE(sync.complete());
    EXPECT_TRUE(sync.current());
    EXPECT_EQ(endpoints(), 1U);
    EXPECT_THAT(step(), IsEmpty());
    EXPECT_EQ(due, now + 60s);
    now += 60s;
    EXPECT_EQ(step().size(), 3U);
}

TEST_F(ReceptorSyncTest, ReadsWithoutTheStreamWhenItDoesNotOpen) {
    step();
    now += 2s;
    EXPECT_EQ(step().size(), 3U);
    answer();
    EXPECT_TRUE(sync.complete());
    EXPECT_FALSE(sync.current()) << "nobody tells of changes";
}

TEST_F(ReceptorSyncTest, ABreakIsFollowedByAPassAtOnce) {
    step();
    open();
    step();
    answer();
    now += 10s;
    tell("id: 41\nevent: desired_lrp_created\ndata: {\"desired_lrp\":" + desired_a + "}\n\n");
    sync.stream_ended(calls.at(stream), {Errc::unavailable, {}, "reset"}, now);
    EXPECT_FALSE(sync.current());
    EXPECT_THAT(step(), ElementsAre(stream + " after 41"));
    open();
    EXPECT_EQ(step().size(), 3U);
    EXPECT_FALSE(sync.current());
    answer("[" + desired_a + "]");
    EXPECT_TRUE(sync.current());
}

TEST_F(ReceptorSyncTest, ItIsSureOnceAPassHasBegunAndEndedSinceItWasAsked) {
    step();
    open();
    step();
    sync.confirm(now += 1s);
    answer("[" + desired_a + "]");
    EXPECT_TRUE(sync.current());
    EXPECT_FALSE(sync.confirmed()) << "that pass had begun before";
    EXPECT_EQ(step().size(), 3U);
    sync.answered(calls.at("/v1/domains"), fail(Errc::unavailable, "HTTP 500"), now);
    EXPECT_FALSE(sync.confirmed());
    now += 15s;
    EXPECT_EQ(step().size(), 3U);
    answer("[" + desired_a + "]");
    EXPECT_TRUE(sync.confirmed());
    EXPECT_THAT(step(), IsEmpty());
}

TEST_F(ReceptorSyncTest, AFailedPassKeepsEverythingAndWhatCameMeanwhile) {
    step();
    open();
    step();
    answer("[" + desired_a + "]", "[" + actual_a + "]");
    now += 60s;
    step();
    tell("event: actual_lrp_removed\ndata: {\"actual_lrp\":" + actual_a + "}\n\n");
    sync.answered(calls.at("/v1/domains"), fail(Errc::unavailable, "HTTP 500"), now);
    EXPECT_EQ(sync.figures().failed_passes, 1U);
    EXPECT_FALSE(sync.current());
    EXPECT_TRUE(book.knows({"", "a"}));
    EXPECT_EQ(endpoints(), 0U) << "the event counts whatever becomes of the pass";
    step();
    EXPECT_THAT(dropped,
                ElementsAre(calls.at("/v1/desired_lrps?view=routing"), calls.at("/v1/actual_lrps?view=routing")));
    answer();  // of calls that were given up
    EXPECT_TRUE(book.knows({"", "a"}));
    EXPECT_LE(due, now + 1s);
    now = due;
    EXPECT_EQ(step().size(), 3U);
}

TEST_F(ReceptorSyncTest, APassIsReadInPiecesAndEventsComeBetween) {
    step();
    open();
    step();
    answer("[" + desired_a + "]", "[" + actual_a + "]");
    now += 60s;
    step();
    const auto text = "[" + desired_a + "]";
    PartReader reader(ReceptorPart::desired);
    sync.found(calls.at("/v1/desired_lrps?view=routing"), *reader.add(text.substr(0, 50)));
    tell("event: actual_lrp_removed\ndata: {\"actual_lrp\":" + actual_a + "}\n\n");
    EXPECT_EQ(endpoints(), 0U);
    sync.found(calls.at("/v1/desired_lrps?view=routing"), *reader.add(text.substr(50)));
    sync.answered(calls.at("/v1/desired_lrps?view=routing"), reader.end(), now);
    answer(ReceptorPart::actual, "/v1/actual_lrps?view=routing", "[" + actual_a + "]");
    EXPECT_EQ(endpoints(), 0U) << "it was read before the event, or after";
    EXPECT_EQ(sync.figures().passes, 1U);
    answer(ReceptorPart::domains, "/v1/domains", R"(["d"])");
    EXPECT_EQ(sync.figures().passes, 2U);
    EXPECT_EQ(endpoints(), 0U);
    EXPECT_TRUE(book.knows({"", "a"}));
}

TEST_F(ReceptorSyncTest, AnAnswerThatEndsInTheMiddleFailsThePass) {
    step();
    open();
    step();
    answer("[" + desired_a, "[" + actual_a + "]");
    EXPECT_FALSE(sync.complete());
    EXPECT_EQ(sync.figures().failed_passes, 1U);
}

TEST_F(ReceptorSyncTest, AnAnswerThatIsNoListFailsThePass) {
    step();
    open();
    step();
    answer("{}");
    EXPECT_FALSE(sync.complete());
    EXPECT_NE(sync.problem().find("/v1/desired_lrps?view=routing"), std::string::npos);
}

TEST_F(ReceptorSyncTest, WhatCannotBeReadAsksForAPass) {
    step();
    open();
    step();
    answer();
    now += 30s;
    tell("event: actual_lrp_created\ndata: {\"actual\n\n");
    EXPECT_EQ(step().size(), 3U);
    answer();
    now += 10s;
    tell("event: resync\ndata: {}\n\n");
    EXPECT_EQ(step().size(), 3U);
}

TEST_F(ReceptorSyncTest, ASilentPassIsGivenUp) {
    step();
    open();
    step();
    now += 60s;
    step();
    EXPECT_EQ(sync.figures().failed_passes, 1U);
    EXPECT_EQ(dropped.size(), 3U);
}

}  // namespace
}  // namespace fairlead::emitter
