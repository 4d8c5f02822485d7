// Messages, batches and settings of the provider rfc2136, without any server.
#include "provider/rfc2136/rfc2136.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "dns/message_reader.h"
#include "provider/rfc2136/batch.h"
#include "provider/rfc2136/update.h"
#include "provider/zones.h"

namespace fairlead::provider::rfc2136 {
namespace {

const dns::Name apex = dns::Name::parse("example.com").value();

PlainRules rules() { return {"rfc2136", apex, 300, 0, PolicyHandling::refuse}; }

SetChanges changes_of(const std::vector<std::string>& lines) {
    auto changes = set_changes_of(group_of(lines), rules());
    EXPECT_TRUE(changes) << changes.error().text();
    return changes ? *changes : SetChanges{};
}

// "NAME TTL CLASS TYPE DATA" of a section.
std::vector<std::string> shown(const std::vector<dns::WireRecord>& records) {
    std::vector<std::string> lines;
    for (const auto& record : records) {
        const auto* klass = record.klass == dns::class_any ? "ANY" : record.klass == dns::class_none ? "NONE" : "IN";
        const auto type = record.type == dns::type_any ? "ANY" : dns::type_text(record.type);
        lines.push_back(fmt::format("{} {} {} {}{}", record.name.host(), record.ttl, klass, type,
                                    record.data.empty() ? "" : " " + hex(record.data)));
    }
    return lines;
}

struct UpdateCase {
    const char* test;
    std::vector<std::string> changes, prerequisites, updates;
};
class UpdateMessage : public testing::TestWithParam<UpdateCase> {};
TEST_P(UpdateMessage, SaysWhatMustBeThereAndWhatBecomesOfIt) {
    const auto changes = changes_of(GetParam().changes);
    const std::vector<const SetChanges*> groups{&changes};
    const auto bytes = update_message(7, apex, groups);
    const auto message = dns::read_message(bytes);
    ASSERT_TRUE(message) << message.error().text();
    EXPECT_EQ(message->flags, dns::opcode_update);
    ASSERT_TRUE(message->question);
    EXPECT_EQ(message->question->name, apex);
    EXPECT_EQ(message->question->type, static_cast<std::uint16_t>(dns::RecordType::soa));
    EXPECT_EQ(shown(message->answers), GetParam().prerequisites);
    EXPECT_EQ(shown(message->authority), GetParam().updates);
    EXPECT_LE(bytes.size(), update_bytes(changes) + dns::header_bytes + apex.wire().size() + 4);
}
INSTANTIATE_TEST_SUITE_P(
    Rfc2136, UpdateMessage,
    testing::Values(
        UpdateCase{"create",
                   {"+a.example.com 60 A 192.0.2.1;192.0.2.2"},
                   {"a.example.com 0 NONE A", "a.example.com 0 NONE CNAME"},
                   {"a.example.com 60 IN A c0000201", "a.example.com 60 IN A c0000202"}},
        UpdateCase{"update_names_the_data_that_was_read",
                   {"-a.example.com 60 A 192.0.2.1;192.0.2.2", "+a.example.com 30 A 192.0.2.1"},
                   {"a.example.com 0 IN A c0000201", "a.example.com 0 IN A c0000202"},
                   {"a.example.com 0 ANY A", "a.example.com 30 IN A c0000201"}},
        UpdateCase{"update_of_a_part",
                   {"-a.example.com 60 A 192.0.2.1;192.0.2.2", "+a.example.com 60 A 192.0.2.2;192.0.2.3"},
                   {"a.example.com 0 IN A c0000201", "a.example.com 0 IN A c0000202"},
                   {"a.example.com 0 NONE A c0000201", "a.example.com 60 IN A c0000203"}},
        UpdateCase{
            "remove", {"-a.example.com 60 A 192.0.2.1"}, {"a.example.com 0 IN A c0000201"}, {"a.example.com 0 ANY A"}},
        UpdateCase{"a_cname_needs_a_name_of_its_own",
                   {"+a.example.com 60 CNAME x.example."},
                   {"a.example.com 0 NONE ANY"},
                   {"a.example.com 60 IN CNAME 0178076578616d706c6500"}},
        UpdateCase{"a_cname_in_place_of_an_address",
                   {"-a.example.com 60 A 192.0.2.1", "+a.example.com 60 CNAME x.example."},
                   {"a.example.com 0 IN A c0000201", "a.example.com 0 NONE CNAME", "a.example.com 0 NONE NS",
                    "a.example.com 0 NONE PTR", "a.example.com 0 NONE MX", "a.example.com 0 NONE TXT",
                    "a.example.com 0 NONE AAAA", "a.example.com 0 NONE SRV", "a.example.com 0 NONE TLSA",
                    "a.example.com 0 NONE SVCB", "a.example.com 0 NONE HTTPS", "a.example.com 0 NONE CAA"},
                   {"a.example.com 0 ANY A", "a.example.com 60 IN CNAME 0178076578616d706c6500"}},
        UpdateCase{"an_address_in_place_of_a_cname",
                   {"-a.example.com 60 CNAME x.example.", "+a.example.com 60 A 192.0.2.1"},
                   {"a.example.com 0 IN CNAME 0178076578616d706c6500", "a.example.com 0 NONE A"},
                   {"a.example.com 0 ANY CNAME", "a.example.com 60 IN A c0000201"}},
        UpdateCase{"beside_what_is_there",
                   {"-a.example.com 60 AAAA 2001:db8::1", "+a.example.com 60 AAAA 2001:db8::2",
                    "+a.example.com 60 A 192.0.2.1"},
                   {"a.example.com 0 IN AAAA 20010db8000000000000000000000001", "a.example.com 0 NONE A"},
                   {"a.example.com 0 NONE AAAA 20010db8000000000000000000000001", "a.example.com 60 IN A c0000201",
                    "a.example.com 60 IN AAAA 20010db8000000000000000000000002"}},
        UpdateCase{"ownership_goes_along",
                   {"+a.example.com 60 A 192.0.2.1", "-_owner.a.example.com 300 TXT \"o\"",
                    "+_owner.a.example.com 300 TXT \"o\" \"p\""},
                   {"a.example.com 0 NONE A", "a.example.com 0 NONE CNAME", "_owner.a.example.com 0 IN TXT 016f"},
                   {"a.example.com 60 IN A c0000201", "_owner.a.example.com 0 NONE TXT 016f",
                    "_owner.a.example.com 300 IN TXT 016f0170"}}),
    [](const auto& row) { return row.param.test; });

TEST(Rfc2136, AnUpdateToTheByte) {
    // RFC 2136 sections 2.3, 2.4.3 and 2.5.1: zone example.com; no A and no CNAME at a.example.com; add one.
    const auto changes = changes_of({"+a.example.com 60 A 192.0.2.1"});
    const std::vector<const SetChanges*> groups{&changes};
    EXPECT_EQ(hex(update_message(0x1234, apex, groups)),
              "123428000001000200010000"            // id, opcode 5, one zone, 2 prerequisites, one update
              "076578616d706c6503636f6d0000060001"  // example.com SOA IN
              "0161c00c000100fe000000000000"        // a.example.com A NONE, TTL 0, no data
              "c01d000500fe000000000000"            // a.example.com CNAME NONE
              "c01d000100010000003c0004c0000201");  // a.example.com A IN 60 192.0.2.1
    EXPECT_EQ(hex(probe_message(0x1234, apex, dns::Name::parse("a.example.com").value())),
              "123428000001000100000000"
              "076578616d706c6503636f6d0000060001"
              "0161c00c00ff00ff000000000000")
        << "section 2.4.4: the name is in use";
}

TEST(Rfc2136, WhatStaysIsNoChange) {
    EXPECT_TRUE(changes_of({"-a.example.com 60 A 192.0.2.1", "+A.example.com 60 A 192.0.2.1"}).empty());
    EXPECT_FALSE(changes_of({"-a.example.com 60 A 192.0.2.1", "+a.example.com 61 A 192.0.2.1"}).empty());
    EXPECT_FALSE(set_changes_of(group_of({"+a.example.net 60 A 192.0.2.1"}), rules())) << "another zone";
}

std::vector<Planned> planned_of(const std::vector<std::string>& lines) {
    std::vector<Planned> planned;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        planned.push_back({i, endpoint_of_line(lines[i].substr(1)).dns_name, changes_of({lines[i]})});
    }
    return planned;
}

TEST(Rfc2136, BatchesKeepCountRoomAndNamesApart) {
    const auto planned = planned_of({"+a.example.com 60 A 192.0.2.1", "+b.example.com 60 A 192.0.2.1",
                                     "+a.example.com 60 TXT \"x\"", "+c.example.com 60 A 192.0.2.1"});
    const auto sizes = [&](std::size_t most, std::size_t room) {
        std::string text;
        for (const auto& batch : batches_of(planned, most, room)) text += std::to_string(batch.size()) + " ";
        return text;
    };
    EXPECT_EQ(sizes(500, 65'000), "2 2 ") << "a.example.com twice";
    EXPECT_EQ(sizes(1, 65'000), "1 1 1 1 ");
    EXPECT_EQ(sizes(500, update_bytes(planned[0].changes) + 1), "1 1 1 1 ");
}

// A server that refuses some groups, and the messages that it got.
struct FakeServer {
    std::map<std::size_t, unsigned> rcodes;
    std::size_t messages = 0;
    std::size_t answers = 1'000'000;  // so many, then it is gone

    Result<Sent> send(const std::vector<const Planned*>& batch) {
        if (messages == answers) return fail(Errc::unavailable, "gone");
        ++messages;
        for (const auto* each : batch) {
            if (const auto found = rcodes.find(each->group); found != rcodes.end()) return Sent{found->second, "s"};
        }
        return Sent{0, "s"};
    }
    std::vector<Outcome> settle(const std::vector<Planned>& planned) {
        std::vector<Outcome> outcomes(planned.size());
        for (const auto& batch : batches_of(planned, 500, 65'000)) {
            settle_batch(
                batch, [this](const auto& part) { return send(part); }, outcomes);
        }
        return outcomes;
    }
};

std::vector<Planned> many(std::size_t count) {
    std::vector<std::string> lines;
    lines.reserve(count);
    for (std::size_t i = 0; i < count; ++i) lines.push_back(fmt::format("+n{}.example.com 60 A 192.0.2.1", i));
    return planned_of(lines);
}

TEST(Rfc2136, HalvesUntilTheGuiltyStandsAlone) {
    FakeServer server;
    server.rcodes[37] = dns::rcode_nxrrset;
    const auto outcomes = server.settle(many(64));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        EXPECT_EQ(state_text(outcomes[i].state), i == 37 ? "conflict" : "applied") << i;
    }
    EXPECT_EQ(outcomes[37].message,
              "s: n37.example.com: NXRRSET: records that were read are not there any more, or changed");
    EXPECT_EQ(server.messages, 13U) << "two for each halving";
}

TEST(Rfc2136, GivesUpWhereEverythingIsRefused) {
    FakeServer server;
    for (std::size_t i = 0; i < 200; ++i) server.rcodes[i] = dns::rcode_refused;
    const auto outcomes = server.settle(many(200));
    for (const auto& outcome : outcomes) EXPECT_EQ(state_text(outcome.state), "refused");
    EXPECT_LT(server.messages, 60U);
}

TEST(Rfc2136, AServerThatIsNotInChargeIsAskedOnce) {
    FakeServer server;
    server.rcodes[3] = dns::rcode_notauth;
    const auto outcomes = server.settle(many(10));
    for (const auto& outcome : outcomes) EXPECT_EQ(state_text(outcome.state), "unavailable");
    EXPECT_EQ(server.messages, 1U);
}

RC_GTEST_PROP(Rfc2136, EachGroupGetsItsOwnOutcome, ()) {
    FakeServer server;
    const auto count = *rc::gen::inRange<std::size_t>(1, 40);
    for (std::size_t i = 0; i < count; ++i) {
        const auto rcode =
            *rc::gen::weightedElement<unsigned>({{6, 0}, {1, dns::rcode_yxrrset}, {1, dns::rcode_nxrrset}});
        if (rcode != 0) server.rcodes[i] = rcode;
    }
    server.answers = *rc::gen::weightedElement<std::size_t>({{4, 1'000}, {1, 3}});
    const auto outcomes = server.settle(many(count));
    for (std::size_t i = 0; i < count; ++i) {
        const bool guilty = server.rcodes.contains(i);
        const auto state = outcomes[i].state;
        if (state == Outcome::State::unavailable) {
            RC_ASSERT(server.messages == server.answers);
        } else {
            RC_ASSERT(state == (guilty ? Outcome::State::conflict : Outcome::State::applied));
        }
    }
}

TEST(Rfc2136, SettingsAreCheckedByField) {
    World world;
    ZoneSettings settings;
    settings.provider = "rfc2136";
    settings.apex = apex;
    const auto error = [&] {
        const auto made = make(settings, world.around);
        return made ? std::string("made") : made.error().text();
    };
    EXPECT_EQ(error(), "spec.rfc2136.servers: is empty: provider rfc2136 needs at least one server");
    settings.rfc2136.servers = {"192.0.2.1"};
    EXPECT_EQ(error(), "spec.rfc2136.servers: \"192.0.2.1\" is no ADDRESS:PORT as 192.0.2.53:53");
    settings.rfc2136.servers = {"192.0.2.1:53", "[2001:db8::1]:53", "ns.example.net:5353"};
    EXPECT_EQ(error(), "spec.dnsProviderSecretRef: names no Secret with a TSIG key (name, algorithm, secret)");
    settings.secret = {{"secret", "c2VjcmV0"}};
    EXPECT_EQ(error(), "spec.dnsProviderSecretRef: data[name] of the Secret is missing");
    settings.secret = {{"name", "k"}, {"secret", "not base64!"}};
    EXPECT_EQ(error(), "spec.dnsProviderSecretRef: in the Secret data[secret]: is not the base64 text of a key");
    settings.secret = {{"name", "k"}, {"algorithm", "hmac-md5"}, {"secret", "c2VjcmV0"}};
    EXPECT_EQ(error(),
              "spec.dnsProviderSecretRef: in the Secret data[algorithm]: is none of hmac-sha1, -sha224, -sha256, "
              "-sha384 and -sha512");
    settings.secret["algorithm"] = "HMAC-SHA512\n";
    EXPECT_EQ(error(), "made");
}

TEST(Rfc2136, Canonicalises) {
    World world;
    ZoneSettings settings;
    settings.provider = "rfc2136";
    settings.apex = apex;
    settings.rfc2136 = {{"192.0.2.1:53"}, 120, 500};
    settings.secret = {{"name", "k"}, {"secret", "c2VjcmV0"}};
    const auto provider = make(settings, world.around).value();
    dns::Endpoint endpoint;
    endpoint.dns_name = "WWW.Example.com.";
    endpoint.targets = {"Shop.Example.NET"};
    endpoint.record_type = "CNAME";
    endpoint.labels = {{"resource", "default/x"}};
    auto made = provider->canonicalise(endpoint);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(line_of(*made), "www.example.com 300 CNAME shop.example.net.");
    EXPECT_EQ(made->labels, endpoint.labels);
    EXPECT_EQ(*provider->canonicalise(*made), *made) << "once is enough";
    endpoint.ttl = 60;
    EXPECT_EQ(provider->canonicalise(endpoint)->ttl, 120) << "minTTL";
    endpoint.dns_name = "example.com";
    made = provider->canonicalise(endpoint);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text(),
              "recordType: a CNAME cannot stand at example.com, where the zone has its SOA and NS");
    endpoint.dns_name = "a.example.com";
    endpoint.set_identifier = "x";
    made = provider->canonicalise(endpoint);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::unsupported);
    EXPECT_EQ(made.error().field, "setIdentifier");
}

}  // namespace
}  // namespace fairlead::provider::rfc2136
