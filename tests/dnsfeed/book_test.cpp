// What zones, records and secrets come to, change by change.
#include "dnsfeed/book.h"

#include <chrono>

#include "dnsfeed/objects.h"

namespace fairlead::dnsfeed {
namespace {

using Lines = std::set<std::string>;

TEST(Book, AZoneWithNothingButItsDomain) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com"));
    EXPECT_EQ(content(world.zones),
              (Lines{"example.com example.com NS/ 300 ns1.example.com.",
                     "example.com example.com SOA/ 300 ns1.example.com. hostmaster.example.com. 0 3600 600 1209600 300",
                     "example.com ns1.example.com A/ 300 192.0.2.53"}));
    EXPECT_EQ(world.zone("default/zone"), "Served: served since serial 1");
    const auto facts = world.book.verdict_of_zone("default/zone")->zone;
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->serial, 1U);
    EXPECT_EQ(facts->record_sets, 3U);
    EXPECT_EQ(facts->name_servers, (std::vector<std::string>{"ns1.example.com"}));
}

TEST(Book, AZoneWithEverything) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com",
                               R"("defaultTTL":60,"soa":{"mailbox":"first.last@example.net","refresh":1,"retry":2,)"
                               R"("expire":3,"negativeTTL":4},"nameServers":[{"name":"a.example.com",)"
                               R"("addresses":["192.0.2.1","2001:db8::1"]},{"name":"b.example.net",)"
                               R"("addresses":["192.0.2.2"]}])"));
    EXPECT_EQ(content(world.zones),
              (Lines{"example.com a.example.com A/ 60 192.0.2.1", "example.com a.example.com AAAA/ 60 2001:db8::1",
                     "example.com example.com NS/ 60 a.example.com.,b.example.net.",
                     R"(example.com example.com SOA/ 60 a.example.com. first\.last.example.net. 0 1 2 3 4)"}));
}

TEST(Book, ARecordIsServedInItsZone) {
    World world;
    world.put_record(record_object({}, {.endpoints = {"www.example.com A 192.0.2.1;192.0.2.2"}}));
    EXPECT_EQ(world.record("default/www"),
              "NoZone: spec.managedZone.name: there is no ManagedZone zone in namespace default");
    world.put_zone(zone_object({.key = "other/zone"}, "example.com"));
    EXPECT_EQ(world.record("default/www").substr(0, 6), "NoZone") << "of the same namespace";
    EXPECT_TRUE(world.served().empty());
    world.put_zone(zone_object({.key = "default/zone"}, "example.net"));
    EXPECT_EQ(world.record("default/www"),
              "Invalid: spec.endpoints[0].dnsName: www.example.com is not in the zone example.net");
    world.book.begin(++world.revision);
    world.book.remove_zone("default/zone");
    world.book.remove_zone("other/zone");
    world.publish();
    EXPECT_TRUE(content(world.zones).empty());
    world.put_zone(zone_object({.key = "default/zone", .created = 5}, "example.com"));
    EXPECT_EQ(world.record("default/www"), "Served: served since serial 5");
    EXPECT_EQ(world.served(), (Lines{"example.com www.example.com A/ 300 192.0.2.1,192.0.2.2"}));
}

TEST(Book, TheSerialMovesWithTheContentAlone) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com"));
    world.put_zone(zone_object({.key = "default/other"}, "example.net"));
    Spec spec{.endpoints = {"www.example.com A 192.0.2.1"}};
    world.put_record(record_object({}, spec));
    EXPECT_EQ(world.serial("example.com"), 3U);
    EXPECT_EQ(world.serial("example.net"), 2U);
    world.put_record(record_object({.modified = 4}, spec));  // as a status change
    EXPECT_EQ(world.serial("example.com"), 3U);
    world.put_record(record_object({.generation = 2, .modified = 5}, spec));  // the same in other words
    EXPECT_EQ(world.serial("example.com"), 3U);
    EXPECT_EQ(world.book.verdict_of_record("default/www")->generation, 2);
    spec.unhealthy = {"192.0.2.1"};
    world.put_record(record_object({.generation = 2, .modified = 6}, spec));
    EXPECT_EQ(world.serial("example.com"), 6U) << "health is content";
    EXPECT_EQ(world.served(), (Lines{"example.com www.example.com A/ 300 192.0.2.1 down"}));
    world.put_zone(zone_object({.key = "default/zone", .generation = 2}, "example.com", R"("defaultTTL":5)"));
    EXPECT_EQ(world.serial("example.com"), 7U);
    EXPECT_TRUE(world.served().contains("example.com www.example.com A/ 5 192.0.2.1 down"));
}

