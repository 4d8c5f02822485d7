// The provider rfc2136 against real servers: BIND and Knot, each with two algorithms, and PowerDNS where it is there.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "plan/plan.h"
#include "provider/real/name_server.h"
#include "provider/rfc2136/rfc2136.h"
#include "provider/zones.h"

namespace fairlead::provider {
namespace {

struct Kind {
    Software software;
    const char* algorithm;
};

const std::vector<std::string> zone_names{"life.example",  "types.example", "foreign.example", "batch.example",
                                          "names.example", "many.example",  "keys.example",    "rights.example",
                                          "clash.example", "alias.example", "large.example"};

class Rfc2136Server : public testing::TestWithParam<Kind> {
protected:
    void SetUp() override {
        // One process for all tests of a kind: each test has a zone of its own.
        auto& kept = servers()[{GetParam().software, GetParam().algorithm}];
        if (!kept) {
            kept = std::make_unique<NameServer>(GetParam().software, GetParam().algorithm, zone_names);
            if (kept->available()) kept->start();
        }
        server_ = kept.get();
        ASSERT_TRUE(server_->available())
            << software_text(GetParam().software) << " is missing: ./dev setup installs it";
    }
    static void TearDownTestSuite() { servers().clear(); }

    std::unique_ptr<Provider> provider(const ZoneSettings& settings) {
        auto made = rfc2136::make(settings, world_.around);
        EXPECT_TRUE(made) << made.error().text();
        return made ? std::move(*made) : nullptr;
    }
    std::unique_ptr<Provider> provider(const std::string& zone) { return provider(server_->settings(zone)); }
    static std::vector<std::string> lines(Provider& provider,
                                          const std::optional<std::vector<std::string>>& names = std::nullopt) {
        const auto listed = provider.list(names);
        EXPECT_TRUE(listed) << listed.error().text();
        auto lines = listed ? lines_of(listed->endpoints) : std::vector<std::string>{};
        std::erase_if(lines, [](const std::string& line) { return line.starts_with("ns1."); });
        return lines;
    }
    [[nodiscard]] std::vector<std::string> ask(const std::string& name, const std::string& type) const {
        return dig(server_->port(), name, type);
    }

