#include "dnsserver/correspondent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "decoded.h"
#include "dns/zones.h"
#include "dnsserver/transfer.h"

namespace fairlead::dnsserver {
namespace {

using dns::name_of;
constexpr unsigned noerror = 0, formerr = 1, servfail = 2, refused = 5, notauth = 9;

class CorrespondentTest : public testing::Test {
protected:
    CorrespondentTest() {
        for (const auto* apex : {"example.com", "open.example"}) {
            zones_.add_zone(name_of(apex));
            const auto zone = dns::make_zone(apex, {});
            zones_.put(name_of(apex), name_of(apex), *zone.find(name_of(apex)));
        }
        put("www.example.com 60 A 192.0.2.1");
        zones_.publish();
        auto policy = std::make_shared<TransferPolicy>();
        policy->keys[key_.name] = key_;
        policy->keys[other_key_.name] = other_key_;
        policy->peers[name_of("example.com")] = {{dns::Prefix::parse("192.0.2.0/24").value(), 53, key_.name, true}};
        policy->peers[name_of("open.example")] = {{dns::Prefix::parse("192.0.2.0/24").value(), 53, std::nullopt, true}};
        policy->peers[name_of("unloaded.example")] = policy->peers[name_of("open.example")];
        correspondent_.set_policy(policy);
    }
    void put(const std::string& line, const char* apex = "example.com") {
        dns::Zone zone(name_of(apex));
        dns::add_line(zone, line);
        const auto name = name_of(line.substr(0, line.find(' ')));
        zones_.put(name_of(apex), name, *zone.find(name));
    }
    static std::string question(const char* name, std::uint16_t type) {
        MessageWriter writer(4711, 0);
        writer.question(name_of(name), type);
        return writer.take();
    }
    std::string signed_question(const char* name, std::uint16_t type) {
        auto packet = question(name, type);
        mac_ = dns::sign_request(packet, key_, clock_.now());
        return packet;
    }
    std::unique_ptr<MessageSource> ask(const std::string& packet, bool stream = true, const char* from = "192.0.2.9") {
        return correspondent_.answer(packet, {dns::Address::parse(from).value(), stream});
    }
    std::vector<std::string> all(const std::string& packet, bool stream = true, const char* from = "192.0.2.9") {
        std::vector<std::string> messages;
        const auto source = ask(packet, stream, from);
        std::string message;
        while (source && source->next(message)) messages.push_back(message);
        return messages;
    }
    Decoded only(const std::string& packet, bool stream = true, const char* from = "192.0.2.9") {
        const auto messages = all(packet, stream, from);
        EXPECT_EQ(messages.size(), 1U);
        return messages.empty() ? Decoded{} : decode(messages.front());
    }