TEST(Book, TheOlderRecordWinsAndTheOtherInherits) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com"));
    world.put_record(record_object({.key = "default/new", .age = 9}, {.endpoints = {"www.example.com A 192.0.2.9"}}));
    EXPECT_EQ(world.record("default/new").substr(0, 6), "Served");
    world.put_record(record_object({.key = "default/old", .age = 1},
                                   {.endpoints = {"a.example.com A 192.0.2.1", "www.example.com A 192.0.2.1"}}));
    EXPECT_EQ(world.record("default/new"),
              "Conflict: spec.endpoints[0]: A of www.example.com is claimed by DNSRecord default/old, which is older");
    EXPECT_EQ(world.served(),
              (Lines{"example.com a.example.com A/ 300 192.0.2.1", "example.com www.example.com A/ 300 192.0.2.1"}));
    EXPECT_EQ(world.book.states(), (std::array<std::size_t, 4>{1, 0, 1, 0}));
    world.book.begin(++world.revision);
    world.book.remove_record("default/old");
    world.publish();
    EXPECT_EQ(world.record("default/new"), "Served: served since serial 4");
    EXPECT_EQ(world.served(), (Lines{"example.com www.example.com A/ 300 192.0.2.9"}));
}

TEST(Book, WithinOneSecondTheStoreKnowsWhoIsOlder) {
    World world;
    world.put_zone(zone_object({.key = "a/zone", .created = 9}, "example.com"));
    world.put_record(record_object({.key = "a/www", .created = 12}, {.endpoints = {"www.example.com A 192.0.2.1"}}));
    world.put_record(record_object({.key = "a/xxx", .created = 11}, {.endpoints = {"www.example.com A 192.0.2.2"}}));
    EXPECT_EQ(world.record("a/www"),
              "Conflict: spec.endpoints[0]: A of www.example.com is claimed by DNSRecord a/xxx, which is older");
    world.put_zone(zone_object({.key = "b/zone", .created = 8}, "example.com"));
    EXPECT_EQ(world.zone("a/zone"),
              "Conflict: spec.domainName: example.com is served for ManagedZone b/zone, which is older");
}

TEST(Book, SetsWithIdentifiersOfSeveralRecordsShareAName) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com"));
    world.put_record(
        record_object({.key = "default/b"}, {.endpoints = {"lb.example.com CNAME b.example.net | id=b weight=1"}}));
    world.put_record(
        record_object({.key = "default/a"}, {.endpoints = {"lb.example.com CNAME a.example.net | id=a geo=DE"}}));
    EXPECT_EQ(world.served(), (Lines{"example.com lb.example.com CNAME/a 300 a.example.net. geo=DE",
                                     "example.com lb.example.com CNAME/b 300 b.example.net. weight=1"}));
    const auto serial = world.serial("example.com");
    world.put_zone(zone_object({.key = "default/zone", .generation = 2}, "example.com", R"("description":"x")"));
    EXPECT_EQ(world.serial("example.com"), serial) << "variants are in the compiled zone's own order";
}

