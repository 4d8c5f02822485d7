// The provider against the strict emulator: what is created, changed and removed arrives; what is refused is isolated;
// what others changed is noticed.
#include "route53_world.h"

namespace fairlead::provider::route53 {
namespace {

using State = Outcome::State;

class Route53Emulator : public testing::Test {
protected:
    // One process for all: a Python takes longer to start than any of these tests.
    static void SetUpTestSuite() { emulator = std::make_unique<EmulatorProcess>(); }
    static void TearDownTestSuite() { emulator.reset(); }
    static void start(const std::string& reset = "{}") {
        ASSERT_FALSE(emulator->url.empty());
        emulator->configure(R"({"reset":)" + reset + "}");
    }
    std::unique_ptr<Provider> make(const ZoneSettings& settings, Options options = {}) {
        auto made = maker(world.surroundings, std::move(options))(settings);
        EXPECT_TRUE(made) << made.error().text();
        return std::move(*made);
    }
    std::unique_ptr<Provider> make() { return make(zone_settings(emulator->url)); }

    static dns::Endpoint canonical(const Provider& provider, const dns::Endpoint& from) {
        const auto made = provider.canonicalise(from);
        EXPECT_TRUE(made) << made.error().text();
        return made.value_or(dns::Endpoint{});
    }
    // Listed endpoints by "name type identifier".
    static std::map<std::string, dns::Endpoint> listed(Provider& provider,
                                                       const std::optional<std::vector<std::string>>& names = {}) {
        const auto listing = provider.list(names);
        EXPECT_TRUE(listing) << listing.error().text();
        std::map<std::string, dns::Endpoint> all;
        if (!listing) return all;
        for (const auto& each : listing->endpoints) {
            const auto fresh =
                all.emplace(each.dns_name + " " + each.record_type + " " + each.set_identifier, each).second;
            EXPECT_TRUE(fresh) << each.dns_name << " is listed twice";
        }
        return all;
    }
    static void expect_applied(const std::vector<Outcome>& outcomes) {
        for (const auto& outcome : outcomes) EXPECT_EQ(outcome.state, State::applied) << outcome.message;
    }