    NameServer* server_ = nullptr;
    World world_;

private:
    using Servers = std::map<std::pair<Software, std::string>, std::unique_ptr<NameServer>>;
    static Servers& servers() {
        static Servers all;
        return all;
    }
};

TEST_P(Rfc2136Server, CreatesUpdatesAndDeletes) {
    const auto zone = provider("life.example");
    EXPECT_EQ(lines(*zone), std::vector<std::string>{});
    EXPECT_EQ(zone->name_servers(), std::vector<std::string>{"ns1.life.example"});
    auto outcomes = zone->apply(std::vector{
        group_of({"+www.life.example 60 A 192.0.2.1;192.0.2.2",
                  "+_owner.www.life.example 300 TXT \"heritage=external-dns\""}),
        group_of({"+*.life.example 300 CNAME www.life.example."}),
    });
    EXPECT_EQ(states_of(outcomes), "applied applied") << messages_of(outcomes);
    EXPECT_TRUE(outcomes[0].change_id.starts_with("serial ")) << outcomes[0].change_id;
    EXPECT_EQ(ask("www.life.example", "A"), (std::vector<std::string>{"192.0.2.1", "192.0.2.2"}));
    EXPECT_EQ(lines(*zone), (std::vector<std::string>{"*.life.example 300 CNAME www.life.example.",
                                                      "_owner.www.life.example 300 TXT \"heritage=external-dns\"",
                                                      "www.life.example 60 A 192.0.2.1;192.0.2.2"}));
    outcomes = zone->apply(
        std::vector{group_of({"-www.life.example 60 A 192.0.2.1;192.0.2.2", "+www.life.example 30 A 192.0.2.3"})});
    EXPECT_EQ(states_of(outcomes), "applied") << messages_of(outcomes);
    EXPECT_EQ(ask("www.life.example", "A"), std::vector<std::string>{"192.0.2.3"});
    outcomes = zone->apply(std::vector{
        group_of({"-www.life.example 30 A 192.0.2.3", "-_owner.www.life.example 300 TXT \"heritage=external-dns\""}),
        group_of({"-*.life.example 300 CNAME www.life.example."}),
    });
    EXPECT_EQ(states_of(outcomes), "applied applied") << messages_of(outcomes);
    EXPECT_EQ(lines(*zone), std::vector<std::string>{});
}

TEST_P(Rfc2136Server, KeepsEveryTypeAsItCanonicalisesIt) {
    const auto zone = provider("types.example");
    const std::vector<std::string> wanted{
        "a.types.example 60 A 192.0.2.1",
        "a.types.example 60 AAAA 2001:DB8:0::1",
        "c.types.example 60 CNAME Target.Example",
        "t.types.example 60 TXT \"v=spf1 -all\"",
        "q.types.example 60 TXT \"a \\\"quoted\\\" one\" \"and a second\"",
        "sub.types.example 60 NS ns1.types.example",
        "m.types.example 60 MX 10 mail.elsewhere.example;20 mail2.elsewhere.example",
        "_sip._tcp.types.example 60 SRV 1 2 5060 sip.types.example",
        "caa.types.example 60 CAA 0 issue \"ca.example\"",
        "p.types.example 60 PTR host.types.example",
        "_443._tcp.types.example 60 TLSA 3 1 1 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        "h.types.example 60 HTTPS 1 . alpn=h2",
        "s.types.example 60 SVCB 1 svc.types.example port=8443 ipv4hint=192.0.2.1",
        "types.example 60 TXT \"at the apex\"",
    };
    std::vector<plan::ChangeGroup> groups;
    std::vector<dns::Endpoint> canonical;
    for (const auto& line : wanted) {
        const auto made = zone->canonicalise(endpoint_of_line(line));
        ASSERT_TRUE(made) << made.error().text();
        canonical.push_back(*made);
        groups.push_back({made->dns_name, {creation(*made)}, {}});
    }
    const auto outcomes = zone->apply(groups);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        EXPECT_EQ(state_text(outcomes[i].state), "applied") << groups[i].name << ": " << outcomes[i].message;
    }
    EXPECT_EQ(lines(*zone), lines_of(canonical)) << "by transfer";
    std::vector<std::string> names;
    for (const auto& endpoint : canonical) names.push_back(endpoint.dns_name);
    EXPECT_EQ(lines(*zone, names), lines_of(canonical)) << "by name";
    // What was read is what can be changed: prerequisites hold for every type.
    groups.clear();
    for (const auto& endpoint : canonical) {
        groups.push_back({endpoint.dns_name, {removal(endpoint)}, {}});
    }
    const auto removed = zone->apply(groups);
    for (std::size_t i = 0; i < removed.size(); ++i) {
        EXPECT_EQ(state_text(removed[i].state), "applied") << groups[i].name << ": " << removed[i].message;
    }
    EXPECT_EQ(lines(*zone), std::vector<std::string>{});
}

TEST_P(Rfc2136Server, ForeignEditsBetweenReadingAndWritingAreConflicts) {
    const auto zone = provider("foreign.example");
    auto outcomes = zone->apply(std::vector{group_of({"+a.foreign.example 60 A 192.0.2.1"}),
                                            group_of({"+b.foreign.example 60 A 192.0.2.1"}),
                                            group_of({"+c.foreign.example 60 A 192.0.2.1"})});
    ASSERT_EQ(states_of(outcomes), "applied applied applied") << messages_of(outcomes);
    server_->edit("foreign.example",
                  "update add a.foreign.example. 60 A 198.51.100.1\n"
                  "update delete b.foreign.example. A\n"
                  "update add d.foreign.example. 60 A 198.51.100.4\n"
                  "update add e.foreign.example. 60 CNAME other.example.\n"
                  "update add f.foreign.example. 60 TXT \"theirs\"");
    outcomes = zone->apply(std::vector{
        group_of({"-a.foreign.example 60 A 192.0.2.1", "+a.foreign.example 60 A 192.0.2.9"}),
        group_of({"-b.foreign.example 60 A 192.0.2.1"}),
        group_of({"-c.foreign.example 60 A 192.0.2.1", "+c.foreign.example 60 A 192.0.2.9"}),
        group_of({"+d.foreign.example 60 A 192.0.2.9"}),
        group_of({"+e.foreign.example 60 A 192.0.2.9"}),
        group_of({"+f.foreign.example 60 CNAME www.example."}),
        group_of({"+g.foreign.example 60 A 192.0.2.9"}),
    });
    EXPECT_EQ(states_of(outcomes), "conflict conflict applied conflict conflict conflict applied")
        << messages_of(outcomes);
    EXPECT_NE(outcomes[0].message.find("a.foreign.example: NXRRSET: "), std::string::npos) << outcomes[0].message;
    EXPECT_NE(outcomes[3].message.find("d.foreign.example: YXRRSET: "), std::string::npos) << outcomes[3].message;
    EXPECT_EQ(lines(*zone), (std::vector<std::string>{
                                "a.foreign.example 60 A 192.0.2.1;198.51.100.1", "c.foreign.example 60 A 192.0.2.9",
                                "d.foreign.example 60 A 198.51.100.4", "e.foreign.example 60 CNAME other.example.",
                                "f.foreign.example 60 TXT \"theirs\"", "g.foreign.example 60 A 192.0.2.9"}))
        << "nothing of theirs is lost";
}

TEST_P(Rfc2136Server, TheRecordAndItsOwnerLandTogetherOrNotAtAll) {
    const auto zone = provider("clash.example");
    server_->edit("clash.example", "update add _owner.a.clash.example. 60 TXT \"somebody\"");
    const auto outcomes = zone->apply(std::vector{
        group_of({"+a.clash.example 60 A 192.0.2.1", "+_owner.a.clash.example 300 TXT \"heritage=external-dns\""})});
    EXPECT_EQ(states_of(outcomes), "conflict") << messages_of(outcomes);
    EXPECT_EQ(lines(*zone), std::vector<std::string>{"_owner.a.clash.example 60 TXT \"somebody\""});
}

TEST_P(Rfc2136Server, TypesChangePlacesInOneStep) {
    const auto zone = provider("alias.example");
    auto outcomes = zone->apply(std::vector{group_of({"+a.alias.example 60 A 192.0.2.1"})});
    outcomes = zone->apply(
        std::vector{group_of({"-a.alias.example 60 A 192.0.2.1", "+a.alias.example 60 CNAME www.example."})});
    EXPECT_EQ(states_of(outcomes), "applied") << messages_of(outcomes);
    EXPECT_EQ(lines(*zone), std::vector<std::string>{"a.alias.example 60 CNAME www.example."});
    outcomes = zone->apply(std::vector{group_of({"-a.alias.example 60 CNAME www.example.",
                                                 "+a.alias.example 60 A 192.0.2.1", "+a.alias.example 60 TXT \"x\""})});
    EXPECT_EQ(states_of(outcomes), "applied") << messages_of(outcomes);
    EXPECT_EQ(lines(*zone),
              (std::vector<std::string>{"a.alias.example 60 A 192.0.2.1", "a.alias.example 60 TXT \"x\""}));
    // The TXT stays, so there is no place for a CNAME.
    outcomes = zone->apply(
        std::vector{group_of({"-a.alias.example 60 A 192.0.2.1", "+a.alias.example 60 CNAME www.example."})});
    EXPECT_EQ(states_of(outcomes), "conflict") << messages_of(outcomes);
    EXPECT_EQ(lines(*zone),
              (std::vector<std::string>{"a.alias.example 60 A 192.0.2.1", "a.alias.example 60 TXT \"x\""}));
}

TEST_P(Rfc2136Server, ReadsAFewNamesWithoutMistakingWildcardsForThem) {
    const auto zone = provider("names.example");
    server_->edit("names.example",
                  "update add *.names.example. 60 A 192.0.2.7\n"
                  "update add www.names.example. 60 A 192.0.2.1\n"
                  "update add alias.names.example. 60 CNAME nowhere.names.example.\n"
                  "update add deep.down.names.example. 60 TXT \"x\"\n"
                  "update add *.cname.names.example. 60 CNAME www.names.example.");
    const std::vector<std::string> names{"www.names.example",     "no.names.example",      "alias.names.example",
                                         "*.names.example",       "down.names.example",    "deep.down.names.example",
                                         "x.cname.names.example", "www.elsewhere.example", "names.example"};
    EXPECT_EQ(lines(*zone, names),
              (std::vector<std::string>{"*.names.example 60 A 192.0.2.7",
                                        "alias.names.example 60 CNAME nowhere.names.example.",
                                        "deep.down.names.example 60 TXT \"x\"", "www.names.example 60 A 192.0.2.1"}));
    // Behind a delegation, queries show nothing: a transfer does.
    server_->edit("names.example",
                  "update add sub.names.example. 60 NS ns.sub.names.example.\n"
                  "update add ns.sub.names.example. 60 A 192.0.2.53");
    const std::vector<std::string> below{"sub.names.example", "ns.sub.names.example", "www.names.example"};
    EXPECT_EQ(lines(*zone, below), (std::vector<std::string>{"ns.sub.names.example 60 A 192.0.2.53",
                                                             "sub.names.example 60 NS ns.sub.names.example.",
                                                             "www.names.example 60 A 192.0.2.1"}));
}

TEST_P(Rfc2136Server, AFailingGroupDoesNotHoldUpItsNeighbours) {
    const auto zone = provider("batch.example");
    server_->edit("batch.example",
                  "update add n17.batch.example. 60 A 198.51.100.1\n"
                  "update add n63.batch.example. 60 CNAME theirs.example.");
    std::vector<plan::ChangeGroup> groups;
    for (int i = 0; i < 100; ++i) groups.push_back(group_of({fmt::format("+n{}.batch.example 60 A 192.0.2.1", i)}));
    groups[40].changes[0].after->targets = {"no address"};
    const auto outcomes = zone->apply(groups);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const auto* expected = i == 17 || i == 63 ? "conflict" : i == 40 ? "refused" : "applied";
        EXPECT_EQ(state_text(outcomes[i].state), expected) << i << ": " << outcomes[i].message;
    }
    EXPECT_EQ(lines(*zone).size(), 99U);
}