TEST(Book, GoodEndpointsOfABadRecordAreServed) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com"));
    Spec spec;
    for (int i = 0; i < 8; ++i) spec.endpoints.push_back(fmt::format("w{}.example.com A 300.0.0.{}", i, i));
    spec.endpoints.emplace_back("good.example.com A 192.0.2.1");
    spec.endpoints.emplace_back("good.example.com A 192.0.2.2");
    world.put_record(record_object({}, spec));
    const auto text = world.record("default/www");
    EXPECT_TRUE(text.starts_with("Invalid: spec.endpoints[0].targets[0]: ")) << text;
    EXPECT_TRUE(text.ends_with("; and 4 more")) << text;
    EXPECT_EQ(world.served(), (Lines{"example.com good.example.com A/ 300 192.0.2.1"}));
}

TEST(Book, NameServersOfTheZoneComeBeforeRecords) {
    World world;
    world.put_record(record_object({}, {.endpoints = {"ns1.example.com A 198.51.100.1", "ns1.example.com TXT hello"}}));
    world.put_zone(zone_object({.key = "default/zone", .age = 50}, "example.com"));
    EXPECT_EQ(world.record("default/www"),
              "Conflict: spec.endpoints[0]: A of ns1.example.com is claimed by ManagedZone default/zone for its name "
              "servers");
    EXPECT_TRUE(content(world.zones).contains("example.com ns1.example.com TXT/ 300 \"hello\""));
    world.put_zone(zone_object({.key = "default/zone", .generation = 2, .age = 50}, "example.com",
                               R"("nameServers":[{"name":"ns.example.net"}])"));
    EXPECT_EQ(world.record("default/www").substr(0, 6), "Served");
    EXPECT_TRUE(content(world.zones).contains("example.com ns1.example.com A/ 300 198.51.100.1"));
}

TEST(Book, OfTwoZonesWithOneDomainTheOlderServes) {
    World world;
    world.put_zone(zone_object({.key = "b/zone", .age = 5}, "example.com"));
    world.put_record(record_object({.key = "b/www"}, {.endpoints = {"www.example.com A 192.0.2.2"}}));
    EXPECT_EQ(world.served().size(), 1U);
    world.put_record(record_object({.key = "a/www"}, {.endpoints = {"www.example.com A 192.0.2.1"}}));
    world.put_zone(zone_object({.key = "a/zone", .age = 1}, "example.com"));
    EXPECT_EQ(world.zone("b/zone"),
              "Conflict: spec.domainName: example.com is served for ManagedZone a/zone, which is older");
    EXPECT_EQ(world.record("b/www"),
              "NoZone: ManagedZone b/zone is not served: example.com is served for ManagedZone a/zone, which is older");
    EXPECT_EQ(world.served(), (Lines{"example.com www.example.com A/ 300 192.0.2.1"}));
    world.book.begin(++world.revision);
    world.book.remove_zone("a/zone");
    world.publish();
    EXPECT_EQ(world.zone("b/zone").substr(0, 6), "Served");
    EXPECT_EQ(world.served(), (Lines{"example.com www.example.com A/ 300 192.0.2.2"}));
    EXPECT_EQ(world.serial("example.com"), world.revision);
}

TEST(Book, WithoutAZoneTheHostDecides) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com"));
    const Spec spec{.zone = "", .endpoints = {"www.eu.example.com A 192.0.2.1"}, .dns_name = "www.eu.example.com"};
    world.put_record(record_object({}, spec));
    EXPECT_EQ(world.served(), (Lines{"example.com www.eu.example.com A/ 300 192.0.2.1"}));
    world.put_zone(zone_object({.key = "default/eu"}, "eu.example.com"));
    EXPECT_EQ(world.served(), (Lines{"eu.example.com www.eu.example.com A/ 300 192.0.2.1"})) << "the longest domain";
    world.put_record(
        record_object({.key = "default/far"}, {.zone = "", .endpoints = {}, .dns_name = "www.example.org"}));
    EXPECT_EQ(world.record("default/far"),
              "NoZone: spec.dnsName: no ManagedZone in namespace default contains www.example.org");
    world.put_record(record_object({.key = "default/none"}, {.zone = "", .endpoints = {}}));
    EXPECT_EQ(world.record("default/none").substr(0, 6), "NoZone");
}