    World world;
    static inline std::unique_ptr<EmulatorProcess> emulator;
};

TEST_F(Route53Emulator, CreatesUpdatesRemoves) {
    start();
    auto provider = make();
    const auto before = canonical(*provider, endpoint("www.example.com", "A", {"192.0.2.1", "192.0.2.2"}));
    const auto owner = endpoint("_owner.www.example.com", "TXT", {"\"heritage=external-dns,external-dns/owner=me\""});
    auto outcomes = provider->apply(std::vector{group({create(before)}, {create(canonical(*provider, owner))})});
    ASSERT_EQ(outcomes.size(), 1U);
    expect_applied(outcomes);
    EXPECT_FALSE(outcomes[0].change_id.empty());
    EXPECT_EQ(provider->zone_id(), "ZEXAMPLE");
    EXPECT_EQ(provider->name_servers().size(), 4U);

    auto there = listed(*provider);
    ASSERT_EQ(there.size(), 2U);  // no SOA, no NS of the apex
    EXPECT_EQ(there.at("www.example.com A "), before);
    auto after = before;
    after.ttl = 60;
    after.targets = {"192.0.2.3"};
    expect_applied(provider->apply(std::vector{group({update(before, after)})}));
    EXPECT_EQ(listed(*provider).at("www.example.com A "), after);
    expect_applied(
        provider->apply(std::vector{group({remove(after)}, {remove(there.at("_owner.www.example.com TXT "))})}));
    EXPECT_TRUE(listed(*provider).empty());
    EXPECT_EQ(emulator->requests("ChangeResourceRecordSets"), 3);
}

// All kinds of sets are read back exactly as canonicalise() said they would be.
TEST_F(Route53Emulator, ReadsBackWhatItWrote) {
    start();
    auto provider = make();
    ASSERT_TRUE(provider->list({}));  // finds the zone, so that its id is known
    const std::vector<dns::Endpoint> wanted{
        endpoint("w.example.com", "A", {"192.0.2.1"}, {{"weight", "10"}}, "cluster/a"),
        endpoint("w.example.com", "A", {"192.0.2.2"}, {{"aws/weight", "0"}}, "cluster/b"),
        endpoint("g.example.com", "AAAA", {"2001:DB8::1"}, {{"geo-code", "DE"}}, "de"),
        endpoint("g.example.com", "AAAA", {"2001:db8::2"}, {{"geo-code", "US-CA"}}, "ca"),
        endpoint("g.example.com", "AAAA", {"2001:db8::3"}, {{"geo-code", "GEO-EU"}}, "eu"),
        endpoint("g.example.com", "AAAA", {"2001:db8::4"}, {{"geo-code", "*"}}, "rest"),
        endpoint("f.example.com", "A", {"192.0.2.1"}, {{"failover", "PRIMARY"}, {"health-check-id", "abc-1"}}, "p"),
        endpoint("f.example.com", "A", {"192.0.2.2"}, {{"aws/failover", "SECONDARY"}}, "s"),
        endpoint("l.example.com", "CNAME", {"a.example.org"}, {{"region", "eu-central-1"}}, "eu"),
        endpoint("m.example.com", "A", {"192.0.2.1"}, {{"multi-value-answer", "true"}}, "1"),
        endpoint("m.example.com", "A", {"192.0.2.2"}, {{"multi-value-answer", "true"}}, "2"),
        endpoint("n.example.com", "A", {"192.0.2.1"},
                 {{"geoproximity-region", "us-east-1"}, {"geoproximity-bias", "9"}}, "1"),
        endpoint("n.example.com", "A", {"192.0.2.2"}, {{"geoproximity-coordinates", "49.22,-74.01"}}, "2"),
        endpoint("*.example.com", "TXT", {"any \"text\" with \xc3\xa4"}),
        endpoint("example.com", "TXT", {"\"v=spf1 -all\"", std::string(600, 'k')}),
        endpoint("example.com", "CAA", {"0 issue \"ca.example\""}),
        endpoint("example.com", "MX", {"10 mail.example.com", "20 mail.example.org."}),
        endpoint("_sip._tcp.example.com", "SRV", {"0 5 5060 sip.example.com."}),
        endpoint("sub.example.com", "NS", {"ns1.example.org", "ns2.example.org"}),
        endpoint("lb.example.com", "A", {"my.us-east-1.elb.amazonaws.com"}, {{"alias", "true"}}),
        endpoint("lb.example.com", "AAAA", {"my.us-east-1.elb.amazonaws.com"},
                 {{"alias", "true"}, {"aws/evaluate-target-health", "true"}}),
        endpoint("same.example.com", "A", {"lb.example.com"}, {{"alias", "true"}}),
    };
    std::map<std::string, std::vector<plan::Change>> by_name;
    std::map<std::string, dns::Endpoint> expected;
    for (const auto& each : wanted) {
        const auto form = canonical(*provider, each);
        by_name[form.dns_name].push_back(create(form));
        expected.emplace(form.dns_name + " " + form.record_type + " " + form.set_identifier, form);
    }
    std::vector<plan::ChangeGroup> groups;
    for (auto& [name, changes] : by_name) groups.push_back(group(changes));
    expect_applied(provider->apply(groups));
    const auto there = listed(*provider);
    for (const auto& [key, form] : expected) {
        ASSERT_TRUE(there.contains(key)) << key;
        EXPECT_EQ(there.at(key), form) << key;
    }
    EXPECT_EQ(there.size(), expected.size());
    // One by one, and as a few.
    EXPECT_EQ(listed(*provider, std::vector<std::string>{"g.example.com", "*.example.com", "none.example.com"}).size(),
              5U);

    std::vector<plan::ChangeGroup> removals;
    for (const auto& [key, each] : there) removals.push_back(group({remove(each)}));
    expect_applied(provider->apply(removals));
    EXPECT_TRUE(listed(*provider).empty());
}

TEST_F(Route53Emulator, PolicyAndTypeChangeInOneBatch) {
    start();
    auto provider = make();
    const auto simple = canonical(*provider, endpoint("www.example.com", "A", {"192.0.2.1"}));
    expect_applied(provider->apply(std::vector{group({create(simple)})}));
    const auto blue = canonical(*provider, endpoint("www.example.com", "A", {"192.0.2.1"}, {{"weight", "1"}}, "blue"));
    const auto green =
        canonical(*provider, endpoint("www.example.com", "A", {"192.0.2.2"}, {{"weight", "2"}}, "green"));
    expect_applied(provider->apply(std::vector{group({create(blue), remove(simple), create(green)})}));
    const auto near = [&](const dns::Endpoint& from, const char* place) {
        auto made = from;
        made.properties = {{"geo-code", place}};
        return canonical(*provider, made);
    };
    expect_applied(
        provider->apply(std::vector{group({update(blue, near(blue, "DE")), update(green, near(green, "*"))})}));
    const auto name = canonical(*provider, endpoint("www.example.com", "CNAME", {"x.example.org"}));
    expect_applied(
        provider->apply(std::vector{group({create(name), remove(near(blue, "DE")), remove(near(green, "*"))})}));
    EXPECT_EQ(listed(*provider).size(), 1U);
    EXPECT_EQ(emulator->requests("ChangeResourceRecordSets"), 4);
    const auto state = emulator->state();
    for (const auto& batch : state.at("batches").as_array()) {
        for (const auto& change : batch.as_array()) EXPECT_NE(change.at(0).as_string(), "UPSERT");
    }
}

TEST_F(Route53Emulator, ForeignChangesAreConflicts) {
    start();
    auto provider = make();
    const auto a = canonical(*provider, endpoint("a.example.com", "A", {"192.0.2.1"}));
    const auto b = canonical(*provider, endpoint("b.example.com", "A", {"192.0.2.1"}));
    const auto c = canonical(*provider, endpoint("c.example.com", "A", {"192.0.2.1"}));
    expect_applied(provider->apply(std::vector{group({create(a)}), group({create(b)})}));
    // Somebody changes a, removes b and makes c.
    emulator->foreign(R"([
        {"action":"UPSERT","set":{"Name":"a.example.com","Type":"A","TTL":"5","ResourceRecords":["192.0.2.99"]}},
        {"action":"DELETE","set":{"Name":"b.example.com","Type":"A","TTL":"300","ResourceRecords":["192.0.2.1"]}},
        {"action":"CREATE","set":{"Name":"c.example.com","Type":"A","TTL":"5","ResourceRecords":["192.0.2.99"]}}])");
    auto moved = a;
    moved.targets = {"192.0.2.7"};
    const auto d = canonical(*provider, endpoint("d.example.com", "A", {"192.0.2.1"}));
    const auto outcomes = provider->apply(
        std::vector{group({update(a, moved)}), group({remove(b)}), group({create(c)}), group({create(d)})});
    ASSERT_EQ(outcomes.size(), 4U);
    EXPECT_EQ(outcomes[0].state, State::conflict);
    EXPECT_NE(outcomes[0].message.find("do not match the current values"), std::string::npos) << outcomes[0].message;
    EXPECT_EQ(outcomes[1].state, State::conflict);
    EXPECT_NE(outcomes[1].message.find("was not found"), std::string::npos);
    EXPECT_EQ(outcomes[2].state, State::conflict);
    EXPECT_NE(outcomes[2].message.find("already exists"), std::string::npos);
    EXPECT_EQ(outcomes[3].state, State::applied) << outcomes[3].message;
    const auto there = listed(*provider);
    EXPECT_EQ(there.at("a.example.com A ").targets, std::vector<std::string>{"192.0.2.99"});
    EXPECT_EQ(there.at("c.example.com A ").targets, std::vector<std::string>{"192.0.2.99"});
    // Read again, the same change goes through: also of a set that is spelt in a way of its own.
    emulator->foreign(
        R"([{"action":"CREATE","set":{"Name":"t.example.com","Type":"CNAME","TTL":"5","ResourceRecords":["Mixed.Example.ORG"]}}])");
    const auto again = listed(*provider);
    const auto odd = again.at("t.example.com CNAME ");
    EXPECT_EQ(odd.targets, std::vector<std::string>{"mixed.example.org"});
    expect_applied(
        provider->apply(std::vector{group({update(again.at("a.example.com A "), moved)}), group({remove(odd)})}));
}

TEST_F(Route53Emulator, FailingRecordsAreIsolated) {
    for (const bool old_errors : {false, true}) {
        start();
        if (old_errors) emulator->configure(R"({"old_errors":true})");
        auto provider = make();
        emulator->foreign(
            R"([{"action":"CREATE","set":{"Name":"n7.example.com","Type":"CNAME","TTL":"5","ResourceRecords":["x.example.org"]}}])");
        std::vector<plan::ChangeGroup> groups;
        for (int i = 0; i < 40; ++i) {
            auto each = canonical(*provider, endpoint("n" + std::to_string(i) + ".example.com", "A", {"192.0.2.1"}));
            // Its message does not say which record it is about, so that it has to be searched for.
            if (i == 23) {
                each.record_type = "SSHFP";
                each.targets = {"1 1 " + std::string(20, 'f')};
            }
            groups.push_back(group({create(each)}));
        }
        emulator->configure(R"({"refuse":"SSHFP"})");
        const auto outcomes = provider->apply(groups);
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            EXPECT_EQ(outcomes[i].state, i == 7 || i == 23 ? State::refused : State::applied)
                << i << ": " << outcomes[i].message;
        }
        EXPECT_NE(outcomes[7].message.find("n7.example.com"), std::string::npos) << outcomes[7].message;
        EXPECT_EQ(listed(*provider).size(), 39U);
        EXPECT_LE(emulator->requests("ChangeResourceRecordSets"), 14);  // 2 log2(40) + 2
    }
}