TEST_P(Rfc2136Server, LargeSetsChangeByLittle) {
    const auto zone = provider("large.example");
    // BIND takes 100 records of a type at most, unless it is told otherwise.
    std::vector<std::string> texts;
    for (int i = 0; i < 100; ++i) {
        texts.push_back(fmt::format("\"{0:a>250}\" \"{0:b>150}\"", i));
    }
    const auto line = [&](const char* sign) {
        return fmt::format("{}a.large.example 60 TXT {}", sign, join(texts, ";"));
    };
    auto outcomes = zone->apply(std::vector{group_of({line("+")})});
    ASSERT_EQ(states_of(outcomes), "applied") << messages_of(outcomes);
    const auto before = line("-");
    texts[7] = "\"changed\"";
    outcomes = zone->apply(std::vector{group_of({before, line("+")})});
    EXPECT_EQ(states_of(outcomes), "applied") << messages_of(outcomes);
    const auto now = endpoint_of_line(line("+").substr(1));
    EXPECT_EQ(lines(*zone), std::vector<std::string>{line_of(now)});
    auto other = now;
    other.ttl = 61;
    auto change = creation(other);
    change.before = now;
    outcomes = zone->apply(std::vector{plan::ChangeGroup{"a.large.example", {change}, {}}});
    EXPECT_EQ(states_of(outcomes), "refused") << "all of it twice does not fit into a message";
    EXPECT_NE(outcomes[0].message.find("the changes of a.large.example take "), std::string::npos)
        << outcomes[0].message;
}

