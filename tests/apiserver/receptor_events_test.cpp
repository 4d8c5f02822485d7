// The event stream of the Receptor API: names and payloads, ids that resume, views, heartbeats, readers that fall
// behind.
#include "apiserver/receptor/events.h"

#include <fmt/core.h>

#include "base/text.h"
#include "receptor_world.h"

namespace fairlead::apiserver::receptor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Heard {
    std::string id, event, data;  // as the client sees them: id is the last one that came
};

struct Listener {
    Listener(ReceptorWorld& world, View view = View::whole, std::optional<store::Revision> after = {},
             EventLimits limits = {})
        : stream({world.receptor.desired_kind().table(), world.receptor.actual_kind().table(), "diego/", view, after},
                 *world.store, world.clock, nullptr, std::move(limits)) {}

    // What there is now, as a client reads it.
    std::vector<Heard> hear() {
        std::string text;
        while (stream.pull(text) == net::StreamBody::Next::data) {
        }
        comments.clear();
        std::vector<Heard> all;
        Heard next;
        for (const auto line : split(text, '\n')) {
            const auto colon = line.find(": ");
            const auto name = line.substr(0, colon);
            const auto value = colon == std::string_view::npos ? std::string() : std::string(line.substr(colon + 2));
            if (line.starts_with(':')) comments.push_back(std::string(line.substr(2)));
            if (name == "id") last_id = value;
            if (name == "event") next.event = value;
            if (name == "data") next.data = value;
            if (!line.empty() || next.event.empty()) continue;
            next.id = last_id;
            all.push_back(std::exchange(next, {}));
        }
        return all;
    }
    std::vector<std::string> names() {
        std::vector<std::string> names;
        for (const auto& heard : hear()) names.push_back(heard.event);
        return names;
    }

    EventStream stream;
    std::string last_id;
    std::vector<std::string> comments;
};

void instance(ReceptorWorld& world, std::string_view state, std::string_view query = "") {
    std::string body = R"({"domain":"cf-apps","state":")" + std::string(state) + '"';
    if (state == "RUNNING") body += R"(,"address":"10.0.0.1","ports":[{"container_port":4000,"host_port":59001}])";
    if (state == "RUNNING" || state == "CLAIMED") body += R"(,"instance_guid":"i-1","cell_id":"c")";
    const auto said = world.ask("PUT", "/v1/actual_lrps/web/index/0" + std::string(query), body + "}");
    ASSERT_LT(said.code, 300) << said.body;
}

TEST(ReceptorEvents, TellSixThings) {
    ReceptorWorld world;
    Listener listener(world);
    EXPECT_THAT(listener.hear(), IsEmpty());
    EXPECT_EQ(listener.last_id, std::to_string(world.store->revision())) << "a place to resume from, at once";
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web", R"(,"routes":{"a":[1e3]})"));
    const auto first = world.ask("GET", "/v1/desired_lrps/web").body;
    world.ask("PUT", "/v1/desired_lrps/web", R"({"instances":7})");
    const auto second = world.ask("GET", "/v1/desired_lrps/web").body;
    instance(world, "UNCLAIMED");
    const auto waiting = world.ask("GET", "/v1/actual_lrps/web/index/0").body;
    instance(world, "RUNNING");
    const auto running = world.ask("GET", "/v1/actual_lrps/web/index/0").body;
    world.ask("DELETE", "/v1/actual_lrps/web/index/0");
    world.ask("DELETE", "/v1/desired_lrps/web");
    const auto all = listener.hear();
    ASSERT_EQ(all.size(), 6U);
    EXPECT_EQ(all[0].event, "desired_lrp_created");
    EXPECT_EQ(all[0].data, R"({"desired_lrp":)" + first + "}");
    EXPECT_THAT(all[0].data, HasSubstr(R"("routes":{"a":[1e3]})"));
    EXPECT_EQ(all[1].event, "desired_lrp_changed");
    EXPECT_EQ(all[1].data, R"({"desired_lrp_before":)" + first + R"(,"desired_lrp_after":)" + second + "}");
    EXPECT_EQ(all[2].event, "actual_lrp_created");
    EXPECT_EQ(all[2].data, R"({"actual_lrp":)" + waiting + "}");
    EXPECT_EQ(all[3].event, "actual_lrp_changed");
    EXPECT_EQ(all[3].data, R"({"actual_lrp_before":)" + waiting + R"(,"actual_lrp_after":)" + running + "}");
    EXPECT_EQ(all[4].event, "actual_lrp_removed");
    EXPECT_EQ(all[4].data, R"({"actual_lrp":)" + running + "}");
    EXPECT_EQ(all[5].event, "desired_lrp_removed");
    EXPECT_EQ(all[5].data, R"({"desired_lrp":)" + second + "}");
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LT(std::stoull(all[i - 1].id), std::stoull(all[i].id));
    EXPECT_EQ(all.back().id, std::to_string(world.store->revision()));
}