TEST_F(Route53Emulator, ManySetsByPageAndBatch) {
    start();
    auto provider = make();
    std::vector<plan::ChangeGroup> groups;
    constexpr int count = 1'200;
    for (int i = 0; i < count; ++i) {
        const auto name = "h" + std::to_string(i) + ".example.com";
        groups.push_back(group({create(canonical(*provider, endpoint(name, "A", {"192.0.2.1"})))},
                               {create(canonical(*provider, endpoint("_owner." + name, "TXT", {"\"owner=me\""})))}));
    }
    expect_applied(provider->apply(groups));
    EXPECT_EQ(emulator->requests("ChangeResourceRecordSets"), 3);  // 2400 changes
    // Record and owner of one name are always in one batch.
    std::map<std::string, std::set<std::size_t>> batches;
    const auto state = emulator->state();
    const auto& accepted = state.at("batches").as_array();
    for (std::size_t i = 0; i < accepted.size(); ++i) {
        for (const auto& change : accepted[i].as_array()) {
            std::string name(json::view(change.at(1).as_string()));
            if (name.starts_with("_owner.")) name.erase(0, 7);
            batches[name].insert(i);
        }
    }
    EXPECT_EQ(batches.size(), static_cast<std::size_t>(count));
    for (const auto& [name, in] : batches) EXPECT_EQ(in.size(), 1U) << name;
    emulator->configure(R"({"forget":true})");
    EXPECT_EQ(listed(*provider).size(), 2U * count);
    EXPECT_EQ(emulator->requests("ListResourceRecordSets"), 9);  // 2402 sets
    emulator->configure(R"({"forget":true})");
    // Two names that are far apart, one that is not there, and one beside the first: three pages.
    const auto few = listed(*provider, std::vector<std::string>{"h1.example.com", "_owner.h1.example.com",
                                                                "h999.example.com", "nowhere.example.com"});
    EXPECT_EQ(few.size(), 3U);
    EXPECT_LE(emulator->requests("ListResourceRecordSets"), 3);
}

