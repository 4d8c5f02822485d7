// The provider webhook against a webhook that the test plays, over real HTTP on loopback.
#include "provider/webhook/webhook.h"

#include <gtest/gtest.h>

#include <mutex>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "net/server.h"
#include "provider/webhook/protocol.h"

namespace fairlead::provider::webhook {
namespace {

dns::Endpoint record(std::string name, std::string target) {
    return {std::move(name), "A", 60, {}, {}, {std::move(target)}, {}};
}

plan::ChangeGroup creation(const std::string& name) {
    plan::Change change;
    change.after = record(name, "192.0.2.1");
    plan::Change owner;
    owner.after = dns::Endpoint{"_owner." + name, "TXT", {}, {}, {}, {"\"heritage=external-dns\""}, {}};
    return {name, {change}, {owner}};
}

// A webhook: remembers what it was asked, answers as it is told.
class Played final : public net::Handler {
public:
    struct Asked {
        std::string method, target, accept, content_type, body;
    };
    using Answer = std::function<net::Response(const Asked&)>;

    explicit Played(Answer answer) : answer_(std::move(answer)) {
        net::ServerOptions options;
        options.listen = "127.0.0.1:0";
        options.threads = 1;
        options.max_body_bytes = max_body_bytes;
        server_ = std::move(*net::start_server(options, *this, log_, metrics_));
    }
    void handle(net::Request request, net::Respond respond) override {
        Asked asked{request.method, request.target, std::string(request.headers.get("Accept")),
                    std::string(request.headers.get("Content-Type")), request.body};
        auto response = answer_(asked);
        {
            const std::lock_guard lock(mutex_);
            asked_.push_back(std::move(asked));
        }
        respond(std::move(response));
    }
    [[nodiscard]] std::string url() const { return "http://" + server_->address(); }
    std::vector<Asked> asked() {
        const std::lock_guard lock(mutex_);
        return asked_;
    }
    std::size_t count(std::string_view method, std::string_view target) {
        const auto all = asked();
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [&](const Asked& each) { return each.method == method && each.target == target; }));
    }

private:
    Answer answer_;
    std::mutex mutex_;
    std::vector<Asked> asked_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    std::unique_ptr<net::Server> server_;  // ends first
};

net::Response say(int status, std::string body = "", std::string_view type = media_type) {
    net::Response response;
    response.status = status;
    if (!body.empty()) response.headers.set("Content-Type", std::string(type));
    response.body = std::move(body);
    return response;
}

// As a good webhook does, but for what a test says otherwise.
net::Response usual(const Played::Asked& asked) {
    if (asked.method == "GET" && asked.target == "/") return say(200, R"({"include":["example.com"]})");
    if (asked.method == "GET") return say(200, "[]");
    return asked.target == adjust_path ? say(200, asked.body) : say(204);
}

struct NoWait final : Waiter {
    bool wait(std::chrono::nanoseconds time) override {
        waits.push_back(time);
        return true;
    }
    std::vector<std::chrono::nanoseconds> waits;
};

struct World {
    SystemClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    NoWait waiter;
    Surroundings around{clock, random, log, metrics, waiter};

    Result<std::unique_ptr<Provider>> provider(const std::string& url, Limits limits = {},
                                               std::map<std::string, std::string> secret = {}) {
        ZoneSettings settings;
        settings.key = "dns/example";
        settings.provider = "webhook";
        settings.apex = dns::Name::parse("example.com").value();
        settings.webhook.url = url;
        settings.webhook.timeout = std::chrono::seconds(5);
        settings.secret = std::move(secret);
        return make(settings, around, limits);
    }
};

TEST(Webhook, AddressesAreChecked) {
    World world;
    for (const auto* url : {"", "127.0.0.1:8888", "ftp://x", "http:///records", "http://a b", "http://u@host/"}) {
        const auto made = world.provider(url);
        ASSERT_FALSE(made) << url;
        EXPECT_EQ(made.error().field, "spec.webhook.url") << url;
    }
    EXPECT_FALSE(world.provider("http://10.0.0.1:8888", {}, {{"token", "x"}})) << "no token in plain sight";
    EXPECT_TRUE(world.provider("http://127.0.0.1:8888", {}, {{"token", "x"}}));
}

