#include "dns/tsig.h"

#include <gtest/gtest.h>

#include "dns/bytes.h"
#include "dns/query.h"
#include "dns/zones.h"

namespace fairlead::dns {
namespace {

constexpr std::uint64_t signed_at = 1794809208;  // when the captured requests were made
constexpr std::string_view secret = "secret of a test, 32 bytes long!";

WallTime at(std::uint64_t seconds) { return WallTime{std::chrono::seconds{seconds}}; }

TsigKey key_of(std::string_view algorithm, std::string_view name = "transfer.key") {
    return {name_of(name), parse_tsig_algorithm(algorithm).value(), std::string(secret)};
}
TsigKeys keys_of(const TsigKey& key) { return {{key.name, key}}; }

std::string from_hex(std::string_view text) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string out;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        out += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
    }
    return out;
}

TsigCheck check(const std::string& packet, const TsigKey& key, std::uint64_t now = signed_at) {
    Query query;
    EXPECT_EQ(read_query(packet, query), Verdict::answer);
    return check_tsig(packet, query.signature_at.value_or(0), keys_of(key), at(now));
}

// www.example.com A, not signed.
std::string plain_request() { return from_hex("d9d60120000100000000000003777777076578616d706c6503636f6d0000010001"); }
std::string reply_to(std::string request) {
    request.resize(33);
    request[2] = static_cast<char>(0x84);
    request[10] = request[11] = 0;
    return request;
}