TEST_F(Route53Emulator, ManySetsOfOneName) {
    start();
    auto provider = make();
    std::vector<plan::Change> changes;
    for (int i = 0; i < 90; ++i) {
        changes.push_back(create(canonical(
            *provider, endpoint("w.example.com", "A", {"192.0.2.1"}, {{"weight", "1"}}, "id" + std::to_string(i)))));
    }
    expect_applied(provider->apply(std::vector{group(changes)}));
    EXPECT_EQ(listed(*provider, std::vector<std::string>{"w.example.com"}).size(), 90U);
}

TEST_F(Route53Emulator, ThrottledAndStillDone) {
    start();
    auto provider = make();
    ASSERT_TRUE(provider->list({}));
    emulator->configure(R"({"rate":3,"window":2})");
    for (int i = 0; i < 5; ++i) {
        const auto listing = provider->list(std::vector<std::string>{"www.example.com"});
        ASSERT_TRUE(listing) << listing.error().text();
    }
    EXPECT_GT(emulator->state().at("throttled").to_number<int>(), 0);
    EXPECT_NE(world.metrics.expose().find("fairlead_route53_throttled_total"), std::string::npos);
}

TEST_F(Route53Emulator, ZonesOfAnAccountShareItsBudget) {
    start();
    const auto make_all = maker(world.surroundings, {});
    auto settings = zone_settings(emulator->url);
    settings.route53.requests_per_second = 10;
    auto one = make_all(settings).value();
    auto other = make_all(settings).value();
    const auto began = world.clock.monotonic();
    for (int i = 0; i < 18; ++i) {  // and four to find the zone: 22 in all
        ASSERT_TRUE((i % 2 == 0 ? one : other)->list(std::vector<std::string>{"www.example.com"}));
    }
    EXPECT_GE(world.clock.monotonic() - began, std::chrono::seconds(2));  // each for itself: one second
}

