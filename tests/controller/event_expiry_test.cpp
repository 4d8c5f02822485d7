// Events end when their time is over, and cost nothing before.
#include "controller/event_expiry.h"

#include <fmt/core.h>

#include "base/text.h"
#include "control/controlled.h"

namespace fairlead::controller {
namespace {

using control::Controlled;
using Names = std::vector<std::string>;
constexpr auto events = "/api/v1/namespaces/default/events";

class EventExpiryTest : public testing::Test {
protected:
    void SetUp() override {
        world.manager.add("event-expiry", [](control::Context& context) {
            return std::make_unique<EventExpiry>(context, EventExpiryOptions{});
        });
    }
    void make(std::string_view name, std::string_view more = {}) {
        const auto made = world.post(
            events,
            fmt::format(R"({{"metadata":{{"name":"{}"}},"involvedObject":{{"namespace":"default"}}{}}})", name, more));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    Names left() { return world.get(events).names(); }
    Controlled world;
};

TEST_F(EventExpiryTest, EndsAnHourAfterItLastHappened) {
    make("old");
    world.settle();
    world.clock.advance(std::chrono::minutes(30));
    make("again");
    world.merge(std::string(events) + "/old",
                fmt::format(R"({{"count":2,"lastTimestamp":"{}"}})", rfc3339(world.clock.now())));
    make("young");
    world.pass(std::chrono::minutes(59), std::chrono::minutes(1));
    EXPECT_EQ(left(), (Names{"again", "old", "young"}));
    world.pass(std::chrono::minutes(2), std::chrono::minutes(1));
    EXPECT_TRUE(left().empty());
}

TEST_F(EventExpiryTest, ThoseThatAreOverAtTheStartGoAtOnce) {
    for (int i = 0; i < 200; ++i) make(fmt::format("e{:03}", i));
    world.clock.advance(std::chrono::hours(2));
    make("new");
    world.settle();
    EXPECT_EQ(left(), (Names{"new"}));
}

TEST_F(EventExpiryTest, SaysWhenItIsDueNext) {
    make("a");
    world.settle();
    const auto step = world.manager.step();
    ASSERT_TRUE(step.due) << "no polling, but a time";
    EXPECT_FALSE(step.more);
}

struct SeenRow {
    const char* name;
    const char* event;
    const char* seen;
};

TEST(LastSeen, BelievesTheWriterWithinReason) {
    const SeenRow rows[] = {
        {"nothing said", R"({"metadata":{}})", "2026-01-01T12:00:00Z"},
        {"made", R"({"metadata":{"creationTimestamp":"2026-01-01T11:00:00Z"}})", "2026-01-01T11:00:00Z"},
        {"last", R"({"metadata":{"creationTimestamp":"2026-01-01T10:00:00Z"},"lastTimestamp":"2026-01-01T11:30:00Z"})",
         "2026-01-01T11:30:00Z"},
        {"event time", R"({"metadata":{},"eventTime":"2026-01-01T11:30:00.5Z"})", "2026-01-01T12:00:00Z"},
        {"series",
         R"({"metadata":{"creationTimestamp":"2026-01-01T10:00:00Z"},"series":{"lastObservedTime":"2026-01-01T11:40:00Z"},"eventTime":"2026-01-01T10:00:00Z"})",
         "2026-01-01T11:40:00Z"},
        {"an old story",
         R"({"metadata":{"creationTimestamp":"2026-01-01T11:50:00Z"},"lastTimestamp":"2020-01-01T00:00:00Z"})",
         "2026-01-01T11:50:00Z"},
        {"a clock ahead",
         R"({"metadata":{"creationTimestamp":"2026-01-01T11:50:00Z"},"lastTimestamp":"2030-01-01T00:00:00Z"})",
         "2026-01-01T12:00:00Z"},
    };
    const auto now = *from_rfc3339("2026-01-01T12:00:00Z");
    for (const auto& row : rows) {
        EXPECT_EQ(rfc3339(last_seen(*json::parse(row.event), now)), row.seen) << row.name;
    }
}

}  // namespace
}  // namespace fairlead::controller
