// The driver with a real nats-server and a router that keeps gorouter's rules and limits.
#include "proxy/gorouter/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "gorouter/nats_router.h"
#include "gorouter/nats_world.h"
#include "net/server.h"

namespace fairlead::proxy::gorouter {

namespace {

using namespace std::chrono_literals;
using ::fairlead::gorouter::eventually;
using ::fairlead::gorouter::NatsRouter;
using ::fairlead::gorouter::NatsServer;
using ::fairlead::gorouter::read_message;
using ::fairlead::gorouter::RouterModel;
using ::fairlead::gorouter::TempDir;
using ::testing::HasSubstr;

// A name with a pool of its own, as the front of LRPs makes them.
void put(traffic::RoutingTable& table, const std::string& host, std::vector<traffic::Member> members) {
    const auto pool = "lrp/" + host;
    table.rules[{host, false, ""}] = {.pool = pool, .owner = pool};
    auto& made = table.pools[pool];
    made.name = pool;
    made.members = std::move(members);
}

traffic::Member member(const std::string& address, std::uint16_t port, std::string instance = "i") {
    traffic::Member made;
    made.address = address;
    made.port = port;
    made.app = "app";
    made.instance = std::move(instance);
    made.index = 0;
    return made;
}

traffic::RoutingTable small(int names, const std::string& address = "10.0.0.1") {
    traffic::RoutingTable table;
    for (int i = 0; i < names; ++i) {
        put(table, "n" + std::to_string(i) + ".test", {member(address, static_cast<std::uint16_t>(1000 + i))});
    }
    return table;
}

class GorouterDriverTest : public ::testing::Test {
protected:
    std::unique_ptr<Publisher> publisher(Options options) { return publisher(std::move(options), log); }
    std::unique_ptr<Publisher> publisher(Options options, Log& to_log) {
        auto started = start(std::move(options), clock, random, to_log, metrics);
        EXPECT_TRUE(started) << (started ? "" : started.error().text());
        return started ? std::move(*started) : nullptr;
    }
    static Options to(const std::string& url) { return {.nats = {.urls = {url}, .max_backoff = 200ms}}; }
    // Every interval a second: what takes a minute with routers as they are takes seconds here.
    static NatsRouter::Options router(const std::string& url) {
        return {.url = url, .settings = {.stale_threshold = 3s, .interval = 1s}, .prune_every = 200ms};
    }