TEST_P(Rfc2136Server, AWrongKeyIsNamed) {
    auto settings = server_->settings("keys.example");
    settings.secret["secret"] = other_secret;
    const auto wrong = provider(settings);
    auto listed = wrong->list(std::nullopt);
    ASSERT_FALSE(listed);
    EXPECT_EQ(listed.error().code, Errc::invalid);
    EXPECT_EQ(listed.error().field, "spec.dnsProviderSecretRef");
    EXPECT_NE(listed.error().text().find("NOTAUTH"), std::string::npos) << listed.error().text();
    if (GetParam().software != Software::powerdns) {  // which says NOTAUTH alone
        EXPECT_NE(listed.error().text().find("BADSIG"), std::string::npos) << listed.error().text();
    }
    const auto outcomes = wrong->apply(std::vector{group_of({"+a.keys.example 60 A 192.0.2.1"})});
    EXPECT_EQ(states_of(outcomes), "unavailable") << messages_of(outcomes);
    EXPECT_EQ(outcomes[0].message.find(other_secret), std::string::npos) << "what is secret stays so";

    settings = server_->settings("keys.example");
    settings.secret["name"] = "unknown.key";
    listed = provider(settings)->list(std::nullopt);
    ASSERT_FALSE(listed);
    EXPECT_EQ(listed.error().code, Errc::invalid) << listed.error().text();
    EXPECT_EQ(lines(*provider("keys.example")), std::vector<std::string>{});
}