    dns::TsigKey key_{name_of("transfer.key"), dns::TsigAlgorithm::hmac_sha256, "a secret of some length"};
    dns::TsigKey other_key_{name_of("other.key"), dns::TsigAlgorithm::hmac_sha512, "another secret of some length"};
    std::string mac_;
    ManualClock clock_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    ZoneSet zones_{1};
    Places places_{std::make_unique<const std::shared_ptr<const geo::Table>>()};
    AnswerSettings settings_;
    Correspondent correspondent_{
        {zones_.published(), places_, settings_, clock_, log_, metrics_}, 1, {2, std::chrono::seconds(60)}};
};

TEST_F(CorrespondentTest, AnswersASignedQuerySigned) {
    const auto packet = signed_question("www.example.com", 1);
    const auto messages = all(packet, false);
    ASSERT_EQ(messages.size(), 1U);
    const auto reply = decode(messages[0]);
    EXPECT_EQ(reply.rcode, noerror);
    EXPECT_THAT(reply.answer, testing::ElementsAre("www.example.com 60 A 192.0.2.1"));
    const auto checked = dns::check_reply(messages[0], key_, mac_, clock_.now());
    EXPECT_TRUE(checked) << checked.error().text();
}

TEST_F(CorrespondentTest, LeavesRoomForTheSignatureInADatagram) {
    std::string lines = "many.example.com 60 A 192.0.2.1";
    for (int i = 2; i < 28; ++i) lines += ";192.0.2." + std::to_string(i);  // 26 * 16 bytes: fits, but not signed
    put(lines);
    zones_.publish();
    const auto messages = all(signed_question("many.example.com", 1), false);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_LE(messages[0].size(), 512U);
    EXPECT_TRUE((decode(messages[0]).flags & 0x0200U) != 0) << "truncated";
    EXPECT_TRUE(dns::check_reply(messages[0], key_, mac_, clock_.now()));
}

TEST_F(CorrespondentTest, AnswersAlsoWhenSignatureAndOptionsTakeAllTheRoom) {
    settings_.identity = std::string(255, 'x');
    const std::string label(62, 'k');
    auto key = key_;
    key.name = name_of(label + "." + label + "." + label + "." + label);
    auto policy = std::make_shared<TransferPolicy>();
    policy->keys[key.name] = key;
    correspondent_.set_policy(policy);
    auto packet = question("www.example.com", 1);
    packet[11] = 1;
    packet.append("\0\0\x29\2\0\0\0\0\0\0\4\0\3\0\0", 15);  // EDNS, 512 bytes, who are you (NSID)
    mac_ = dns::sign_request(packet, key, clock_.now());
    const auto messages = all(packet, false);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_TRUE(decode(messages[0]).answer.empty());
    EXPECT_TRUE((decode(messages[0]).flags & 0x0200U) != 0) << "truncated";
    EXPECT_TRUE(dns::check_reply(messages[0], key, mac_, clock_.now()));
}

TEST_F(CorrespondentTest, SignatureTroubleIsNotAuth) {
    auto packet = signed_question("www.example.com", 1);
    packet[13] = 'v';
    auto reply = only(packet);
    EXPECT_EQ(reply.rcode, notauth);
    EXPECT_EQ(reply.tsig_error, 16U);
    EXPECT_EQ(reply.mac_bytes, 0U);
    EXPECT_TRUE(reply.answer.empty());

    auto late = signed_question("example.com", type_axfr);
    clock_.advance(std::chrono::seconds(301));
    reply = only(late);
    EXPECT_EQ(reply.rcode, notauth);
    EXPECT_EQ(reply.tsig_error, 18U);
    EXPECT_EQ(reply.mac_bytes, 32U) << "the asker has the key, so it may know that we do too";
}

TEST_F(CorrespondentTest, TransfersToPeersWithTheKey) {
    const auto messages = all(signed_question("example.com", type_axfr));
    ASSERT_EQ(messages.size(), 1U);
    const auto reply = decode(messages[0]);
    EXPECT_EQ(reply.rcode, noerror);
    ASSERT_EQ(reply.answer.size(), 4U);
    EXPECT_EQ(reply.answer.front(), reply.answer.back());
    EXPECT_THAT(reply.answer, testing::Contains("www.example.com 60 A 192.0.2.1"));
    EXPECT_TRUE(dns::check_reply(messages[0], key_, mac_, clock_.now()));
    EXPECT_THAT(metrics_.expose(), testing::HasSubstr("fairlead_dns_transfers_total{result=\"completed\"} 1"));
}

TEST_F(CorrespondentTest, RefusesOthers) {
    EXPECT_EQ(only(question("example.com", type_axfr)).rcode, refused) << "not signed";
    EXPECT_EQ(only(signed_question("example.com", type_axfr), true, "203.0.113.1").rcode, refused) << "from elsewhere";
    EXPECT_EQ(only(question("example.org", type_axfr)).rcode, refused) << "not our zone";
    EXPECT_EQ(only(question("www.example.com", type_axfr)).rcode, refused) << "no apex";
    EXPECT_EQ(only(question("open.example", type_axfr), false).rcode, refused) << "over UDP";
    auto packet = question("example.com", type_axfr);
    mac_ = dns::sign_request(packet, other_key_, clock_.now());
    const auto messages = all(packet);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(decode(messages[0]).rcode, refused) << "another key";
    EXPECT_TRUE(dns::check_reply(messages[0], other_key_, mac_, clock_.now()));
    EXPECT_EQ(only(question("unloaded.example", type_axfr)).rcode, servfail);
    EXPECT_EQ(only(question("open.example", type_axfr)).rcode, noerror);
}

TEST_F(CorrespondentTest, APolicyCountsFromItsPublication) {
    correspondent_.set_policy(std::make_shared<TransferPolicy>());
    EXPECT_EQ(only(question("open.example", type_axfr)).rcode, refused);
    EXPECT_EQ(only(signed_question("www.example.com", 1)).tsig_error, 17U);
}

TEST_F(CorrespondentTest, IncrementalTransfersBecomeFullOnes) {
    EXPECT_EQ(only(question("open.example", type_ixfr), false).answer.size(), 1U) << "UDP: the SOA, come by TCP";
    EXPECT_EQ(only(question("open.example", type_ixfr)).answer.size(), 3U);
    const auto with_serial = [&](const char* serial) {
        MessageWriter writer(1, 0);
        writer.question(name_of("open.example"), type_ixfr);
        const auto soa = dns::parse_rdata(dns::RecordType::soa, std::string("n. h. ") + serial + " 1 1 1 1").value();
        writer.add(dns::Section::authority, name_of("open.example"), dns::RecordType::soa, 0, soa, 512);
        return writer.take();
    };
    EXPECT_EQ(only(with_serial("1")).answer.size(), 1U) << "it has what we have";
    EXPECT_EQ(only(with_serial("0")).answer.size(), 3U);
    EXPECT_EQ(only(with_serial("4294967290")).answer.size(), 3U);
}

TEST_F(CorrespondentTest, ALongTransferIsOneVersionSignedAsAStream) {
    for (int i = 0; i < 2'000; ++i) put(fmt::format("h{}.example.com 60 A 192.0.2.1", i));
    zones_.publish();
    const auto source = ask(signed_question("example.com", type_axfr));
    std::string first;
    std::string message;
    ASSERT_TRUE(source->next(first));
    EXPECT_TRUE(dns::check_reply(first, key_, mac_, clock_.now()));
    for (int i = 0; i < 2'000; ++i) put(fmt::format("h{}.example.com 60 A 198.51.100.1", i));
    zones_.set_serial(name_of("example.com"), 2);
    zones_.publish();
    std::size_t messages = 1;
    std::vector<std::string> records = decode(first).answer;
    while (source->next(message)) {
        ++messages;
        const auto part = decode(message);
        EXPECT_EQ(part.mac_bytes, 32U);
        EXPECT_FALSE(dns::check_reply(message, key_, mac_, clock_.now()))
            << "covers the message before, not the request";
        records.insert(records.end(), part.answer.begin(), part.answer.end());
    }
    EXPECT_GT(messages, 2U);
    ASSERT_EQ(records.size(), 2'004U);
    EXPECT_EQ(records.front(), records.back());
    EXPECT_TRUE(std::none_of(records.begin(), records.end(), [](const std::string& record) {
        return record.find("198.51.100.1") != std::string::npos;
    }));
    const auto again = all(signed_question("example.com", type_axfr));
    EXPECT_THAT(decode(again.front()).answer.front(), testing::HasSubstr(" 2 7200 900"));
}

TEST_F(CorrespondentTest, EachTransferIsOneVersionWhileTheZoneChanges) {
    const auto apex = name_of("example.com");
    const auto publish = [&](std::uint32_t serial) {
        for (int i = 0; i < 50; ++i) put(fmt::format("h{}.example.com 60 TXT v{}", i, serial));
        zones_.set_serial(apex, serial);
        zones_.publish();
    };
    zones_.put(apex, name_of("www.example.com"), {});
    publish(2);
    std::atomic<bool> done{false};
    std::thread writer([&] {
        for (std::uint32_t serial = 3; !done; ++serial) publish(serial);
    });
    for (int i = 0; i < 50; ++i) {
        std::vector<std::string> records;
        for (const auto& message : all(signed_question("example.com", type_axfr))) {
            const auto part = decode(message).answer;
            records.insert(records.end(), part.begin(), part.end());
        }
        ASSERT_EQ(records.size(), 53U);
        EXPECT_EQ(records.front(), records.back());
        const auto version = split(records.front(), ' ')[5];
        for (const auto& record : records) {
            if (record.find(" TXT ") == std::string::npos) continue;
            EXPECT_THAT(record, testing::EndsWith(fmt::format("\"v{}\"", version)));
        }
    }
    done = true;
    writer.join();
}

TEST_F(CorrespondentTest, TransfersAtOnceAreLimited) {
    auto first = ask(question("open.example", type_axfr));
    auto second = ask(question("open.example", type_axfr));
    EXPECT_EQ(only(question("open.example", type_axfr)).rcode, servfail);
    first.reset();
    EXPECT_EQ(only(question("open.example", type_axfr)).rcode, noerror);
    const auto text = metrics_.expose();
    EXPECT_THAT(text, testing::HasSubstr("fairlead_dns_transfers_total{result=\"too_many\"} 1"));
    EXPECT_THAT(text, testing::HasSubstr("fairlead_dns_transfers_total{result=\"failed\"} 1"));
    EXPECT_THAT(text, testing::HasSubstr("fairlead_dns_transfers_running 1"));
}

TEST_F(CorrespondentTest, ASlowTransferEnds) {
    for (int i = 0; i < 2'000; ++i) put(fmt::format("h{}.example.com 60 A 192.0.2.1", i));
    zones_.publish();
    const auto source = ask(signed_question("example.com", type_axfr));
    std::string message;
    ASSERT_TRUE(source->next(message));
    clock_.advance(std::chrono::seconds(61));
    ASSERT_TRUE(source->next(message));
    EXPECT_EQ(decode(message).rcode, servfail);
    EXPECT_FALSE(source->next(message));
    zones_.put(name_of("example.com"), name_of("h1.example.com"), {});
    zones_.publish();
    EXPECT_EQ(zones_.published().waiting(), 0U) << "the version that it held is gone";
}

TEST_F(CorrespondentTest, WhateverComesGetsAnAnswerOrNone) {
    EXPECT_EQ(ask(""), nullptr);
    EXPECT_EQ(ask(std::string(12, '\xff')), nullptr);
    auto packet = signed_question("www.example.com", 1);
    packet.resize(packet.size() - 1);
    EXPECT_EQ(only(packet).rcode, formerr);
    auto wrong_class = signed_question("www.example.com", 1);
    wrong_class[12 + 17 + 4 + 14 + 3] = 1;
    EXPECT_EQ(only(wrong_class).rcode, formerr);
}

}  // namespace
}  // namespace fairlead::dnsserver