    SystemClock clock;
    SystemRandom random;
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
};

TEST_F(GorouterDriverTest, RoutersFollowTheTable) {
    NatsServer nats;
    NatsRouter router(GorouterDriverTest::router(nats.url()));
    const auto driver = publisher(to(nats.url()));
    auto table = small(10);
    driver->reset(table, 7);
    ASSERT_TRUE(eventually([&] { return driver->progress().programmed == 7 && router.names() == 10; }));
    EXPECT_TRUE(driver->progress().up);
    auto after = table;
    put(after, "n3.test", {member("10.0.0.2", 9)});
    after.rules.erase({"n4.test", false, ""});
    driver->change(traffic::diff(table, after), 8);
    ASSERT_TRUE(eventually([&] {
        return driver->progress().programmed == 8 && router.holds("n3.test", "10.0.0.2:9") &&
               !router.holds("n3.test", "10.0.0.1:1003") && router.names() == 9;
    }));
    // The router's interval is taken over, and endpoints outlive its pruning.
    ASSERT_TRUE(eventually([&] { return driver->emitted().interval == 1s && driver->emitted().routers == 1; }));
    const auto rounds = driver->emitted().rounds;
    ASSERT_TRUE(eventually([&] { return driver->emitted().rounds > rounds + 5; }));
    EXPECT_EQ(router.names(), 9U);
    router.look([](const RouterModel& model) { EXPECT_EQ(model.counts().pruned, 0U); });
    EXPECT_EQ(driver->progress().trouble, "");
    const auto text = metrics.expose();
    for (const auto* line : {"fairlead_gorouter_connected 1", "fairlead_gorouter_names 9",
                             "fairlead_gorouter_interval_seconds 1", "fairlead_gorouter_routers 1"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST_F(GorouterDriverTest, ARouterThatComesBackEmptyGetsEverything) {
    NatsServer nats;
    NatsRouter router(GorouterDriverTest::router(nats.url()));
    const auto driver = publisher(to(nats.url()));
    driver->reset(small(500), 1);
    ASSERT_TRUE(eventually([&] { return router.names() == 500; }));
    router.restart();
    ASSERT_TRUE(eventually([&] { return router.names() == 500; }));
}

TEST_F(GorouterDriverTest, NothingIsLostWhileNatsIsAway) {
    NatsServer nats;
    NatsRouter router(GorouterDriverTest::router(nats.url()));
    const auto driver = publisher(to(nats.url()));
    auto table = small(200);
    auto tls = member("10.0.0.9", 1);
    tls.tls_port = 443;
    put(table, "tls.test", {tls});
    driver->reset(table, 1);
    ASSERT_TRUE(eventually([&] { return router.names() == 201 && driver->progress().programmed == 1; }));
    nats.stop();
    ASSERT_TRUE(eventually([&] { return !driver->progress().up; }));
    EXPECT_THAT(driver->progress().trouble, HasSubstr("NATS: "));
    // Gone, new, and gone and back: of the last no withdrawal may come.
    auto after = table;
    after.rules.erase({"n0.test", false, ""});
    after.rules.erase({"tls.test", false, ""});
    put(after, "new.test", {member("10.0.0.7", 7)});
    auto without = after;
    without.rules.erase({"n1.test", false, ""});
    driver->change(traffic::diff(table, without), 2);
    std::this_thread::sleep_for(4s);  // longer than the routers keep what is not registered anew
    driver->change(traffic::diff(without, after), 3);
    std::atomic<int> wrong = 0;
    router.on_message([&](std::string_view subject, std::string_view body) {
        if (!subject.ends_with(".unregister")) return;
        const auto read = read_message(body);
        if (!read) return;
        for (const auto& uri : read->uris) wrong += uri != "n0.test" && uri != "tls.test";
    });
    nats.start();
    ASSERT_TRUE(eventually([&] {
        return driver->progress().programmed == 3 && router.holds("new.test", "10.0.0.7:7") &&
               router.holds("n1.test", "10.0.0.1:1001") && router.names() == 200;
    })) << router.names();
    EXPECT_FALSE(router.holds("n0.test", "10.0.0.1:1000"));
    EXPECT_FALSE(router.holds("tls.test", "10.0.0.9:443"));  // which routers would have kept for ever
    EXPECT_EQ(wrong, 0);
}

TEST_F(GorouterDriverTest, StandsByAndTakesOver) {
    NatsServer nats;
    NatsRouter router(GorouterDriverTest::router(nats.url()));
    auto options = to(nats.url());
    options.standby = true;
    const auto standby = publisher(options);
    const auto table = small(5);
    standby->reset(table, 1);
    ASSERT_TRUE(eventually([&] { return standby->emitted().routers == 1 && standby->emitted().rounds > 1; }));
    EXPECT_EQ(router.messages(), 0U);
    auto after = table;
    after.rules.erase({"n0.test", false, ""});
    standby->change(traffic::diff(table, after), 2);
    ASSERT_TRUE(eventually([&] { return standby->emitted().names == 4; }));
    EXPECT_EQ(router.messages(), 0U);
    standby->active(Activity::withdrawals);
    ASSERT_TRUE(eventually([&] { return router.messages() > 0; }));
    EXPECT_EQ(standby->emitted().register_messages, 0U);
    EXPECT_EQ(router.names(), 0U);
    standby->active(Activity::all);
    ASSERT_TRUE(eventually([&] { return router.names() == 4 && standby->progress().programmed == 2; }));
    router.look(
        [](const RouterModel& model) { EXPECT_GT(model.counts().unregisters, 0U); });  // what the other may have missed
}

TEST_F(GorouterDriverTest, TlsUserAndSeveralUrls) {
    const TempDir directory;
    const auto file = [&](const char* name) { return (directory.path() / name).string(); };
    const auto made = fairlead::gorouter::run(
        {"sh", "-c",
         "cd '" + directory.path().string() +
             "' && openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca "
             "2>/dev/null && "
             "openssl req -newkey rsa:2048 -nodes -keyout key.pem -out csr.pem -subj /CN=nats 2>/dev/null && "
             "printf 'subjectAltName=IP:127.0.0.1,DNS:localhost' > ext && "
             "openssl x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out "
             "cert.pem 2>/dev/null"});
    int status = 0;
    ASSERT_EQ(::waitpid(made, &status, 0), made);
    ASSERT_EQ(status, 0);
    NatsServer nats(
        {"--tls", "--tlscert", file("cert.pem"), "--tlskey", file("key.pem"), "--user", "emitter", "--pass", "secret"});
    auto router_options = GorouterDriverTest::router(nats.url());
    router_options.user = "emitter";
    router_options.password = "secret";
    router_options.ca = file("ca.pem");
    NatsRouter router(router_options);

    auto options = to(nats.url("tls"));
    options.nats.urls.insert(options.nats.urls.begin(), "nats://127.0.0.1:1");  // nobody there: the next one is tried
    options.nats.user = "emitter";
    options.nats.password = "wrong";
    options.nats.ca = file("ca.pem");
    {
        const auto refused = publisher(options);
        ASSERT_TRUE(eventually([&] { return refused->progress().trouble.find("uthoriz") != std::string::npos; }))
            << refused->progress().trouble;
        EXPECT_FALSE(refused->progress().up);
    }
    options.nats.password = "secret";
    const auto driver = publisher(options);
    driver->reset(small(3), 1);
    ASSERT_TRUE(eventually([&] { return router.names() == 3; })) << driver->progress().trouble;
    // Another name than the certificate has.
    options.nats.server_name = "other.test";
    const auto fooled = publisher(options);
    ASSERT_TRUE(eventually([&] { return fooled->progress().trouble.find("NATS: ") != std::string::npos; }));
    std::this_thread::sleep_for(500ms);
    EXPECT_FALSE(fooled->progress().up);
}

TEST_F(GorouterDriverTest, RefusesWhatCannotWork) {
    struct Case {
        const char* name;
        std::function<void(Options&)> spoil;
        const char* error;
    };
    const std::vector<Case> cases = {
        {"no URL", [](Options& o) { o.nats.urls.clear(); }, "nats: there must be a URL"},
        {"another scheme", [](Options& o) { o.nats.urls = {"http://u:secret@x"}; }, "nats: 'http://x' is no URL"},
        {"no such file", [](Options& o) { o.nats.ca = "/nowhere/ca.pem"; }, "nats ca: /nowhere/ca.pem cannot be read"},
        {"no key", [](Options& o) { o.nats.certificate = "/dev/null"; }, "certificate and key go together"},
        {"no seed", [](Options& o) { o.nats.nkey_seed = "/dev/null"; }, "nats nkey: /dev/null: no line begins with SU"},
        {"two seeds", [](Options& o) { o.nats.nkey_seed = o.nats.credentials = "/dev/null"; }, "name one of the two"},
        {"prefix", [](Options& o) { o.settings.prefix = "a *"; }, "prefix: 'a *' is no subject"},
        {"pace", [](Options& o) { o.settings.messages_per_second = 0; }, "messages per second: 0 is below 1"},
        {"status URL", [](Options& o) { o.audit.urls = {"router:8080"}; }, "'router:8080' is no http or https URL"},
    };
    for (const auto& test : cases) {
        auto options = to("nats://127.0.0.1:1");
        test.spoil(options);
        const auto started = start(options, clock, random, log, metrics);
        ASSERT_FALSE(started) << test.name;
        EXPECT_THAT(started.error().text(), HasSubstr(test.error)) << test.name;
    }
}

// What a router's status URL answers, with Basic auth.
class StatusPage final : public net::Handler {
public:
    explicit StatusPage(const NatsRouter& router) : router_(router) {}
    void handle(net::Request request, net::Respond respond) override {
        net::Response answer;
        if (request.headers.get("Authorization") != "Basic c3RhdHVzOnMzOnQ=") {  // status:s3:t
            answer.status = 401;
        } else if (request.target == "/routes") {
            router_.look([&](const RouterModel& model) { answer.body = model.routes(); });
        } else {
            answer.status = 404;
        }
        respond(std::move(answer));
    }

private:
    const NatsRouter& router_;
};

TEST_F(GorouterDriverTest, AnAuditFindsAndMendsDifferences) {
    NatsServer nats;
    auto router_options = GorouterDriverTest::router(nats.url());
    router_options.settings = {.stale_threshold = 1h, .interval = 1h};  // nothing is sent again by itself
    NatsRouter router(router_options);
    StatusPage page(router);
    auto server = net::start_server({.listen = "127.0.0.1:0"}, page, log, metrics);
    ASSERT_TRUE(server);
    auto options = to(nats.url());
    options.audit = {.urls = {"http://status:s3%3At@" + (*server)->address()}, .interval = 1s};
    testing::internal::CaptureStderr();
    Log told{LogLevel::warn, LogFormat::text};
    const auto driver = publisher(options, told);
    auto table = small(20);
    driver->reset(table, 1);
    ASSERT_TRUE(eventually([&] { return router.names() == 20; }));
    auto after = table;
    after.rules.erase({"n0.test", false, ""});
    driver->change(traffic::diff(table, after), 2);
    ASSERT_TRUE(eventually([&] { return router.names() == 19 && driver->progress().programmed == 2; }));
    ASSERT_TRUE(eventually([&] { return metrics.expose().find("audits_total") != std::string::npos; }));

    // Somebody else takes one away, brings one back and adds one that is not ours.
    router.inject("router.unregister", R"({"host":"10.0.0.1","port":1005,"uris":["n5.test"]})");
    router.inject("router.register", R"({"host":"10.0.0.1","port":1000,"uris":["n0.test"]})");
    router.inject("router.register", R"({"host":"10.9.9.9","port":1,"uris":["n7.test","theirs.test"]})");
    ASSERT_FALSE(router.holds("n5.test", "10.0.0.1:1005"));
    ASSERT_TRUE(eventually([&] {
        return router.holds("n5.test", "10.0.0.1:1005") && !router.holds("n0.test", "10.0.0.1:1000");
    })) << driver->progress().trouble;
    EXPECT_TRUE(router.holds("n7.test", "10.9.9.9:1"));
    EXPECT_TRUE(router.holds("theirs.test", "10.9.9.9:1"));
    ASSERT_TRUE(eventually([&] {
        const auto text = metrics.expose();
        return text.find("kind=\"foreign\",router=\"http://" + (*server)->address() + "\"} 1") != std::string::npos &&
               text.find("kind=\"missing\",router=\"http://" + (*server)->address() + "\"} 0") != std::string::npos;
    })) << metrics.expose();
    const auto lines = testing::internal::GetCapturedStderr();
    const std::string_view foreign = "a gorouter holds endpoints of others at names of ours";
    const auto line = lines.find(foreign);
    ASSERT_NE(line, std::string::npos) << lines;
    EXPECT_NE(lines.find("n7.test at 10.9.9.9:1", line), std::string::npos) << lines;
    EXPECT_EQ(lines.find(foreign, line + 1), std::string::npos) << "once: " << lines;
}

TEST_F(GorouterDriverTest, AnAuditWithdrawsWhatAnEmitterBeforeHasLeft) {
    NatsServer nats;
    NatsRouter router(GorouterDriverTest::router(nats.url()));
    StatusPage page(router);
    auto server = net::start_server({.listen = "127.0.0.1:0"}, page, log, metrics);
    ASSERT_TRUE(server);
    const auto url = "http://" + (*server)->address();
    router.inject("router.register",
                  R"({"host":"10.9.9.9","port":1,"tls_port":2,"uris":["n0.test","a.test"],"tags":{"fairlead":"m/d"}})");
    router.inject("router.register",
                  R"({"host":"10.9.9.8","port":1,"tls_port":2,"uris":["n0.test"],"tags":{"fairlead":"other/d"}})");
    auto options = to(nats.url());
    options.audit = {.urls = {"http://status:s3%3At@" + (*server)->address()}, .interval = 1s};
    const auto driver = publisher(options);
    driver->mark("m");
    driver->reset(small(3), 1);
    ASSERT_TRUE(eventually([&] { return router.names() == 4; }));
    const auto third = "audits_total{result=\"good\",router=\"" + url + "\"} 3\n";
    ASSERT_TRUE(eventually([&] { return metrics.expose().find(third) != std::string::npos; }));
    EXPECT_TRUE(router.holds("a.test", "10.9.9.9:2")) << "nobody is certain";
    EXPECT_THAT(metrics.expose(), HasSubstr("kind=\"leftover\",router=\"" + url + "\"} 2"));
    EXPECT_THAT(metrics.expose(), HasSubstr("kind=\"foreign\",router=\"" + url + "\"} 1"));
    driver->certain(traffic::Certainty{
        .as_of = clock.monotonic() + 1h, .fresh = traffic::Certainty::Domains::only, .domains = {"d"}});
    ASSERT_TRUE(eventually([&] {
        return !router.holds("a.test", "10.9.9.9:2") && !router.holds("n0.test", "10.9.9.9:2");
    })) << driver->progress().trouble;
    EXPECT_TRUE(router.holds("n0.test", "10.9.9.8:2"));
    EXPECT_TRUE(router.holds("n0.test", "10.0.0.1:1000"));
    EXPECT_EQ(driver->emitted().names_withdrawn, 2U);
    // What lives in our name has the mark too: a driver with the same one finds nothing of it missing or left.
    router.look([](const RouterModel& model) {
        EXPECT_EQ(*model.table().at("n1.test").at("10.0.0.1:1001").tags,
                  R"({"app_id":"app","component":"route-emitter","fairlead":"m/","instance_id":"0",)"
                  R"("process_instance_id":"i"})");
    });
}

// Ten names to an endpoint; gorouters lost 65% of as many names that came in a burst of one message each.
TEST_F(GorouterDriverTest, ABurstArrivesWhole) {
    NatsServer nats;
    NatsRouter router({.url = nats.url(), .settings = {.stale_threshold = 1h, .interval = 600s}});
    const auto driver = publisher(to(nats.url()));
    traffic::RoutingTable table;
    for (int i = 0; i < 400'000; ++i) {
        put(table, "n" + std::to_string(i) + ".test",
            {member("10." + std::to_string(i / 10 % 7) + ".0.1", static_cast<std::uint16_t>(1000 + i / 70))});
    }
    driver->reset(std::move(table), 1);
    ASSERT_TRUE(eventually([&] { return router.names() == 400'000; }, 240s))
        << router.names() << " names, " << router.dropped() << " dropped";
    EXPECT_EQ(router.dropped(), 0U);
    ASSERT_TRUE(eventually([&] { return driver->progress().programmed == 1; }));
    EXPECT_EQ(driver->emitted().pairs, 400'000U);
}

}  // namespace

}  // namespace fairlead::proxy::gorouter