TEST_F(Route53Emulator, PassingFailures) {
    start();
    emulator->configure(R"({"fail":[
        {"operation":"ChangeResourceRecordSets","code":"PriorRequestNotComplete","times":2,
         "message":"The request was rejected because Route 53 was still processing a prior request."},
        {"operation":"ListResourceRecordSets","code":"ServiceUnavailable","status":503,"times":1}]})");
    auto provider = make();
    const auto www = canonical(*provider, endpoint("www.example.com", "A", {"192.0.2.1"}));
    expect_applied(provider->apply(std::vector{group({create(www)})}));
    EXPECT_EQ(listed(*provider).size(), 1U);
    EXPECT_EQ(emulator->requests("ChangeResourceRecordSets"), 3);
}

TEST_F(Route53Emulator, FollowsChanges) {
    start();
    auto provider = make();
    emulator->configure(R"({"insync_after":1000})");
    const auto www = canonical(*provider, endpoint("www.example.com", "A", {"192.0.2.1"}));
    const auto outcomes = provider->apply(std::vector{group({create(www)})});
    expect_applied(outcomes);
    const std::vector<std::string> ids{outcomes[0].change_id, outcomes[0].change_id, "CNONE", "../x"};
    using enum ChangeState;
    EXPECT_EQ(provider->follow(ids), (std::vector{pending, pending, unknown, unknown}));
    emulator->configure(R"({"insync_after":0,"forget":true})");
    EXPECT_EQ(provider->follow(ids), (std::vector{in_sync, in_sync, unknown, unknown}));
    EXPECT_EQ(emulator->requests("GetChange"), 2);  // one id, one question; what is no id is not asked for
    emulator->configure(R"({"fail":[{"operation":"GetChange","code":"AccessDenied","status":403,"times":1}]})");
    EXPECT_EQ(provider->follow(ids), (std::vector{pending, pending, pending, unknown}));
}

TEST_F(Route53Emulator, WhichZone) {
    start(R"({"zones":[["example.com","ZPUBLIC",false],["example.com","ZPRIVATE",true],["example.org","ZORG1",false],
        ["example.org","ZORG2",false],["sub.example.com","ZSUB",false]]})");
    const auto found = [&](const char* apex, const char* id, bool is_private) -> Result<std::string> {
        auto settings = zone_settings(emulator->url);
        settings.apex = dns::Name::parse(apex).value();
        settings.id = id;
        settings.route53.private_zone = is_private;
        auto provider = make(settings);
        const auto listing = provider->list({});
        if (!listing) return fail(listing.error());
        return provider->zone_id();
    };
    EXPECT_EQ(found("example.com", "", false).value(), "ZPUBLIC");
    EXPECT_EQ(found("example.com", "", true).value(), "ZPRIVATE");
    EXPECT_EQ(found("example.com", "/hostedzone/ZPRIVATE", false).value(), "ZPRIVATE");
    EXPECT_EQ(found("example.org", "ZORG2", false).value(), "ZORG2");
    EXPECT_EQ(found("example.org", "", false).error().text(),
              "spec.id: the account has 2 public hosted zones example.org: say which is meant, of ZORG1, ZORG2");
    EXPECT_EQ(found("example.com", "ZORG1", false).error().text(),
              "spec.id: hosted zone ZORG1 is example.org, not example.com");
    const auto none = found("example.net", "", false);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::not_found);
    EXPECT_NE(found("sub.example.com", "", true).error().text().find("but a public one"), std::string::npos);
    EXPECT_EQ(found("example.com", "ZGONE", false).error().code, Errc::not_found);
}