TEST(Webhook, NegotiatesAndLists) {
    Played played([](const Played::Asked& asked) {
        if (asked.target == "/base/") return say(200, R"({"include":["example.com"],"exclude":["no.example.com"]})");
        return say(200, R"([{"dnsName":"www.example.com","targets":["192.0.2.1"],"recordType":"A","recordTTL":60},)"
                        R"({"dnsName":"www.other.org","targets":["192.0.2.1"],"recordType":"A"},)"
                        R"({"dnsName":"x.no.example.com","targets":["192.0.2.1"],"recordType":"A"},)"
                        R"({"dnsName":"example.com","targets":["ns.example.com"],"recordType":"NS"},)"
                        R"({"dnsName":"example.com","targets":["ns.example.com h 1 2 3 4 5"],"recordType":"SOA"}])");
    });
    World world;
    auto provider = world.provider(played.url() + "/base/").value();
    const auto listing = provider->list(std::nullopt);
    ASSERT_TRUE(listing) << listing.error().text();
    EXPECT_EQ(listing->endpoints, std::vector<dns::Endpoint>{record("www.example.com", "192.0.2.1")});
    const auto few = provider->list(std::vector<std::string>{"else.example.com"});
    ASSERT_TRUE(few);
    EXPECT_TRUE(few->endpoints.empty());
    const auto asked = played.asked();
    ASSERT_EQ(asked.size(), 3U) << "negotiates once";
    EXPECT_EQ(asked[0].method + " " + asked[0].target, "GET /base/");
    EXPECT_EQ(asked[0].accept, "application/external.dns.webhook+json;version=1");
    EXPECT_EQ(asked[1].method + " " + asked[1].target, "GET /base/records");
}

TEST(Webhook, NegotiationIsTriedFiveTimes) {
    Played played([](const Played::Asked&) { return say(503, "later", "text/plain"); });
    World world;
    const auto listing = world.provider(played.url()).value()->list(std::nullopt);
    ASSERT_FALSE(listing);
    EXPECT_EQ(listing.error().code, Errc::unavailable);
    EXPECT_EQ(listing.error().text(), "spec.webhook.url: the webhook answered 503: later");
    EXPECT_EQ(played.asked().size(), 5U);
    EXPECT_EQ(world.waiter.waits.size(), 4U);
}

TEST(Webhook, WhatIsNoWebhookIsSaid) {
    struct Case {
        net::Response (*answer)(const Played::Asked&);
        Errc code;
        std::string_view part;
    };
    const std::vector<Case> cases{
        {[](const Played::Asked&) { return say(200, "{}", "application/json"); }, Errc::invalid,
         "the answer has the type \"application/json\""},
        {[](const Played::Asked&) { return say(404, "nope", "text/plain"); }, Errc::invalid, "answered 404: nope"},
        {[](const Played::Asked&) { return say(200, R"({"include":["other.org"]})"); }, Errc::not_found,
         "does not serve example.com: its domain filter is {\"include\":[\"other.org\"]}"},
        {[](const Played::Asked&) { return say(200, R"({"include":7})"); }, Errc::invalid, "cannot be read"},
    };
    World world;
    for (const auto& c : cases) {
        Played played(c.answer);
        const auto listing = world.provider(played.url()).value()->list(std::nullopt);
        ASSERT_FALSE(listing) << c.part;
        EXPECT_EQ(listing.error().code, c.code) << listing.error().text();
        EXPECT_NE(listing.error().text().find(c.part), std::string::npos) << listing.error().text();
        EXPECT_EQ(played.asked().size(), 1U) << "no use in trying again";
    }
}

TEST(Webhook, AdjustsManyAtOnceAndRemembers) {
    Played played([](const Played::Asked& asked) {
        if (asked.target != adjust_path) return usual(asked);
        auto endpoints = parse_endpoints(asked.body).value();
        std::erase_if(endpoints, [](const auto& each) { return each.dns_name == "bad.example.com"; });
        for (auto& each : endpoints) each.ttl = 300;
        std::reverse(endpoints.begin(), endpoints.end());
        return say(200, endpoints_text(endpoints));
    });
    World world;
    auto provider = world.provider(played.url()).value();
    ASSERT_TRUE(provider->list(std::nullopt));
    auto good = record("good.example.com", "192.0.2.1");
    plan::set_label(good, "resource", "dnsrecord/a/b");
    const std::vector<dns::Endpoint> wanted{good, record("bad.example.com", "192.0.2.1"),
                                            record("more.example.com", "192.0.2.1")};
    provider->prepare(wanted);
    EXPECT_EQ(played.count("POST", adjust_path), 1U);
    const auto adjusted = provider->canonicalise(good);
    ASSERT_TRUE(adjusted);
    EXPECT_EQ(adjusted->ttl, 300);
    EXPECT_EQ(adjusted->labels, good.labels) << "labels are ours";
    const auto left_out = provider->canonicalise(wanted[1]);
    ASSERT_FALSE(left_out);
    EXPECT_EQ(left_out.error().code, Errc::unsupported);
    EXPECT_EQ(played.count("POST", adjust_path), 1U) << "known";
    EXPECT_TRUE(provider->canonicalise(record("new.example.com", "192.0.2.1")));
    EXPECT_EQ(played.count("POST", adjust_path), 2U);
    ASSERT_TRUE(provider->list(std::nullopt));
    EXPECT_TRUE(provider->canonicalise(good));
    EXPECT_EQ(played.count("POST", adjust_path), 3U) << "forgotten with each listing";
}