TEST(Book, ARecordInALongerZoneOfOursSaysSo) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "t.test"));
    world.put_record(record_object({}, {.endpoints = {"a.sub.t.test A 192.0.2.1", "b.t.test A 192.0.2.2"}}));
    EXPECT_EQ(world.record("default/www").substr(0, 6), "Served");
    world.put_zone(zone_object({.key = "other/sub"}, "sub.t.test"));
    const std::string hidden =
        "Conflict: spec.endpoints[0]: a.sub.t.test lies in the longer zone sub.t.test of ManagedZone other/sub, which "
        "answers for it";
    EXPECT_EQ(world.record("default/www"), hidden);
    EXPECT_EQ(world.served(), (Lines{"t.test b.t.test A/ 300 192.0.2.2"}));
    EXPECT_EQ(world.serial("t.test"), world.revision);
    world.put_record(record_object({.generation = 2}, {.endpoints = {"a.sub.t.test A 192.0.2.9"}}));
    EXPECT_EQ(world.record("default/www"), hidden);
    world.book.begin(++world.revision);
    world.book.remove_zone("other/sub");
    world.publish();
    EXPECT_EQ(world.record("default/www"), fmt::format("Served: served since serial {}", world.revision));
    EXPECT_EQ(world.served(), (Lines{"t.test a.sub.t.test A/ 300 192.0.2.9"}));
}

TEST(Book, AZoneInsideAnotherTakesNoNameOfItsNamespaceAway) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "t.test"));
    world.put_zone(zone_object({.key = "default/root"}, "test"));
    const Spec spec{.endpoints = {"a.sub.t.test A 192.0.2.1", "c.sub.t.test A 192.0.2.3", "b.t.test A 192.0.2.2"}};
    world.put_record(record_object({}, spec));
    world.put_zone(zone_object({.key = "default/sub"}, "sub.t.test"));
    EXPECT_EQ(world.served(), (Lines{"sub.t.test a.sub.t.test A/ 300 192.0.2.1",
                                     "sub.t.test c.sub.t.test A/ 300 192.0.2.3", "t.test b.t.test A/ 300 192.0.2.2"}));
    EXPECT_EQ(world.record("default/www").substr(0, 6), "Served");
    EXPECT_EQ(world.serial("sub.t.test"), world.revision);
    EXPECT_EQ(world.book.records_of(name_of("a.sub.t.test")), (std::vector<std::string>{"default/www"}));
    // What the zone's own records state comes first, name by name.
    world.put_record(
        record_object({.key = "default/own", .age = 9}, {.zone = "sub", .endpoints = {"a.sub.t.test A 192.0.2.9"}}));
    EXPECT_TRUE(world.served().contains("sub.t.test a.sub.t.test A/ 300 192.0.2.9"));
    EXPECT_TRUE(world.served().contains("sub.t.test c.sub.t.test A/ 300 192.0.2.3"));
    EXPECT_EQ(
        world.record("default/www"),
        "Conflict: spec.endpoints[0]: a.sub.t.test lies in the longer zone sub.t.test of ManagedZone default/sub, "
        "which answers for it");
    world.book.begin(++world.revision);
    world.book.remove_record("default/own");
    world.publish();
    EXPECT_TRUE(world.served().contains("sub.t.test a.sub.t.test A/ 300 192.0.2.1"));
    EXPECT_EQ(world.record("default/www").substr(0, 6), "Served");
    // It moves, and is the zone's own.
    auto moved = spec;
    moved.zone = "sub";
    moved.endpoints.pop_back();
    world.put_record(record_object({.generation = 2}, moved));
    EXPECT_EQ(world.served(),
              (Lines{"sub.t.test a.sub.t.test A/ 300 192.0.2.1", "sub.t.test c.sub.t.test A/ 300 192.0.2.3"}));
    // The zone around goes: so do the guests that it had.
    world.put_record(record_object({.generation = 3}, spec));
    world.book.begin(++world.revision);
    world.book.remove_zone("default/zone");
    world.publish();
    EXPECT_EQ(world.served(), Lines{});
    EXPECT_EQ(world.record("default/www").substr(0, 6), "NoZone");
}

