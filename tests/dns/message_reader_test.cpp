#include "dns/message_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "dns/bytes.h"
#include "dns/message_writer.h"
#include "dns/rdata.h"
#include "dns/tsig.h"
#include "dns/zones.h"

namespace fairlead::dns {
namespace {

struct DataCase {
    const char* test;
    RecordType type;
    const char* text;
};
class ReadsData : public testing::TestWithParam<DataCase> {};
TEST_P(ReadsData, OfEveryTypeAsItWasWritten) {
    const auto data = parse_rdata(GetParam().type, GetParam().text);
    ASSERT_TRUE(data) << data.error().text();
    MessageWriter writer(1, flag_response);
    writer.question(name_of("example.com"), type_axfr);
    ASSERT_TRUE(writer.add(Section::answer, name_of("www.example.com"), GetParam().type, 60, *data, 4'096));
    const auto message = read_message(writer.bytes());
    ASSERT_TRUE(message) << message.error().text();
    ASSERT_EQ(message->answers.size(), 1U);
    const auto& record = message->answers[0];
    EXPECT_TRUE(record.known);
    EXPECT_EQ(record.name, name_of("www.example.com"));
    EXPECT_EQ(record.ttl, 60U);
    EXPECT_EQ(hex(record.data), hex(*data));
}
INSTANTIATE_TEST_SUITE_P(MessageReader, ReadsData,
                         testing::Values(DataCase{"A", RecordType::a, "192.0.2.1"},
                                         DataCase{"AAAA", RecordType::aaaa, "2001:db8::1"},
                                         DataCase{"CNAME", RecordType::cname, "other.example.com"},
                                         DataCase{"NS", RecordType::ns, "ns.example.com"},
                                         DataCase{"PTR", RecordType::ptr, "x.example.net"},
                                         DataCase{"MX", RecordType::mx, "10 mail.example.com"},
                                         DataCase{"SRV", RecordType::srv, "1 2 3 sip.example.com"},
                                         DataCase{"TXT", RecordType::txt, "\"one\" \"two\""},
                                         DataCase{"CAA", RecordType::caa, "0 issue \"ca.example\""},
                                         DataCase{"TLSA", RecordType::tlsa, "3 1 1 aabb"},
                                         DataCase{"SVCB", RecordType::svcb, "1 svc.example.com port=8443"},
                                         DataCase{"HTTPS", RecordType::https, "1 . alpn=h2,h3 ipv4hint=192.0.2.1"},
                                         DataCase{"SOA", RecordType::soa, "ns.example.com h.example.com 1 2 3 4 5"}),
                         [](const auto& row) { return row.param.test; });

struct BrokenData {
    const char* test;
    RecordType type;
    std::string bytes;
};
class RefusesData : public testing::TestWithParam<BrokenData> {};
TEST_P(RefusesData, ThatIsNone) {
    EXPECT_EQ(read_rdata(GetParam().type, GetParam().bytes, 0, GetParam().bytes.size()), std::nullopt);
}
INSTANTIATE_TEST_SUITE_P(MessageReader, RefusesData,
                         testing::Values(BrokenData{"short_address", RecordType::a, "abc"},
                                         BrokenData{"long_address", RecordType::a, "abcde"},
                                         BrokenData{"no_string", RecordType::txt, ""},
                                         BrokenData{"cut_string", RecordType::txt, "\5abc"},
                                         BrokenData{"name_without_end", RecordType::cname, "\3abc"},
                                         BrokenData{"behind_a_name", RecordType::cname, std::string("\1a\0x", 4)},
                                         BrokenData{"pointer_to_itself", RecordType::cname, std::string("\xc0\0", 2)},
                                         BrokenData{"caa_without_tag", RecordType::caa, std::string("\0\0x", 3)},
                                         BrokenData{"caa_cut_tag", RecordType::caa, std::string("\0\x09iss", 5)},
                                         BrokenData{"tlsa_without_data", RecordType::tlsa, "\1\1\1"},
                                         BrokenData{"svcb_cut", RecordType::svcb, std::string("\0\1\0\0\3\0\1x", 8)},
                                         BrokenData{"svcb_keys_not_rising", RecordType::svcb,
                                                    std::string("\0\1\0\0\4\0\4abcd\0\3\0\2ab", 17)}),
                         [](const auto& row) { return row.param.test; });

RC_GTEST_PROP(MessageReader, NoBytesAreTooStrange, (const std::string& bytes)) {
    (void)read_message(bytes);
    for (const auto type : {RecordType::a, RecordType::svcb, RecordType::soa, RecordType::caa, RecordType::txt}) {
        const auto data = read_rdata(type, bytes, 0, bytes.size());
        if (data) RC_ASSERT(parse_rdata(type, rdata_text(type, *data)) == *data);
    }
}

// A stream of replies as servers sign it: the first, the last, and some in between.
struct Stream {
    TsigKey key{name_of("k"), TsigAlgorithm::hmac_sha256, "secret"};
    WallTime now{std::chrono::seconds{1'800'000'000}};
    std::string mac;
    TsigSigner signer;

    Stream() {
        MessageWriter writer(7, 0);
        writer.question(name_of("example.com"), type_axfr);
        auto request = writer.take();
        const auto at = request.size();
        mac = sign_request(request, key, now);
        signer = check_tsig(request, at, {{key.name, key}}, now).replies;
    }
    static std::string message(unsigned i) {
        MessageWriter writer(7, flag_response);
        (void)writer.add(Section::answer, name_of("x.example.com"), RecordType::a, i, "abcd", 512);
        return writer.take();
    }
    std::string signed_message(unsigned i) {
        auto bytes = message(i);
        signer.sign(bytes, now);
        return bytes;
    }
};

TEST(TsigReplies, EveryMessageSigned) {
    Stream stream;
    TsigReplies replies(stream.key, stream.mac);
    EXPECT_FALSE(replies.settled());
    for (unsigned i = 0; i < 5; ++i) {
        const auto checked = replies.check(stream.signed_message(i), stream.now);
        EXPECT_TRUE(checked) << i << checked.error().text();
        EXPECT_TRUE(replies.settled());
    }
}

// RFC 8945 section 5.3.1: a signature covers the messages since the last one.
std::string signed_for_both(Stream& stream, const std::string& unsigned_one, std::string last) {
    auto both = unsigned_one + last;
    const auto size = both.size();
    stream.signer.sign(both, stream.now);
    last[additional_at + 1] = 1;
    return last + both.substr(size);
}

TEST(TsigReplies, MessagesInBetweenCount) {
    Stream stream;
    TsigReplies replies(stream.key, stream.mac);
    ASSERT_TRUE(replies.check(stream.signed_message(0), stream.now));
    ASSERT_TRUE(replies.check(Stream::message(1), stream.now));
    EXPECT_FALSE(replies.settled()) << "nobody vouches for the second yet";
    const auto checked = replies.check(signed_for_both(stream, Stream::message(1), Stream::message(2)), stream.now);
    EXPECT_TRUE(checked) << checked.error().text();
    EXPECT_TRUE(replies.settled());
    EXPECT_TRUE(replies.check(stream.signed_message(3), stream.now));
}

TEST(TsigReplies, NothingCanBeSlippedInBetween) {
    Stream stream;
    TsigReplies replies(stream.key, stream.mac);
    ASSERT_TRUE(replies.check(stream.signed_message(0), stream.now));
    ASSERT_TRUE(replies.check(Stream::message(1), stream.now));
    const auto checked = replies.check(stream.signed_message(2), stream.now);
    ASSERT_FALSE(checked) << "a signature that leaves the second out";
    EXPECT_EQ(checked.error().text(), "the signature of the reply with key k is wrong");
}

TEST(TsigReplies, TheFirstMustBeSignedAndOrderMatters) {
    Stream stream;
    TsigReplies replies(stream.key, stream.mac);
    EXPECT_FALSE(replies.check(Stream::message(0), stream.now));
    const auto first = stream.signed_message(0), second = stream.signed_message(1);
    TsigReplies swapped(stream.key, stream.mac);
    EXPECT_FALSE(swapped.check(second, stream.now));
    TsigReplies twice(stream.key, stream.mac);
    ASSERT_TRUE(twice.check(first, stream.now));
    EXPECT_FALSE(twice.check(first, stream.now)) << "replayed";
}

TEST(TsigReplies, NotTooManyWithoutASignature) {
    Stream stream;
    TsigReplies replies(stream.key, stream.mac);
    ASSERT_TRUE(replies.check(stream.signed_message(0), stream.now));
    for (unsigned i = 0; i < 99; ++i) ASSERT_TRUE(replies.check(Stream::message(i), stream.now)) << i;
    EXPECT_FALSE(replies.check(Stream::message(100), stream.now));
}

}  // namespace
}  // namespace fairlead::dns