TEST_F(Route53Emulator, WrongKeysAreSaidSo) {
    start();
    auto settings = zone_settings(emulator->url);
    settings.secret["AWS_SECRET_ACCESS_KEY"] = "wrong";
    const auto listing = make(settings)->list({});
    ASSERT_FALSE(listing);
    EXPECT_EQ(listing.error().code, Errc::invalid);
    EXPECT_EQ(listing.error().field, "spec.dnsProviderSecretRef");
    EXPECT_NE(listing.error().message.find("SignatureDoesNotMatch"), std::string::npos) << listing.error().message;
    // The service repeats what it has signed; we do not.
    EXPECT_EQ(listing.error().message.find("Canonical String"), std::string::npos) << listing.error().message;
    auto provider = make(settings);
    const auto outcomes = provider->apply(std::vector{group({create(endpoint("a.example.com", "A", {"192.0.2.1"}))})});
    EXPECT_EQ(outcomes.at(0).state, State::unavailable);
}

TEST_F(Route53Emulator, ContainerAndInstanceCredentialsAreRenewed) {
    for (const bool container : {true, false}) {
        start();
        auto settings = zone_settings("");
        settings.secret.clear();
        Options options;
        options.ambient_credentials = true;
        options.instance_endpoint = emulator->url;
        const auto url = emulator->url;
        options.environment = [container, url](const std::string& name) -> std::optional<std::string> {
            if (name == "AWS_ENDPOINT_URL_ROUTE_53") return url;
            if (!container) return std::nullopt;
            if (name == "AWS_CONTAINER_CREDENTIALS_FULL_URI") return url + "/container-credentials";
            if (name == "AWS_CONTAINER_AUTHORIZATION_TOKEN") return "container-token";
            return std::nullopt;
        };
        const std::string path =
            container ? "/container-credentials" : "/latest/meta-data/iam/security-credentials/fairlead-role";
        auto provider = make(settings, options);
        ASSERT_TRUE(provider->list({}));
        ASSERT_TRUE(provider->list({}));
        EXPECT_EQ(emulator->requests(path), 1);
        // Ended before their time: asked for anew, once.
        emulator->configure(R"({"expire_keys":true})");
        ASSERT_TRUE(provider->list({}));
        EXPECT_EQ(emulator->requests(path), 2);
        // Those that end within minutes are renewed each time.
        emulator->configure(R"({"expire_keys":true,"credentials_last":100})");
        const auto again = provider->list({});
        ASSERT_TRUE(again) << again.error().text();
        ASSERT_TRUE(provider->list({}));
        EXPECT_GE(emulator->requests(path), 4);
    }
}

TEST_F(Route53Emulator, AliasesLandAfterTheirTargets) {
    start();
    auto provider = make();
    ASSERT_TRUE(provider->list({}));
    const auto alias = canonical(*provider, endpoint("a.example.com", "A", {"z.example.com"}, {{"alias", "true"}}));
    const auto target = canonical(*provider, endpoint("z.example.com", "A", {"192.0.2.1"}));
    const auto lost = canonical(*provider, endpoint("b.example.com", "A", {"none.example.com"}, {{"alias", "true"}}));
    const auto outcomes =
        provider->apply(std::vector{group({create(alias)}), group({create(lost)}), group({create(target)})});
    EXPECT_EQ(outcomes[0].state, State::applied) << outcomes[0].message;
    EXPECT_EQ(outcomes[1].state, State::refused);
    EXPECT_NE(outcomes[1].message.find("that target was not found"), std::string::npos) << outcomes[1].message;
    EXPECT_EQ(outcomes[2].state, State::applied) << outcomes[2].message;
    // An alias of a name that answers through a load balancer: both families.
    const auto parts = provider->expand(endpoint("example.com", "CNAME", {"my.us-east-1.elb.amazonaws.com"}));
    ASSERT_EQ(parts.size(), 2U);
    expect_applied(provider->apply(
        std::vector{group({create(canonical(*provider, parts[0])), create(canonical(*provider, parts[1]))})}));
}

}  // namespace
}  // namespace fairlead::provider::route53