TEST_P(Rfc2136Server, AZoneThatIsNotThereIsNotFound) {
    const auto zone = provider("nowhere.example");
    const auto listed = zone->list(std::nullopt);
    ASSERT_FALSE(listed);
    if (GetParam().software == Software::bind) {
        EXPECT_EQ(listed.error().code, Errc::not_found) << listed.error().text();
    } else {  // which do not sign what they say about zones of others
        EXPECT_NE(listed.error().text().find("NOTAUTH: it does not serve the zone, or does not know the key"),
                  std::string::npos)
            << listed.error().text();
    }
    const auto outcomes = zone->apply(std::vector{group_of({"+a.nowhere.example 60 A 192.0.2.1"})});
    EXPECT_NE(states_of(outcomes), "applied");
    EXPECT_NE(outcomes[0].message, "");
}

TEST_P(Rfc2136Server, TenThousandRecords) {
    const auto zone = provider("many.example");
    // PowerDNS over SQLite takes 30 ms for each; the other algorithm is no reason to do all of it again.
    const int count = GetParam().software == Software::powerdns            ? 300
                      : GetParam().algorithm == std::string("hmac-sha256") ? 10'000
                                                                           : 1'000;
    std::vector<plan::ChangeGroup> groups;
    for (int i = 0; i < count; ++i) {
        groups.push_back(group_of(
            {fmt::format("+n{}.many.example 60 A 192.0.2.{}", i, i % 250),
             fmt::format("+_owner.n{}.many.example 300 TXT \"heritage=external-dns,external-dns/owner=me\"", i)}));
    }
    auto outcomes = zone->apply(groups);
    EXPECT_EQ(std::count_if(outcomes.begin(), outcomes.end(),
                            [](const Outcome& outcome) { return outcome.state == Outcome::State::applied; }),
              count)
        << messages_of(outcomes).substr(0, 500);
    const auto listed = zone->list(std::nullopt);
    ASSERT_TRUE(listed) << listed.error().text();
    std::vector<dns::Endpoint> wanted;
    for (auto& group : groups) {
        for (auto* list : {&group.changes, &group.ownership}) {
            const auto canonical = zone->canonicalise(*list->front().after);
            ASSERT_TRUE(canonical);
            wanted.push_back(*canonical);
            list->front().before = std::exchange(list->front().after, std::nullopt);
            list->front().action = plan::Action::remove;
        }
    }
    EXPECT_EQ(lines(*zone), lines_of(wanted)) << "what was written is what is read: nothing is left to plan";
    plan::Options options;
    options.owner = "me";
    auto present = listed->endpoints;
    for (auto& endpoint : present) plan::set_label(endpoint, plan::owner_label, "me");
    std::vector<plan::Desired> desired;
    for (const auto& endpoint : wanted) desired.push_back({endpoint, {}});
    const auto again = plan::plan(present, desired, options);
    EXPECT_EQ(again.count(plan::Action::create), 0U);
    EXPECT_EQ(again.count(plan::Action::update), 0U);
    outcomes = zone->apply(groups);
    EXPECT_EQ(std::count_if(outcomes.begin(), outcomes.end(),
                            [](const Outcome& outcome) { return outcome.state == Outcome::State::applied; }),
              count)
        << messages_of(outcomes).substr(0, 500);
    EXPECT_EQ(lines(*zone), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Real, Rfc2136Server,
                         testing::Values(Kind{Software::bind, "hmac-sha256"}, Kind{Software::bind, "hmac-sha512"},
                                         Kind{Software::knot, "hmac-sha256"}, Kind{Software::knot, "hmac-sha512"},
                                         Kind{Software::powerdns, "hmac-sha256"}),
                         [](const auto& kind) {
                             auto name = software_text(kind.param.software) + "_" + kind.param.algorithm;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(Rfc2136Rights, ARefusalIsTheGroupsOwn) {
    World world;
    NameServer server(Software::bind, "hmac-sha256", {"rights.example"});
    server.start();
    const auto zone = rfc2136::make(server.settings("rights.example"), world.around).value();
    const auto outcomes = zone->apply(std::vector{group_of({"+a.ours.rights.example 60 A 192.0.2.1"}),
                                                  group_of({"+theirs.rights.example 60 A 192.0.2.1"}),
                                                  group_of({"+b.ours.rights.example 60 A 192.0.2.1"})});
    EXPECT_EQ(states_of(outcomes), "applied refused applied") << messages_of(outcomes);
    EXPECT_NE(outcomes[1].message.find("theirs.rights.example: REFUSED: "), std::string::npos) << outcomes[1].message;
}

TEST(Rfc2136Servers, TheSecondTakesOverAndTheFirstComesBack) {
    World world;
    NameServer first(Software::bind, "hmac-sha256", {"over.example"});
    NameServer second(Software::bind, "hmac-sha256", {"over.example"});
    second.start();
    auto settings = second.settings("over.example");
    settings.rfc2136.servers = {first.address(), second.address()};
    const auto zone = rfc2136::make(settings, world.around).value();
    auto outcomes = zone->apply(std::vector{group_of({"+a.over.example 60 A 192.0.2.1"})});
    EXPECT_EQ(states_of(outcomes), "applied") << messages_of(outcomes);
    EXPECT_EQ(dig(second.port(), "a.over.example", "A"), std::vector<std::string>{"192.0.2.1"});

    second.stop();
    outcomes = zone->apply(std::vector{group_of({"+b.over.example 60 A 192.0.2.1"})});
    EXPECT_EQ(states_of(outcomes), "unavailable");
    EXPECT_NE(outcomes[0].message.find(first.address()), std::string::npos) << outcomes[0].message;
    EXPECT_NE(outcomes[0].message.find(second.address()), std::string::npos) << outcomes[0].message;
    const auto listed = zone->list(std::nullopt);
    ASSERT_FALSE(listed);
    EXPECT_EQ(listed.error().code, Errc::unavailable);

    first.start();
    outcomes = zone->apply(std::vector{group_of({"+b.over.example 60 A 192.0.2.1"})});
    EXPECT_EQ(states_of(outcomes), "applied") << messages_of(outcomes);
    EXPECT_EQ(dig(first.port(), "b.over.example", "A"), std::vector<std::string>{"192.0.2.1"});
}

}  // namespace
}  // namespace fairlead::provider