struct Captured {
    const char* test;
    const char* algorithm;
    std::string_view packet;
};
class RealRequest : public testing::TestWithParam<Captured> {};
TEST_P(RealRequest, IsValid) {
    const auto packet = from_hex(GetParam().packet);
    const auto key = key_of(GetParam().algorithm);
    const auto result = check(packet, key);
    EXPECT_EQ(result.verdict, TsigCheck::Verdict::valid) << tsig_error_text(result.error);
    EXPECT_EQ(result.key, key.name);
}
INSTANTIATE_TEST_SUITE_P(
    Tsig, RealRequest,
    testing::Values(
        Captured{"dig_hmac_sha1", "hmac-sha1",
                 "902b0120000100000000000203777777076578616d706c6503636f6d000001000100002904d000000000000008747261"
                 "6e73666572036b65790000fa00ff00000000002f09686d61632d736861310000006afa9d78012c0014099bb4689e9d9e"
                 "d0e6fbf1f7f481f446e7592690902b00000000"},
        Captured{"kdig_hmac_sha1", "hmac-sha1",
                 "09f201200001000000000001076578616d706c6503636f6d0000060001087472616e73666572036b65790000fa00ff00"
                 "000000002f09686d61632d736861310000006afa9d78012c0014dab04e8f9ef1cf7644071cd857b23092ea41e7e609f2"
                 "00000000"},
        Captured{"dig_hmac_sha224", "hmac-sha224",
                 "a9400120000100000000000203777777076578616d706c6503636f6d000001000100002904d000000000000008747261"
                 "6e73666572036b65790000fa00ff0000000000390b686d61632d7368613232340000006afa9d78012c001cdf621999cb"
                 "7f1163d3b1cf3082e12e0ec19fc180943b8a5a545ee68fa94000000000"},
        Captured{"kdig_hmac_sha224", "hmac-sha224",
                 "61d801200001000000000001076578616d706c6503636f6d0000060001087472616e73666572036b65790000fa00ff00"
                 "00000000390b686d61632d7368613232340000006afa9d78012c001c7c0844f185c25e885290778a917ece3d52a8f19a"
                 "9244b5ddc4d5389161d800000000"},
        Captured{"dig_hmac_sha256", "hmac-sha256",
                 "de890120000100000000000203777777076578616d706c6503636f6d000001000100002904d000000000000008747261"
                 "6e73666572036b65790000fa00ff00000000003d0b686d61632d7368613235360000006afa9d78012c0020b44f7e4a6d"
                 "9b729f9e2ea818692ed897a360972a4a8cfb5eff66aeb582f25f59de8900000000"},
        Captured{"kdig_hmac_sha256", "hmac-sha256",
                 "be7b01200001000000000001076578616d706c6503636f6d0000060001087472616e73666572036b65790000fa00ff00"
                 "000000003d0b686d61632d7368613235360000006afa9d78012c0020338105cb25ef53d0c71b237d24a92845c39de57d"
                 "8532077103b1e822eac82a36be7b00000000"},
        Captured{"dig_hmac_sha384", "hmac-sha384",
                 "02e80120000100000000000203777777076578616d706c6503636f6d000001000100002904d000000000000008747261"
                 "6e73666572036b65790000fa00ff00000000004d0b686d61632d7368613338340000006afa9d78012c0030b056617dcc"
                 "626d76bcead1eba2f09ddd6d9809c196c4c506073ae48a8b3ccd4b17e7094c4ab16fd0d13566b3480e495b02e8000000"
                 "00"},
        Captured{"kdig_hmac_sha384", "hmac-sha384",
                 "d0a401200001000000000001076578616d706c6503636f6d0000060001087472616e73666572036b65790000fa00ff00"
                 "000000004d0b686d61632d7368613338340000006afa9d78012c0030e73b30ceeac056e04b132515557a7fe2c16f0982"
                 "e493819d01518ac1c6af63e7494eead905cef32a64c9021abf89b6b0d0a400000000"},
        Captured{"dig_hmac_sha512", "hmac-sha512",
                 "9c030120000100000000000203777777076578616d706c6503636f6d000001000100002904d000000000000008747261"
                 "6e73666572036b65790000fa00ff00000000005d0b686d61632d7368613531320000006afa9d78012c00401fd3d527b7"
                 "010e1b266f3c3f74e5addf2cc16c42964c57720118becb50f9ddf8e008bb7f3a37f22eaed0b98bf649fb7d769a1dffce"
                 "92007979899fb84edeb38c9c0300000000"},
        Captured{"kdig_hmac_sha512", "hmac-sha512",
                 "a2e001200001000000000001076578616d706c6503636f6d0000060001087472616e73666572036b65790000fa00ff00"
                 "000000005d0b686d61632d7368613531320000006afa9d78012c004074f479ab83803e544af279563e1bc054c4a73bd3"
                 "c90fb0a7e14f27a26cecabad20014da26120f756d55da2847aee427ab4db6b62a27b078ecbab51109f0580d3a2e00000"
                 "0000"}),
    [](const auto& each) { return std::string(each.param.test); });

struct BrokenCase {
    const char* test;
    TsigCheck::Verdict verdict;
    TsigError error;
    std::string (*packet)(const TsigKey& key);
    TsigKey (*known)() = [] { return key_of("hmac-sha256"); };
    std::int64_t late = 0;
};

std::string well_signed(const TsigKey& key) {
    auto packet = plain_request();
    (void)sign_request(packet, key, at(signed_at));
    return packet;
}
// The same with the MAC cut to `size` bytes.
std::string cut(const TsigKey& key, std::size_t size) {
    const auto packet = well_signed(key);
    const std::size_t data_length_at = 33 + key.name.wire().size() + 8;
    const std::size_t mac_size_at = data_length_at + 2 + 13 + 8;
    std::string out = packet.substr(0, data_length_at);
    put16(out, get16(packet, data_length_at) - static_cast<unsigned>(32 - size));
    out += packet.substr(data_length_at + 2, mac_size_at - data_length_at - 2);
    put16(out, static_cast<unsigned>(size));
    out += packet.substr(mac_size_at + 2, size);
    return out + packet.substr(mac_size_at + 2 + 32);
}

