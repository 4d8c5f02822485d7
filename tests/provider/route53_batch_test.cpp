// Batches and their XML, what the service says and whom it blames, and the account's budget.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "route53_world.h"

namespace fairlead::provider::route53 {
namespace {

using namespace std::chrono_literals;

const Terms terms{"example.com", "ZOWN", 300, false};

RecordSet set_of(const dns::Endpoint& from) { return record_set_of(from, terms).value(); }

TEST(Route53Xml, ChangeBatch) {
    const std::vector<SetChange> changes{
        {SetChange::Action::remove, set_of(endpoint("*.example.com", "TXT", {"a & b <c>", "\"x\""}))},
        {SetChange::Action::create,
         set_of(endpoint("w.example.com", "A", {"192.0.2.1"}, {{"weight", "7"}, {"health-check-id", "hc"}}, "a&b"))},
        {SetChange::Action::create,
         set_of(endpoint("lb.example.com", "A", {"my.us-east-1.elb.amazonaws.com"}, {{"alias", "true"}}))},
        {SetChange::Action::create,
         set_of(endpoint("g.example.com", "A", {"192.0.2.1"}, {{"geo-code", "US-CA"}}, "ca"))},
        {SetChange::Action::create,
         set_of(endpoint("n.example.com", "A", {"192.0.2.1"},
                         {{"geoproximity-coordinates", "1.5,-2"}, {"geoproximity-bias", "3"}}, "n"))}};
    EXPECT_EQ(
        change_batch_xml(changes),
        R"(<?xml version="1.0" encoding="UTF-8"?>)"
        R"(<ChangeResourceRecordSetsRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ChangeBatch><Changes>)"
        R"(<Change><Action>DELETE</Action><ResourceRecordSet><Name>\052.example.com.</Name><Type>TXT</Type><TTL>300</TTL>)"
        R"(<ResourceRecords><ResourceRecord><Value>"a &amp; b &lt;c&gt;"</Value></ResourceRecord>)"
        R"(<ResourceRecord><Value>"x"</Value></ResourceRecord></ResourceRecords></ResourceRecordSet></Change>)"
        R"(<Change><Action>CREATE</Action><ResourceRecordSet><Name>w.example.com.</Name><Type>A</Type>)"
        R"(<SetIdentifier>a&amp;b</SetIdentifier><Weight>7</Weight><TTL>300</TTL><ResourceRecords><ResourceRecord>)"
        R"(<Value>192.0.2.1</Value></ResourceRecord></ResourceRecords><HealthCheckId>hc</HealthCheckId>)"
        R"(</ResourceRecordSet></Change>)"
        R"(<Change><Action>CREATE</Action><ResourceRecordSet><Name>lb.example.com.</Name><Type>A</Type><AliasTarget>)"
        R"(<HostedZoneId>Z35SXDOTRQ7X7K</HostedZoneId><DNSName>my.us-east-1.elb.amazonaws.com.</DNSName>)"
        R"(<EvaluateTargetHealth>false</EvaluateTargetHealth></AliasTarget></ResourceRecordSet></Change>)"
        R"(<Change><Action>CREATE</Action><ResourceRecordSet><Name>g.example.com.</Name><Type>A</Type>)"
        R"(<SetIdentifier>ca</SetIdentifier><GeoLocation><CountryCode>US</CountryCode><SubdivisionCode>CA</SubdivisionCode>)"
        R"(</GeoLocation><TTL>300</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord>)"
        R"(</ResourceRecords></ResourceRecordSet></Change>)"
        R"(<Change><Action>CREATE</Action><ResourceRecordSet><Name>n.example.com.</Name><Type>A</Type>)"
        R"(<SetIdentifier>n</SetIdentifier><TTL>300</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value>)"
        R"(</ResourceRecord></ResourceRecords><GeoProximityLocation><Coordinates><Latitude>1.5</Latitude>)"
        R"(<Longitude>-2</Longitude></Coordinates><Bias>3</Bias></GeoProximityLocation></ResourceRecordSet></Change>)"
        R"(</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>)");
}

TEST(Route53Xml, RecordSetsOfTheService) {
    const auto page = parse_record_sets(R"(<?xml version="1.0"?>
<ListResourceRecordSetsResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ResourceRecordSets>
<ResourceRecordSet><Name>\052.example.com.</Name><Type>A</Type><SetIdentifier>cidr</SetIdentifier>
<CidrRoutingConfig><CollectionId>c1</CollectionId><LocationName>home</LocationName></CidrRoutingConfig><TTL>60</TTL>
<ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord></ResourceRecords></ResourceRecordSet>
</ResourceRecordSets><IsTruncated>true</IsTruncated><NextRecordName>a.example.com.</NextRecordName>
<NextRecordType>TXT</NextRecordType><NextRecordIdentifier>x</NextRecordIdentifier><MaxItems>1</MaxItems>
</ListResourceRecordSetsResponse>)");
    ASSERT_TRUE(page) << page.error().text();
    ASSERT_EQ(page->sets.size(), 1U);
    EXPECT_EQ(page->sets[0].name, "*.example.com");
    EXPECT_EQ(page->sets[0].cidr, (Cidr{"c1", "home"}));
    EXPECT_EQ(page->sets[0].policy(), "CIDR");
    EXPECT_TRUE(page->truncated);
    EXPECT_EQ(page->next_name + page->next_type + page->next_identifier, "a.example.com.TXTx");
    for (const char* bad :
         {"", "<x", "<Other/>",
          "<ListResourceRecordSetsResponse><IsTruncated>true</IsTruncated></ListResourceRecordSetsResponse>",
          "<ListResourceRecordSetsResponse><ResourceRecordSets><ResourceRecordSet/></ResourceRecordSets></"
          "ListResourceRecordSetsResponse>"}) {
        const auto answer = parse_record_sets(bad);
        ASSERT_FALSE(answer) << bad;
        EXPECT_EQ(answer.error().code, Errc::corrupt) << bad;
    }
}

// Any text in any place: what is written is read back as the same set, and shown as the same endpoint.
TEST(Route53Xml, WhatIsWrittenIsReadBack) {
    EXPECT_TRUE(rc::check("write, read, show", [] {
        const auto label =
            *rc::gen::element<std::string>("www", "*", "_sip._tcp", "a\\.b", "\\200", "xn--bcher-kva", "0/25");
        const auto bytes = *rc::gen::container<std::string>(rc::gen::inRange<char>('\x01', '\x7f'));
        using Properties = std::vector<dns::Property>;
        const auto policy = *rc::gen::element<Properties>(
            Properties{}, Properties{{"weight", "0"}}, Properties{{"geo-code", "US-CA"}}, Properties{{"geo-code", "*"}},
            Properties{{"region", "eu-west-1"}}, Properties{{"failover", "SECONDARY"}},
            Properties{{"multi-value-answer", "true"}}, Properties{{"geoproximity-region", "us-east-1"}});
        const std::string identifier =
            policy.empty() ? "" : *rc::gen::element<std::string>("a", " ", "x<&>\"'", "\u00fc/b");
        dns::Endpoint wanted = endpoint(label + ".example.com", "TXT", {bytes, "\"fixed\""}, policy, identifier);
        if (*rc::gen::arbitrary<bool>()) {
            wanted.record_type = "A";
            wanted.targets = {"lb.us-east-1.elb.amazonaws.com"};
            std::erase_if(wanted.properties, [](const auto& each) { return each.name == "multi-value-answer"; });
            if (wanted.properties.empty()) wanted.set_identifier.clear();
            wanted.properties.push_back({"alias", "true"});
        }
        const auto set = record_set_of(wanted, terms);
        RC_PRE(set.has_value());  // not two texts that are the same
        const SetChange change{SetChange::Action::create, *set};
        const auto xml = change_batch_xml({&change, 1});
        const auto from = xml.find("<ResourceRecordSet>");
        const auto to = xml.find("</Change>");
        const auto page =
            parse_record_sets("<ListResourceRecordSetsResponse><ResourceRecordSets>" + xml.substr(from, to - from) +
                              "</ResourceRecordSets></ListResourceRecordSetsResponse>");
        RC_ASSERT(page.has_value());
        RC_ASSERT(page->sets.size() == 1U);
        RC_ASSERT(page->sets.front() == *set);
        const auto shown = endpoint_of(page->sets.front(), terms);
        const auto again = record_set_of(shown, terms);
        RC_ASSERT(again.has_value());
        RC_ASSERT(*again == *set);
    }));
}

TEST(Route53Xml, ErrorsInBothForms) {
    const auto modern = parse_error(
        R"(<ErrorResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Error><Type>Sender</Type><Code>InvalidChangeBatch</Code><Message>[Tried to create resource record set [name='a.example.com.', type='A'] but it already exists, RRSet of type CNAME with DNS name b.example.com. is not permitted as it conflicts with other records with the same DNS name in zone example.com.]</Message></Error><RequestId>x</RequestId></ErrorResponse>)");
    EXPECT_EQ(modern.code, "InvalidChangeBatch");
    ASSERT_EQ(modern.messages.size(), 2U);
    EXPECT_EQ(modern.messages[0],
              "Tried to create resource record set [name='a.example.com.', type='A'] but it already exists");
    const auto older = parse_error(
        R"(<InvalidChangeBatch xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Messages><Message>one</Message><Message>two</Message></Messages><RequestId>x</RequestId></InvalidChangeBatch>)");
    EXPECT_EQ(older.code, "InvalidChangeBatch");
    EXPECT_EQ(older.messages, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(parse_error("<html>502 Bad Gateway").code, "");
}

Work work_of(std::size_t group, std::vector<std::size_t> value_sizes) {
    Work work;
    work.group = group;
    for (const auto size : value_sizes) {
        RecordSet set;
        set.name = "n" + std::to_string(group) + ".example.com";
        set.values = {std::string(size, 'x')};
        work.changes.push_back({SetChange::Action::create, set});
        work.names.insert(set.name);
    }
    return work;
}

TEST(Route53Batch, StaysWithinAllLimits) {
    EXPECT_TRUE(rc::check("every work is in one batch, whole, in order, and every batch fits", [] {
        const BatchLimits limits{10, 8, 100};
        std::vector<Work> works;
        const auto count = *rc::gen::inRange(0, 30);
        for (int i = 0; i < count; ++i) {
            const auto sizes =
                *rc::gen::resize(8, rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 60)));
            auto work = work_of(works.size(), sizes);
            if (!work.changes.empty() && too_large(work, limits).empty()) works.push_back(std::move(work));
        }
        std::vector<std::size_t> seen;
        std::size_t batches = 0;
        for (const auto& batch : pack(works, limits)) {
            std::size_t changes = 0, values = 0, bytes = 0;
            for (const auto index : batch) {
                seen.push_back(index);
                changes += works[index].changes.size();
                values += works[index].values();
                bytes += works[index].bytes();
            }
            RC_ASSERT(!batch.empty());
            RC_ASSERT(changes <= limits.changes);
            RC_ASSERT(values <= limits.values);
            RC_ASSERT(bytes <= limits.bytes);
            ++batches;
        }
        RC_ASSERT(seen.size() == works.size());
        for (std::size_t i = 0; i < seen.size(); ++i) RC_ASSERT(seen[i] == i);
        RC_ASSERT(batches <= works.size());
    }));
}

TEST(Route53Batch, SaysWhichLimit) {
    const BatchLimits limits{10, 8, 100};
    EXPECT_EQ(too_large(work_of(0, std::vector<std::size_t>(11, 0)), limits),
              "11 changes have to land together, but Route 53 takes 10 at once");
    EXPECT_EQ(too_large(work_of(0, std::vector<std::size_t>(9, 1)), limits),
              "9 values have to land together, but Route 53 takes 8 at once");
    EXPECT_EQ(too_large(work_of(0, {60, 41}), limits),
              "101 bytes of values have to land together, but Route 53 takes 100 at once");
    EXPECT_EQ(too_large(work_of(0, {60, 40}), limits), "");
}

TEST(Route53Batch, Blames) {
    auto apex = work_of(0, {1});
    apex.names = {"example.com"};
    auto star = work_of(1, {1});
    star.names = {"*.example.com", "_owner._wildcard.example.com"};
    const auto www = work_of(2, {1});
    const std::vector<const Work*> works{&apex, &star, &www};
    using Found = std::map<std::size_t, std::string>;
    struct Case {
        const char* message;
        std::vector<std::size_t> groups;
    };
    for (const auto& [message, groups] :
         {Case{"Tried to create resource record set [name='n2.example.com.', type='A'] but it already exists", {2}},
          Case{"Tried to delete resource record set [name='\\052.example.com.', type='A', set identifier='x'] but it "
               "was not found",
               {1}},
          Case{"RRSet of type CNAME with DNS name n2.example.com. is not permitted as it conflicts with other records "
               "with the same DNS name in zone example.com.",
               {2}},
          Case{"RRSet of type CNAME with DNS name example.com. is not permitted at apex in zone example.com.", {0}},
          Case{"RRSet with DNS name _owner._wildcard.example.com., type TXT, SetIdentifier null cannot be created",
               {1}},
          Case{"The request contains an invalid set of changes for a resource record set 'A n2.example.com.'", {2}},
          Case{"Invalid Resource Record: 'FATAL problem: ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address) "
               "encountered with 'x''",
               {}},
          Case{"RRSet with DNS name n22.example.com. is not permitted in zone example.com.", {}}}) {
        Found expected;
        for (const auto each : groups) expected[each] = message;
        EXPECT_EQ(blamed(works, {message}), expected) << message;
    }
    // It is the alias that is wrong, not the name that it points to.
    auto leaning = work_of(3, {1});
    leaning.changes.front().set.alias = AliasTarget{"ZOWN", "n2.example.com", false};
    const std::vector<const Work*> with_alias{&www, &leaning};
    const std::string lost =
        "Tried to create an alias that targets n2.example.com., type A in zone ZOWN, but that target was not found";
    EXPECT_EQ(blamed(with_alias, {lost}), (Found{{1, lost}}));
    EXPECT_EQ(outcome_of("... but it already exists").state, Outcome::State::conflict);
    EXPECT_EQ(outcome_of("... but that target was not found").state, Outcome::State::refused);
}

TEST(Route53Batch, Order) {
    const auto change = [](SetChange::Action action, bool alias, const char* name) {
        SetChange made{action, {}};
        made.set.name = name;
        if (alias) made.set.alias = AliasTarget{};
        return made;
    };
    using enum SetChange::Action;
    Work one, two;
    one.changes = {change(create, true, "a"), change(create, false, "b"), change(remove, false, "c")};
    two.changes = {change(remove, true, "d"), change(create, false, "e")};
    std::string order;
    const std::vector<const Work*> works{&one, &two};
    for (const auto& each : in_order(works)) order += each.set.name;
    EXPECT_EQ(order, "dcbea");

    // An alias of an alias comes after it; a circle does not hang.
    const auto alias = [](const char* name, const char* target) {
        SetChange made{create, {}};
        made.set.name = name;
        made.set.type = "A";
        made.set.alias = AliasTarget{"ZOWN", target, false};
        return made;
    };
    Work chain;
    chain.changes = {alias("x", "y"), alias("y", "z"), alias("z", "plain"), alias("p", "q"), alias("q", "p")};
    order.clear();
    const std::vector<const Work*> chained{&chain};
    for (const auto& each : in_order(chained)) order += each.set.name;
    EXPECT_EQ(order, "zyxpq");
}

TEST(Route53Budget, NeverMoreThanItsRateInASecond) {
    EXPECT_TRUE(rc::check("over any second", [] {
        Budgets budgets;
        const auto rate = *rc::gen::inRange(1, 20);
        MonotonicTime now{};
        std::vector<MonotonicTime> sent;
        for (int i = 0; i < 100; ++i) {
            now += std::chrono::milliseconds(*rc::gen::inRange(0, 150));
            sent.push_back(now + budgets.reserve("A", rate, now));
        }
        for (std::size_t i = static_cast<std::size_t>(rate); i < sent.size(); ++i) {
            RC_ASSERT(sent[i] - sent[i - static_cast<std::size_t>(rate)] >= 1s - 1us);
        }
    }));
    Budgets budgets;
    const MonotonicTime now{};
    for (int i = 0; i < 5; ++i) EXPECT_EQ(budgets.reserve("A", 5, now), 0ns);  // a quiet account may start at once
    EXPECT_EQ(budgets.reserve("A", 5, now), 1s);
    EXPECT_EQ(budgets.reserve("B", 5, now), 0ns);
    EXPECT_EQ(budgets.reserve("C", 0.5, now), 0ns);
    EXPECT_EQ(budgets.reserve("C", 0.5, now), 2s);
    budgets.hold("B", now + 3s);
    EXPECT_EQ(budgets.reserve("B", 5, now), 3s);
}

// --- the client, with a service made of lines
// --------------------------------------------------------------------------

struct Fake {
    ManualClock clock;
    SeededRandom random{7};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    ClockWaiter waiter{clock};
    Surroundings surroundings{clock, random, log, metrics, waiter};
    std::vector<net::ClientRequest> sent;
    std::vector<std::pair<int, std::string>> answers;  // status and code; status 0: no connection