TEST(Webhook, SendsARecordAndItsOwnershipTogether) {
    Played played(usual);
    World world;
    auto provider = world.provider(played.url()).value();
    auto group = creation("www.example.com");
    plan::Change gone;
    gone.action = plan::Action::remove;
    gone.before = record("www.example.com", "192.0.2.7");
    plan::Change moved;
    moved.action = plan::Action::update;
    moved.before = record("v.example.com", "192.0.2.1");
    moved.after = record("v.example.com", "192.0.2.2");
    group.changes.push_back(gone);
    group.changes.push_back(moved);
    const auto outcomes = provider->apply({&group, 1});
    ASSERT_EQ(outcomes.size(), 1U);
    EXPECT_EQ(outcomes[0].state, Outcome::State::applied);
    ASSERT_EQ(played.asked().size(), 1U);
    const auto asked = played.asked()[0];
    EXPECT_EQ(asked.content_type, media_type);
    EXPECT_EQ(asked.body,
              R"({"create":[{"dnsName":"www.example.com","targets":["192.0.2.1"],"recordType":"A","recordTTL":60},)"
              R"({"dnsName":"_owner.www.example.com","targets":["\"heritage=external-dns\""],"recordType":"TXT"}],)"
              R"("updateOld":[{"dnsName":"v.example.com","targets":["192.0.2.1"],"recordType":"A","recordTTL":60}],)"
              R"("updateNew":[{"dnsName":"v.example.com","targets":["192.0.2.2"],"recordType":"A","recordTTL":60}],)"
              R"("delete":[{"dnsName":"www.example.com","targets":["192.0.2.7"],"recordType":"A","recordTTL":60}]})");
}

TEST(Webhook, WhatIsRefusedIsIsolatedAndItsNeighboursLand) {
    for (const int status : {400, 422, 500}) {
        Played played([status](const Played::Asked& asked) {
            return asked.body.find("\"bad.example.com\"") == std::string::npos ? say(204)
                                                                               : say(status, "bad name", "text/plain");
        });
        World world;
        auto provider = world.provider(played.url()).value();
        std::vector<plan::ChangeGroup> groups;
        for (int i = 0; i < 20; ++i)
            groups.push_back(creation(i == 13 ? "bad.example.com" : std::to_string(i) + ".example.com"));
        const auto outcomes = provider->apply(groups);
        ASSERT_EQ(outcomes.size(), groups.size());
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            if (i == 13) continue;
            EXPECT_EQ(outcomes[i].state, Outcome::State::applied) << i << " with " << status;
        }
        EXPECT_EQ(outcomes[13].state, status >= 500 ? Outcome::State::unavailable : Outcome::State::refused);
        EXPECT_EQ(outcomes[13].message, "the webhook answered " + std::to_string(status) + ": bad name");
        EXPECT_LE(played.asked().size(), 12U) << "halves, not one by one";
    }
}

TEST(Webhook, OneThatIsDownIsNotAskedForEachRecord) {
    Played played([](const Played::Asked&) { return say(503); });
    World world;
    auto provider = world.provider(played.url(), {.batch_groups = 50}).value();
    std::vector<plan::ChangeGroup> groups;
    for (int i = 0; i < 200; ++i) groups.push_back(creation(std::to_string(i) + ".example.com"));
    for (const auto& outcome : provider->apply(groups)) EXPECT_EQ(outcome.state, Outcome::State::unavailable);
    EXPECT_EQ(played.asked().size(), 8U);
}

TEST(WebhookProtocol, ChangesReadWhatTheyWrite) {
    Changes changes;
    add_group(changes, creation("www.example.com"));
    changes.update_old.push_back(record("v.example.com", "192.0.2.1"));
    changes.update_new.push_back(record("v.example.com", "192.0.2.2"));
    const auto again = parse_changes(changes_text(changes));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, changes);
    EXPECT_EQ(*parse_changes("{}"), Changes());
    EXPECT_EQ(parse_changes(R"({"Create":[{"dnsName":"a.b","recordType":"A"}]})")->create.size(), 1U) << "as it was";
    EXPECT_EQ(parse_changes("[]").error().code, Errc::invalid);
    EXPECT_EQ(parse_changes(R"({"delete":[{"dnsName":"a.b"}]})").error().text(), "delete[0].recordType: is missing");
}

TEST(WebhookProtocol, FiltersReadWhatTheyWrite) {
    for (const auto* text : {"{}", R"({"include":["a.b"]})", R"({"include":["a.b"],"exclude":["x.a.b"]})",
                             R"({"regexInclude":"^a"})", R"({"regexInclude":"^a","regexExclude":"b$"})"}) {
        const auto filter = parse_filter(text);
        ASSERT_TRUE(filter) << text;
        EXPECT_EQ(filter_text(*filter), text);
    }
}

}  // namespace
}  // namespace fairlead::provider::webhook