class BrokenRequest : public testing::TestWithParam<BrokenCase> {};
TEST_P(BrokenRequest, GetsItsError) {
    const auto packet = GetParam().packet(key_of("hmac-sha256"));
    const auto now = static_cast<std::uint64_t>(static_cast<std::int64_t>(signed_at) + GetParam().late);
    auto result = check(packet, GetParam().known(), now);
    EXPECT_EQ(result.verdict, GetParam().verdict);
    EXPECT_EQ(result.error, GetParam().error) << tsig_error_text(result.error);
    EXPECT_EQ(result.key.has_value(), result.verdict == TsigCheck::Verdict::valid);
}
INSTANTIATE_TEST_SUITE_P(
    Tsig, BrokenRequest,
    testing::Values(BrokenCase{"nothing", TsigCheck::Verdict::valid, TsigError::none, well_signed},
                    BrokenCase{"changed_question", TsigCheck::Verdict::rejected, TsigError::bad_signature,
                               [](const TsigKey& key) {
                                   auto packet = well_signed(key);
                                   packet[13] = 'v';
                                   return packet;
                               }},
                    BrokenCase{"changed_mac", TsigCheck::Verdict::rejected, TsigError::bad_signature,
                               [](const TsigKey& key) {
                                   auto packet = well_signed(key);
                                   packet[packet.size() - 7] = static_cast<char>(packet[packet.size() - 7] ^ 1);
                                   return packet;
                               }},
                    BrokenCase{"forwarded_under_another_id", TsigCheck::Verdict::valid, TsigError::none,
                               [](const TsigKey& key) {
                                   auto packet = well_signed(key);
                                   packet[0] = 'x';
                                   return packet;
                               }},
                    BrokenCase{"unknown_key", TsigCheck::Verdict::rejected, TsigError::bad_key, well_signed,
                               [] { return key_of("hmac-sha256", "other.key"); }},
                    BrokenCase{"other_algorithm", TsigCheck::Verdict::rejected, TsigError::bad_key, well_signed,
                               [] { return key_of("hmac-sha512"); }},
                    BrokenCase{"other_secret", TsigCheck::Verdict::rejected, TsigError::bad_signature, well_signed,
                               [] {
                                   auto key = key_of("hmac-sha256");
                                   key.secret += '!';
                                   return key;
                               }},
                    BrokenCase{"just_in_time", TsigCheck::Verdict::valid, TsigError::none, well_signed,
                               [] { return key_of("hmac-sha256"); }, 300},
                    BrokenCase{"too_late", TsigCheck::Verdict::rejected, TsigError::bad_time, well_signed,
                               [] { return key_of("hmac-sha256"); }, 301},
                    BrokenCase{"from_the_future", TsigCheck::Verdict::rejected, TsigError::bad_time, well_signed,
                               [] { return key_of("hmac-sha256"); }, -301},
                    BrokenCase{"half_a_mac", TsigCheck::Verdict::rejected, TsigError::bad_truncation,
                               [](const TsigKey& key) { return cut(key, 16); }},
                    BrokenCase{"less_than_half_a_mac", TsigCheck::Verdict::malformed, TsigError::none,
                               [](const TsigKey& key) { return cut(key, 15); }},
                    BrokenCase{"no_mac", TsigCheck::Verdict::malformed, TsigError::none,
                               [](const TsigKey& key) { return cut(key, 0); }},
                    BrokenCase{"wrong_class", TsigCheck::Verdict::malformed, TsigError::none,
                               [](const TsigKey& key) {
                                   auto packet = well_signed(key);
                                   packet[33 + key.name.wire().size() + 3] = 1;
                                   return packet;
                               }}),
    [](const auto& each) { return std::string(each.param.test); });

TEST(Tsig, EveryCutOfASignedRequestIsMalformed) {
    const auto key = key_of("hmac-sha256");
    const auto packet = well_signed(key);
    for (std::size_t size = 33; size < packet.size(); ++size) {
        const auto result = check_tsig(std::string_view(packet).substr(0, size), 33, keys_of(key), at(signed_at));
        EXPECT_EQ(result.verdict, TsigCheck::Verdict::malformed) << size;
    }
}