    Api api() {
        CredentialChain::Options sources;
        sources.secret = {{"AWS_ACCESS_KEY_ID", "AK"}, {"AWS_SECRET_ACCESS_KEY", "SK"}};
        return Api({place_of("http://127.0.0.1:1", ""), 5, "z"}, surroundings, std::make_shared<Budgets>(),
                   CredentialChain(std::move(sources), clock),
                   [this](const net::ClientRequest& request) { return answer(request); });
    }
    Result<net::Response> answer(const net::ClientRequest& request) {
        const auto& [status, code] = answers[std::min(sent.size(), answers.size() - 1)];
        sent.push_back(request);
        if (status == 0) return fail(Errc::unavailable, "cannot connect");
        net::Response response;
        response.status = status;
        response.body =
            "<ErrorResponse><Error><Code>" + code + "</Code><Message>said</Message></Error></ErrorResponse>";
        return response;
    }
};

TEST(Route53Api, TriesAgainWhileThereIsAPoint) {
    struct Case {
        std::vector<std::pair<int, std::string>> answers;
        std::size_t sent;
        std::optional<Errc> error;
    };
    const std::vector<Case> cases{
        {{{200, ""}}, 1, {}},
        {{{400, "Throttling"}, {200, ""}}, 2, {}},
        {{{400, "PriorRequestNotComplete"}, {503, "ServiceUnavailable"}, {0, ""}, {200, ""}}, 4, {}},
        {{{400, "Throttling"}}, 8, Errc::unavailable},
        {{{0, ""}}, 8, Errc::unavailable},
        {{{400, "InvalidInput"}}, 1, Errc::invalid},
        {{{403, "AccessDenied"}}, 1, Errc::invalid},
        {{{403, "SomethingNew"}}, 1, Errc::invalid},
        {{{404, "NoSuchHostedZone"}}, 1, Errc::not_found},
        {{{403, "ExpiredToken"}}, 2, Errc::invalid},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        Fake fake;
        fake.answers = cases[i].answers;
        const auto answer =
            fake.api().call({.operation = "GetChange", .metric = "follow", .path = "/2013-04-01/change/C1"});
        EXPECT_EQ(fake.sent.size(), cases[i].sent) << i;
        EXPECT_EQ(answer.has_value(), !cases[i].error.has_value()) << i;
        if (cases[i].error && !answer) {
            EXPECT_EQ(answer.error().error.code, *cases[i].error) << answer.error().error.text();
        }
        std::chrono::nanoseconds all{};
        for (const auto wait : fake.waiter.waits) all += wait;
        EXPECT_LE(all, 70s) << i;
    }
}

TEST(Route53Api, StopsWhenTheServerDoes) {
    Fake fake;
    fake.answers = {{503, "ServiceUnavailable"}};
    fake.waiter.stopping = true;
    const auto answer = fake.api().call({.operation = "GetChange", .metric = "follow", .path = "/"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error.message, "the server is stopping");
    EXPECT_EQ(fake.sent.size(), 1U);
}

TEST(Route53Api, PlacesOfPartitions) {
    struct Case {
        const char *endpoint, *region, *url, *signed_for;
    };
    for (const auto& [given, region, url, signed_for] :
         {Case{"", "", "https://route53.amazonaws.com", "us-east-1"},
          Case{"", "eu-central-1", "https://route53.amazonaws.com", "us-east-1"},
          Case{"", "cn-north-1", "https://route53.amazonaws.com.cn", "cn-northwest-1"},
          Case{"", "us-gov-east-1", "https://route53.us-gov.amazonaws.com", "us-gov-west-1"},
          Case{"http://127.0.0.1:1", "eu-west-1", "http://127.0.0.1:1", "eu-west-1"}}) {
        const auto place = place_of(given, region);
        EXPECT_EQ(place.endpoint, url) << region;
        EXPECT_EQ(place.region, signed_for) << region;
    }
}

}  // namespace
}  // namespace fairlead::provider::route53