TEST(ReceptorEvents, AreOfOurNamespaceAndOfWhatClientsSee) {
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    Listener listener(world);
    listener.hear();
    const std::string elsewhere =
        R"({"apiVersion":"fairlead.dev/v1","kind":"DesiredLRP","metadata":{"name":"x"},"spec":{"process_guid":"x","domain":"d"}})";
    EXPECT_EQ(world.post("/apis/fairlead.dev/v1/namespaces/default/desiredlrps", elsewhere).code, 201);
    world.merge(std::string(ReceptorWorld::objects) + "/web", R"({"metadata":{"annotations":{"a":"b"}}})");
    world.merge(
        std::string(ReceptorWorld::objects) + "/web/status",
        R"({"status":{"conditions":[{"type":"CfRouter","status":"True","reason":"Parsed","message":"","lastTransitionTime":"2026-03-01T12:00:05Z"}]}})");
    EXPECT_THAT(listener.names(), IsEmpty());
    EXPECT_EQ(world.merge(std::string(ReceptorWorld::objects) + "/web", R"({"spec":{"instances":4}})").code, 200);
    EXPECT_THAT(listener.names(), ElementsAre("desired_lrp_changed")) << "written through our own API";
}

TEST(ReceptorEvents, ShowEvacuationAsTwoRecords) {
    ReceptorWorld world;
    instance(world, "RUNNING");
    Listener listener(world);
    listener.hear();
    instance(world, "RUNNING", "?evacuating=true");
    instance(world, "UNCLAIMED");
    const auto all = listener.hear();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].event, "actual_lrp_created");
    EXPECT_THAT(all[0].data, HasSubstr(R"("evacuating":true)"));
    EXPECT_EQ(all[1].event, "actual_lrp_changed");
    EXPECT_THAT(all[1].data, testing::Not(HasSubstr(R"("evacuating":true)")));
}

TEST(ReceptorEvents, ResumeAfterAnyId) {
    ReceptorWorld world;
    Listener whole(world);
    whole.hear();
    const auto start = std::stoull(whole.last_id);
    for (int i = 0; i < 20; ++i) {
        world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("p" + std::to_string(i)));
        instance(world, i % 2 == 0 ? "RUNNING" : "UNCLAIMED");
    }
    const auto all = whole.hear();
    ASSERT_EQ(all.size(), 40U);
    for (auto after = start; after <= world.store->revision(); ++after) {
        Listener resumed(world, View::whole, after);
        std::vector<std::string> expected, got;
        for (const auto& heard : all) {
            if (std::stoull(heard.id) > after) expected.push_back(heard.data);
        }
        for (const auto& heard : resumed.hear()) got.push_back(heard.data);
        ASSERT_EQ(got, expected) << "after " << after;
    }
}

// Events of one commit share a revision: only the last of them may say that all up to there has come.
TEST(ReceptorEvents, OfOneCommitEndWithTheId) {
    ReceptorWorld world;
    world.ask("PUT", "/v1/domains/d");
    std::string body = R"({"upsert":[)";
    for (int i = 0; i < 9; ++i) {
        body += std::string(i > 0 ? "," : "") + R"({"process_guid":"web","domain":"d","index":)" + std::to_string(i) +
                R"(,"state":"UNCLAIMED"})";
    }
    EventLimits limits;
    limits.events_per_read = 2;  // the commit goes over several reads
    Listener listener(world, View::whole, {}, limits);
    listener.hear();
    const auto before = listener.last_id;
    world.ask("POST", "/v1/actual_lrps/bulk", body + "]}");
    const auto all = listener.hear();
    ASSERT_EQ(all.size(), 9U);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) EXPECT_EQ(all[i].id, before) << i;
    EXPECT_EQ(all.back().id, std::to_string(world.store->revision()));
    EXPECT_EQ(Listener(world, View::whole, std::stoull(all[4].id)).hear().size(), 9U) << "twice rather than never";
}