TEST(Book, AGuestAtTheApexIsAnsweredWithTheAddressesItLeadsTo) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "t.test"));
    world.put_record(record_object(
        {}, {.endpoints = {"shop.t.test CNAME lb.shop.t.test", "lb.shop.t.test CNAME de.lb.shop.t.test | id=de geo=DE",
                           "lb.shop.t.test CNAME us.lb.shop.t.test | id=us geo=US", "de.lb.shop.t.test A 192.0.2.1",
                           "us.lb.shop.t.test A 192.0.2.2 | ttl=60"}}));
    world.put_record(record_object({.key = "default/away"}, {.endpoints = {"a.shop.t.test CNAME x.example.net"}}));
    world.put_zone(zone_object({.key = "default/shop"}, "shop.t.test"));
    EXPECT_TRUE(world.served().contains("shop.t.test shop.t.test A/ 60 192.0.2.1,192.0.2.2"));
    EXPECT_TRUE(world.served().contains("shop.t.test a.shop.t.test CNAME/ 300 x.example.net."));
    EXPECT_EQ(world.record("default/www").substr(0, 6), "Served");
    world.put_zone(zone_object({.key = "default/a"}, "a.shop.t.test"));
    EXPECT_EQ(world.record("default/away").substr(0, 8), "Conflict") << "nobody here knows those addresses";
}

TEST(Book, AZoneLeadsToThoseThatLieInIt) {
    World world;
    const auto led = [&] {
        auto lines = content(world.zones);
        std::erase_if(lines, [](const auto& line) {
            return !line.starts_with("t.test ") || line.find("sub.t.test") == std::string::npos;
        });
        return lines;
    };
    const std::string servers = R"("nameServers":[{"name":"ns.a.sub.t.test","addresses":["192.0.2.3"]}])";
    world.put_zone(zone_object({.key = "n/a"}, "a.sub.t.test", servers));
    world.put_zone(zone_object({.key = "n/t"}, "t.test"));
    EXPECT_EQ(led(),
              (Lines{"t.test a.sub.t.test NS/ 300 ns.a.sub.t.test.", "t.test ns.a.sub.t.test A/ 300 192.0.2.3"}));
    world.put_zone(zone_object({.key = "n/sub"}, "sub.t.test"));
    EXPECT_EQ(led(), (Lines{"t.test sub.t.test NS/ 300 ns1.sub.t.test.", "t.test ns1.sub.t.test A/ 300 192.0.2.53"}));
    world.book.begin(++world.revision);
    world.book.remove_zone("n/sub");
    world.publish();
    world.put_zone(
        zone_object({.key = "n/a", .generation = 2}, "a.sub.t.test", R"("nameServers":[{"name":"ns.test"}])"));
    EXPECT_EQ(led(), (Lines{"t.test a.sub.t.test NS/ 300 ns.test."}));
    world.book.begin(++world.revision);
    world.book.remove_zone("n/a");
    world.publish();
    EXPECT_EQ(led(), Lines{});
}