TEST(Tsig, AKeyMayBeNamedByAPointer) {
    const auto key = key_of("hmac-sha256", "example.com");
    auto packet = well_signed(key);
    packet.replace(33, key.name.wire().size(), "\xc0\x10");  // in www.example.com
    EXPECT_EQ(check(packet, key).verdict, TsigCheck::Verdict::valid);
    packet.replace(33, 2, "\xc0\x21");  // at itself
    EXPECT_EQ(check_tsig(packet, 33, keys_of(key), at(signed_at)).verdict, TsigCheck::Verdict::malformed);
}

TEST(Tsig, ARepliesSignatureCoversTheRequests) {
    const auto key = key_of("hmac-sha384");
    auto request = plain_request();
    const auto mac = sign_request(request, key, at(signed_at));
    auto result = check(request, key);
    auto reply = reply_to(request);
    const auto bare = reply.size();
    const auto promised = result.replies.record_bytes();
    result.replies.sign(reply, at(signed_at + 1));
    EXPECT_EQ(reply.size() - bare, promised);
    EXPECT_TRUE(check_reply(reply, key, mac, at(signed_at + 2)));

    EXPECT_FALSE(check_reply(reply, key, std::string(48, 'x'), at(signed_at + 2))) << "another request's reply";
    EXPECT_FALSE(check_reply(reply, key, mac, at(signed_at + 302))) << "too late";
    EXPECT_FALSE(check_reply(reply, key_of("hmac-sha384", "other.key"), mac, at(signed_at))) << "another key";
    EXPECT_FALSE(check_reply(reply_to(request), key, mac, at(signed_at))) << "not signed";
    reply[20] = 'x';
    EXPECT_FALSE(check_reply(reply, key, mac, at(signed_at))) << "changed on the way";
}

TEST(Tsig, ErrorsOfKeyAndSignatureAreReportedUnsigned) {
    const auto key = key_of("hmac-sha256");
    auto request = plain_request();
    const auto mac = sign_request(request, key, at(signed_at));
    auto result = check(request, key_of("hmac-sha256", "other.key"));
    auto reply = reply_to(request);
    result.replies.sign(reply, at(signed_at));
    EXPECT_EQ(get16(reply, 11), 1U << 8 | 3U) << "one additional record, then the name";
    const auto mac_size_at = reply.size() - 8;
    EXPECT_EQ(get16(reply, mac_size_at), 0U);
    EXPECT_EQ(get16(reply, mac_size_at + 4), 17U);
    const auto outcome = check_reply(reply, key, mac, at(signed_at));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().message, "the peer refuses the key transfer.key: BADKEY");
}

TEST(Tsig, AWrongClockIsReportedSignedWithOurTime) {
    const auto key = key_of("hmac-sha256");
    auto request = plain_request();
    const auto mac = sign_request(request, key, at(signed_at));
    const auto ours = signed_at + 1'000;
    auto result = check(request, key, ours);
    auto reply = reply_to(request);
    const auto bare = reply.size();
    const auto promised = result.replies.record_bytes();
    result.replies.sign(reply, at(ours));
    EXPECT_EQ(reply.size() - bare, promised);
    EXPECT_EQ(get32(reply, reply.size() - 4), ours) << "other data";
    const auto outcome = check_reply(reply, key, mac, at(signed_at));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().message, "the clocks of this machine and the peer are too far apart (BADTIME)");
}

TEST(Tsig, AlgorithmsByName) {
    EXPECT_EQ(parse_tsig_algorithm("HMAC-SHA256."), TsigAlgorithm::hmac_sha256);
    EXPECT_EQ(parse_tsig_algorithm("hmac-sha1"), TsigAlgorithm::hmac_sha1);
    EXPECT_EQ(parse_tsig_algorithm("hmac-md5.sig-alg.reg.int"), std::nullopt);
    EXPECT_EQ(parse_tsig_algorithm(""), std::nullopt);
    EXPECT_EQ(tsig_algorithm_text(TsigAlgorithm::hmac_sha512), "hmac-sha512");
}

}  // namespace
}  // namespace fairlead::dns
