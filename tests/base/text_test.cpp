#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace fairlead {
namespace {

TEST(Text, SplitKeepsEmptyParts) {
    EXPECT_EQ(split("a//b", '/'), (std::vector<std::string_view>{"a", "", "b"}));
    EXPECT_EQ(split("", '/'), (std::vector<std::string_view>{""}));
}

TEST(Text, TrimTakesBlanksAndLineEnds) {
    EXPECT_EQ(trim(" \t a b \r\n"), "a b");
    EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, Base64Vectors) {
    struct Row {
        std::string_view plain, encoded;
    };
    for (const Row& row :
         {Row{"", ""}, Row{"f", "Zg=="}, Row{"fo", "Zm8="}, Row{"foo", "Zm9v"}, Row{"\xfb\xff", "+/8="}}) {
        EXPECT_EQ(base64(row.plain), row.encoded);
        EXPECT_EQ(from_base64(row.encoded), std::string(row.plain));
    }
    EXPECT_EQ(base64url("\xfb\xff"), "-_8");
    for (const auto* bad : {"Zg=", "Z", "Zg==x", "Z*==", "===="}) EXPECT_FALSE(from_base64(bad)) << bad;
}

TEST(Text, EncodingsRoundTrip) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        RC_ASSERT(from_base64(base64(bytes)) == bytes);
        RC_ASSERT(from_base64url(base64url(bytes)) == bytes);
        RC_ASSERT(percent_decode(percent_encode(bytes), true) == bytes);
    }));
}

TEST(Text, PercentDecodeRefusesBrokenEscapes) {
    EXPECT_EQ(percent_decode("a%2Fb+c", false), "a/b+c");
    EXPECT_EQ(percent_decode("a%2fb+c", true), "a/b c");
    for (const auto* bad : {"%", "%2", "%zz", "a%f"}) EXPECT_FALSE(percent_decode(bad, false)) << bad;
}

TEST(Text, Rfc3339RoundTrips) {
    EXPECT_EQ(rfc3339(WallTime{std::chrono::seconds{1'700'000'000}}), "2023-11-14T22:13:20Z");
    EXPECT_EQ(rfc3339_micros(WallTime{std::chrono::microseconds{1'700'000'000'000'042}}),
              "2023-11-14T22:13:20.000042Z");
    EXPECT_EQ(from_rfc3339("2023-11-14T22:13:20Z"), WallTime{std::chrono::seconds{1'700'000'000}});
    EXPECT_EQ(from_rfc3339("2023-11-14T23:13:20.5+01:00"), WallTime{std::chrono::milliseconds{1'700'000'000'500}});
    for (const auto* bad : {"", "2023-11-14", "2023-13-14T22:13:20Z", "2023-11-14T22:13:20", "2023-11-14T25:13:20Z",
                            "2023-11-14T22:13:20+1", "2023/11-14T22:13:20Z"}) {
        EXPECT_FALSE(from_rfc3339(bad)) << bad;
    }
}

TEST(Text, HumanDurationReadsAsKubectlPrintsIt) {
    struct Row {
        std::int64_t seconds;
        std::string_view text;
    };
    for (const Row& row : {Row{-5, "0s"}, Row{0, "0s"}, Row{119, "119s"}, Row{120, "2m"}, Row{200, "3m20s"},
                           Row{600, "10m"}, Row{3 * 3600, "3h"}, Row{3 * 3600 + 60, "3h1m"}, Row{8 * 3600, "8h"},
                           Row{47 * 3600, "47h"}, Row{48 * 3600, "2d"}, Row{50 * 3600, "2d2h"}, Row{8 * 86400, "8d"},
                           Row{730LL * 86400, "2y"}, Row{731LL * 86400, "2y1d"}}) {
        EXPECT_EQ(human_duration(std::chrono::seconds{row.seconds}), row.text) << row.seconds;
    }
}

TEST(Text, ParseDuration) {
    EXPECT_EQ(parse_duration("1h30m"), std::chrono::minutes{90});
    EXPECT_EQ(parse_duration("500ms"), std::chrono::milliseconds{500});
    EXPECT_EQ(parse_duration("0"), std::chrono::milliseconds{0});
    for (const auto* bad : {"", "5", "s", "-1s", "1d", "1s "}) EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Text, ParseIntTakesNothingAround) {
    EXPECT_EQ(parse_int("-42"), -42);
    for (const auto* bad : {"", " 1", "1 ", "+1", "1.0", "9223372036854775808"}) EXPECT_FALSE(parse_int(bad)) << bad;
}

TEST(Text, Sha256OfNothing) {
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Text, SecretsAreEqualOrNot) {
    EXPECT_TRUE(equal_in_constant_time("", ""));
    EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
    for (const auto* other : {"", "secreT", "Secret", "secre", "secrets"}) {
        EXPECT_FALSE(equal_in_constant_time("secret", other)) << other;
    }
}

}  // namespace
}  // namespace fairlead