TEST(ReceptorEvents, RoutingViewTellsWhatLeadsToIt) {
    ReceptorWorld world;
    Listener listener(world, View::routing);
    listener.hear();
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    const auto made = listener.hear();
    ASSERT_EQ(made.size(), 1U);
    EXPECT_THAT(made[0].data,
                testing::StartsWith(R"({"desired_lrp":{"process_guid":"web","domain":"cf-apps","instances":2,)"
                                    R"("ports":[4000,5000],"log_guid":"log-1","modification_tag":{)"));
    world.ask("PUT", "/v1/desired_lrps/web", R"({"annotation":"who cares"})");
    EXPECT_THAT(listener.names(), IsEmpty());
    world.ask("PUT", "/v1/desired_lrps/web", R"({"routes":{"cf-router":[]}})");
    world.ask("PUT", "/v1/desired_lrps/web", R"({"instances":3})");
    EXPECT_THAT(listener.names(), ElementsAre("desired_lrp_changed", "desired_lrp_changed"));
    instance(world, "UNCLAIMED");
    instance(world, "CLAIMED");
    EXPECT_THAT(listener.names(), IsEmpty()) << "nothing leads there yet";
    instance(world, "RUNNING");
    const auto runs = listener.hear();
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].event, "actual_lrp_changed");
    EXPECT_THAT(runs[0].data, HasSubstr(R"("ports":[{"container_port":4000,"host_port":59001}],"state":"RUNNING")"));
    EXPECT_THAT(runs[0].data, testing::Not(HasSubstr("crash_count")));
    instance(world, "CRASHED");
    EXPECT_THAT(listener.names(), ElementsAre("actual_lrp_changed"));
    world.ask("DELETE", "/v1/actual_lrps/web/index/0");
    EXPECT_THAT(listener.names(), IsEmpty());
    world.ask("DELETE", "/v1/desired_lrps/web");
    EXPECT_THAT(listener.names(), ElementsAre("desired_lrp_removed"));
}

TEST(ReceptorEvents, HeartbeatsCarryTheId) {
    ReceptorWorld world;
    Listener listener(world);
    listener.hear();
    world.make_route("a");  // another kind's news move the revision all the same
    world.clock.advance(std::chrono::seconds(14));
    listener.hear();
    EXPECT_THAT(listener.comments, IsEmpty());
    world.clock.advance(std::chrono::seconds(1));
    listener.hear();
    EXPECT_THAT(listener.comments, ElementsAre("heartbeat"));
    EXPECT_EQ(listener.last_id, std::to_string(world.store->revision()));
}

TEST(ReceptorEvents, WhoMissedTooMuchIsToldToListAgain) {
    ReceptorWorld world;  // the ids of another life: a revision that has not been yet
    int resyncs = 0;
    EventLimits limits;
    limits.on_resync = [&] { ++resyncs; };
    Listener future(world, View::whole, 1'000'000, limits);
    const auto all = future.hear();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].event, "resync");
    EXPECT_EQ(all[0].data, R"({"reason":"events after 1000000 are not kept","last_event_id":"1000000"})");
    EXPECT_EQ(all[0].id, std::to_string(world.store->revision()));
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    EXPECT_THAT(future.names(), ElementsAre("desired_lrp_created")) << "and goes on from there";
    EXPECT_EQ(resyncs, 1);
}

// A reader that does not read holds nothing up; when it comes back after too long, it is told.
TEST(ReceptorEvents, SlowReaderFallsBehindAlone) {
    ReceptorWorld world({.events = 8, .bytes = 1UL << 20});
    Listener slow(world), quick(world);
    slow.hear();
    quick.hear();
    const auto left_at = slow.last_id;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    for (int i = 0; i < 200; ++i) {
        world.ask("PUT", "/v1/desired_lrps/web", R"({"instances":)" + std::to_string(i) + "}");
        const auto heard = quick.names();
        ASSERT_FALSE(heard.empty());
        ASSERT_EQ(heard.back(), "desired_lrp_changed");
    }
    EXPECT_THAT(slow.names(), ElementsAre("resync"));
    EXPECT_EQ(slow.last_id, std::to_string(world.store->revision()));
    EXPECT_THAT(Listener(world, View::whole, std::stoull(left_at)).names(), ElementsAre("resync"));
    world.ask("PUT", "/v1/desired_lrps/web", R"({"annotation":"x"})");
    EXPECT_THAT(slow.names(), ElementsAre("desired_lrp_changed"));
}

TEST(ReceptorEvents, EndWhenTheCallerMayNoLongerWatch) {
    ReceptorWorld world;
    bool allowed = true;
    EventLimits limits;
    limits.still_allowed = [&] { return allowed; };
    Listener listener(world, View::whole, {}, limits);
    listener.hear();
    world.clock.advance(std::chrono::seconds(16));
    std::string out;
    EXPECT_NE(listener.stream.pull(out), net::StreamBody::Next::end);
    allowed = false;
    world.clock.advance(std::chrono::seconds(16));
    EXPECT_EQ(listener.stream.pull(out), net::StreamBody::Next::end);
}

}  // namespace
}  // namespace fairlead::apiserver::receptor
