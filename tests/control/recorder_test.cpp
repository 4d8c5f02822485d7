// Events: counted, combined, cut short, and never in anybody's way.
#include "control/recorder.h"

#include <fmt/core.h>

#include "control/controlled.h"

namespace fairlead::control {
namespace {

class Broken final : public Transport {
public:
    explicit Broken(Transport& inner) : inner_(inner) {}
    Result<json::Value> send(const Request& request) override {
        if (code) return fail(*code, "broken");
        return inner_.send(request);
    }
    std::optional<Errc> code;

private:
    Transport& inner_;
};

class Recorder : public testing::Test {
protected:
    void SetUp() override { about = reference_to(world.make_route("a").value); }
    void say(std::string_view reason, std::string_view message) {
        recorder.record(about, EventType::warning, reason, message);
    }
    void flush() {
        while (sink.ready()) sink.flush();
    }
    json::Array events() { return world.get("/api/v1/namespaces/default/events").items(); }

    Controlled world;
    Metrics metrics;
    Broken transport{world.client};
    EventSink sink{Client(transport, "test", nullptr, world.clock), *world.kinds.find("", "v1", "events"), world.clock,
                   world.manager_random, metrics};
    EventRecorder recorder{sink, "tester"};
    resource::ObjectReference about;
};

TEST_F(Recorder, WritesWhatKubectlShows) {
    say("Broken", "it broke");
    flush();
    ASSERT_EQ(events().size(), 1U);
    const auto event = events()[0];
    EXPECT_TRUE(json::string_at(event, "metadata.name").starts_with("a."));
    EXPECT_EQ(json::string_at(event, "involvedObject.kind"), "Route");
    EXPECT_EQ(json::string_at(event, "involvedObject.uid"), about.uid);
    EXPECT_EQ(json::string_at(event, "type"), "Warning");
    EXPECT_EQ(json::string_at(event, "reason"), "Broken");
    EXPECT_EQ(json::string_at(event, "message"), "it broke");
    EXPECT_EQ(json::string_at(event, "source.component"), "tester");
    EXPECT_EQ(json::string_at(event, "firstTimestamp"), "2023-11-14T22:13:20Z");
    EXPECT_EQ(json::int_at(event, "count"), 1);
}

TEST_F(Recorder, TheSameAgainIsCounted) {
    say("Broken", "it broke");
    flush();
    world.clock.advance(std::chrono::seconds(40));
    say("Broken", "it broke");
    say("Broken", "it broke");
    flush();
    ASSERT_EQ(events().size(), 1U);
    EXPECT_EQ(json::int_at(events()[0], "count"), 3);
    EXPECT_EQ(json::string_at(events()[0], "firstTimestamp"), "2023-11-14T22:13:20Z");
    EXPECT_EQ(json::string_at(events()[0], "lastTimestamp"), "2023-11-14T22:14:00Z");
}

TEST_F(Recorder, AnEventThatHasEndedIsMadeAnew) {
    say("Broken", "it broke");
    flush();
    world.remove("/api/v1/namespaces/default/events/" + std::string(json::string_at(events()[0], "metadata.name")));
    say("Broken", "it broke");
    flush();
    ASSERT_EQ(events().size(), 1U);
    EXPECT_EQ(json::int_at(events()[0], "count"), 1);
}

TEST_F(Recorder, ManySimilarOnesBecomeOne) {
    for (int i = 0; i < 20; ++i) say("Broken", fmt::format("part {} broke", i));
    flush();
    ASSERT_EQ(events().size(), 11U) << "ten of their own, then one for all others";
    int combined = 0;
    for (const auto& event : events()) {
        if (!json::string_at(event, "message").starts_with("(combined from similar events): ")) continue;
        ++combined;
        EXPECT_EQ(json::int_at(event, "count"), 10);
        EXPECT_EQ(json::string_at(event, "message"), "(combined from similar events): part 19 broke");
    }
    EXPECT_EQ(combined, 1);
    world.clock.advance(std::chrono::minutes(11));
    say("Broken", "after a quiet time");
    flush();
    EXPECT_EQ(events().size(), 12U);
}

TEST_F(Recorder, AnObjectThatSaysTooMuchIsCutShort) {
    for (int i = 0; i < 100; ++i) say(fmt::format("Reason{}", i), "x");
    flush();
    EXPECT_EQ(events().size(), 25U);
    EXPECT_THAT(metrics.expose(), testing::HasSubstr("fairlead_events_recorded_total{result=\"dropped\"} 75"));
    world.clock.advance(std::chrono::minutes(5));
    for (int i = 200; i < 210; ++i) say(fmt::format("Reason{}", i), "x");
    flush();
    EXPECT_EQ(events().size(), 26U) << "one more each five minutes";
    const auto other = reference_to(world.make_route("b").value);
    recorder.record(other, EventType::normal, "Fine", "others may speak");
    flush();
    EXPECT_EQ(events().size(), 27U);
}

TEST_F(Recorder, TheQueueIsBounded) {
    for (int i = 0; i < 2'000; ++i) {
        about.name = fmt::format("o{}", i);
        say("Broken", "x");
    }
    EXPECT_EQ(sink.queued(), 1'000U);
}

TEST_F(Recorder, WhatMayWorkLaterIsTriedAgain) {
    transport.code = Errc::unavailable;
    say("Broken", "x");
    flush();
    EXPECT_EQ(sink.queued(), 1U);
    ASSERT_TRUE(sink.due());
    transport.code.reset();
    world.clock.advance(*sink.due() - world.clock.monotonic());
    flush();
    EXPECT_EQ(events().size(), 1U);
}

TEST_F(Recorder, WhatNeverWorksIsCountedAndLeft) {
    for (const auto code : {Errc::unavailable, Errc::invalid}) {
        transport.code = code;
        say("Broken", std::to_string(static_cast<int>(code)));
        for (int i = 0; i < 12; ++i) {
            flush();
            world.clock.advance(std::chrono::seconds(10));
        }
        EXPECT_EQ(sink.queued(), 0U);
    }
    EXPECT_THAT(metrics.expose(), testing::HasSubstr("fairlead_events_recorded_total{result=\"failed\"} 2"));
}

TEST_F(Recorder, LongTextsAreCutWhereACharacterEnds) {
    std::string message;
    while (message.size() < 2'000) message += "\xC3\xA4";  // two bytes each, so 1,024 is a good place and 1,023 is not
    say("Broken", "x" + message);
    flush();
    ASSERT_EQ(events().size(), 1U);
    EXPECT_EQ(json::string_at(events()[0], "message").size(), 1'023U);
}

TEST_F(Recorder, ObjectsWithoutANamespaceSpeakInDefault) {
    about.namespace_.clear();
    say("Broken", "x");
    flush();
    EXPECT_EQ(events().size(), 1U);
}

TEST_F(Recorder, ManyAreWrittenTogetherAndTheSameAgainIsStillCounted) {
    for (int i = 0; i < 20; ++i) {
        auto other = about;
        other.name = fmt::format("r{}", i);
        other.uid = fmt::format("u{}", i);
        recorder.record(other, EventType::normal, "Made", "it is there");
    }
    say("Broken", "it broke");
    say("Broken", "it broke");
    sink.flush();
    EXPECT_EQ(events().size(), 16U);
    flush();
    const auto all = events();
    EXPECT_EQ(all.size(), 21U);
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const auto& each) { return json::int_at(each, "count") == 2; }),
              1);
}

TEST_F(Recorder, WhatCannotBeWrittenNowKeepsItsOrder) {
    transport.code = Errc::unavailable;
    for (const auto* reason : {"First", "Second", "Third"}) say(reason, "text");
    sink.flush();
    EXPECT_FALSE(sink.ready()) << "it waits";
    EXPECT_EQ(sink.queued(), 3U);
    transport.code.reset();
    world.clock.advance(std::chrono::seconds(30));
    flush();
    std::vector<std::string> reasons;
    for (const auto& each : events()) reasons.emplace_back(json::string_at(each, "reason"));
    EXPECT_EQ(reasons, (std::vector<std::string>{"First", "Second", "Third"}));
}

}  // namespace
}  // namespace fairlead::control