TEST(Book, ManyClaimantsOfOneName) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com"));
    const auto record = [](int i, int generation) {
        return record_object({.key = fmt::format("default/r{}", i), .generation = generation, .age = i},
                             {.endpoints = {fmt::format("www.example.com A 192.0.2.1 | id=s{}", i)}});
    };
    const auto started = std::chrono::steady_clock::now();
    world.book.begin(++world.revision);
    for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(world.book.put_record(record(i, 1)));
    world.publish();
    EXPECT_EQ(world.served().size(), dns::max_sets_per_type);
    EXPECT_EQ(world.book.states(), (std::array<std::size_t, 4>{256, 0, 744, 0}));
    EXPECT_EQ(world.record("default/r256"),
              "Conflict: spec.endpoints[0]: A of www.example.com has 256 sets with a setIdentifier that are older, the "
              "most that there can be");
    for (int i = 0; i < 10; ++i) world.put_record(record(i, 2));
    world.book.begin(++world.revision);
    world.book.remove_record("default/r9");
    world.publish();
    EXPECT_EQ(world.record("default/r256").substr(0, 6), "Served") << "it inherits";
    // Far above what it takes (about a second in a debug build), for slow machines and sanitizers.
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
}

TEST(Book, OtherProvidersZonesAreLeftAlone) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com", R"("provider":"aws")"));
    world.put_record(record_object({}, {.endpoints = {"www.example.com A 192.0.2.1"}}));
    EXPECT_EQ(world.zone("default/zone"), "-");
    EXPECT_EQ(world.record("default/www"), "-");
    EXPECT_TRUE(content(world.zones).empty());
    EXPECT_TRUE(world.board.take(10).empty());
    world.put_zone(zone_object({.key = "default/zone", .generation = 2}, "example.com"));
    EXPECT_EQ(world.record("default/www").substr(0, 6), "Served");
    world.put_zone(zone_object({.key = "default/zone", .generation = 3}, "example.com", R"("provider":"aws")"));
    EXPECT_TRUE(content(world.zones).empty());
}

TEST(Book, KeysAndPeersBecomeThePolicy) {
    World world;
    const std::string peers = R"("transferPeers":[{"address":"192.0.2.7","port":5300,"tsigSecretRef":{"name":"key"}},)"
                              R"({"address":"198.51.100.0/24","notify":false}])";
    world.put_zone(zone_object({.key = "default/zone"}, "example.com", peers));
    EXPECT_EQ(world.zone("default/zone"),
              "Invalid: spec.transferPeers[0].tsigSecretRef.name: there is no Secret key; transfers with this peer are "
              "refused; the zone is served");
    const auto apex = name_of("example.com");
    ASSERT_EQ(world.policy.peers.at(apex).size(), 1U) << "the other needs no key";
    EXPECT_TRUE(world.policy.keys.empty());

    world.put_secret(secret_object({.key = "default/key"}, {{"secret", "not base64!"}}));
    EXPECT_EQ(
        world.zone("default/zone"),
        "Invalid: spec.transferPeers[0].tsigSecretRef.name: Secret key: data[secret]: is not the base64 text of a "
        "key; transfers with this peer are refused; the zone is served");
    world.put_secret(secret_object({.key = "default/key"}, {{"secret", base64("abc")}, {"algorithm", "HMAC-SHA512"}}));
    EXPECT_EQ(world.zone("default/zone"), "Served: served since serial 1");
    ASSERT_EQ(world.policy.peers.at(apex).size(), 2U);
    const auto& peer = world.policy.peers.at(apex)[0];
    EXPECT_EQ(peer.port, 5300);
    EXPECT_EQ(peer.key, name_of("key")) << "the Secret's name";
    EXPECT_EQ(world.policy.keys.at(name_of("key")).secret, "abc");
    EXPECT_EQ(world.policy.keys.at(name_of("key")).algorithm, dns::TsigAlgorithm::hmac_sha512);

    world.put_zone(zone_object({.key = "other/zone", .age = 9}, "example.net", peers));
    world.put_secret(secret_object({.key = "other/key"}, {{"secret", base64("mine")}}));
    EXPECT_EQ(world.zone("other/zone"),
              "Invalid: spec.transferPeers[0].tsigSecretRef.name: a key named key with another secret is in use by "
              "ManagedZone default/zone, which is older; transfers with this peer are refused; the zone is served");
    EXPECT_EQ(world.policy.keys.at(name_of("key")).secret, "abc");
    world.book.begin(++world.revision);
    world.book.remove_secret("default/key");
    world.publish();
    EXPECT_EQ(world.policy.keys.at(name_of("key")).secret, "mine");
    EXPECT_EQ(world.zone("other/zone").substr(0, 6), "Served");
}

TEST(Book, WhoseNameIsIt) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com"));
    world.put_record(record_object({.key = "default/a"}, {.endpoints = {"loop.example.com CNAME loop.example.com"}}));
    world.put_record(record_object({.key = "default/b"}, {.endpoints = {"*.w.example.com CNAME x.w.example.com"}}));
    using Keys = std::vector<std::string>;
    EXPECT_EQ(world.book.records_of(name_of("loop.example.com")), (Keys{"default/a"}));
    EXPECT_EQ(world.book.records_of(name_of("a.b.w.example.com")), (Keys{"default/b"}));
    EXPECT_EQ(world.book.records_of(name_of("nobody.example.com")), Keys{});
    EXPECT_EQ(world.book.records_of(name_of("example.org")), Keys{});
}

TEST(Book, SaysWhatTheBoardHasNoRoomForLater) {
    dnsserver::ZoneSet zones(1);
    Book book(zones, {});
    dns::VerdictBoard board({.verdicts = 3, .names = 1});
    book.begin(1);
    ASSERT_TRUE(book.put_zone(zone_object({.key = "default/zone"}, "example.com")));
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(book.put_record(record_object({.key = fmt::format("default/r{}", i)}, {.endpoints = {}})));
    }
    book.publish(&board);
    std::set<std::string> names;
    std::size_t rounds = 0;
    for (; rounds < 10; ++rounds) {
        for (const auto& [key, verdict] : board.take(10)) names.insert(key.name);
        if (!book.has_more_to_say()) break;
        book.say_more(board);
    }
    EXPECT_EQ(names.size(), 11U);
    EXPECT_EQ(rounds, 3U);
}

TEST(Book, WhoWasNotOursToJudgeWhileTheBoardWasFullIsHeardLater) {
    dnsserver::ZoneSet zones(1);
    Book book(zones, {});
    dns::VerdictBoard board({.verdicts = 1, .names = 1});
    const auto put = [&](std::int64_t generation, std::string_view rest) {
        book.begin(static_cast<store::Revision>(generation));
        ASSERT_TRUE(book.put_zone(zone_object({.key = "default/zone", .generation = generation}, "example.com", rest)));
        book.publish(&board);
    };
    put(1, "");
    ASSERT_TRUE(book.put_record(record_object({}, {.endpoints = {"www.example.com A 192.0.2.1"}})));
    book.publish(&board);
    ASSERT_TRUE(book.has_more_to_say()) << "the board holds the zone's";
    put(2, R"("provider":"aws")");
    std::set<std::string> names;
    const auto hear = [&] {
        names.clear();
        for (int round = 0; round < 5; ++round) {
            for (const auto& [key, verdict] : board.take(10)) names.insert(key.name);
            book.say_more(board);
        }
    };
    hear();
    EXPECT_FALSE(names.contains("default/www"));
    EXPECT_FALSE(book.has_more_to_say());
    put(3, "");
    hear();
    EXPECT_TRUE(names.contains("default/www"));
}

TEST(Book, AnUnreadableRecordCountsAsAbsent) {
    World world;
    world.put_zone(zone_object({.key = "default/zone"}, "example.com"));
    world.put_record(record_object({}, {.endpoints = {"www.example.com A 192.0.2.1"}}));
    world.book.begin(++world.revision);
    EXPECT_FALSE(world.book.put_record(store::ObjectRef::make("default/www", "{", std::string::npos, 1, 9)));
    world.publish();
    EXPECT_TRUE(world.served().empty());
    EXPECT_EQ(world.record("default/www"), "-");
}

}  // namespace
}  // namespace fairlead::dnsfeed
