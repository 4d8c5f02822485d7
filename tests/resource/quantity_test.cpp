// Quantities: the vectors of Kubernetes, and arithmetic.
#include "resource/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace fairlead::resource {
namespace {

Quantity quantity(std::string_view text) {
    auto out = Quantity::parse(text);
    if (!out) ADD_FAILURE() << text << ": " << out.error().text();
    return out.value_or(Quantity());
}

TEST(Quantity, Canonical) {
    const std::vector<std::pair<std::string_view, std::string_view>> cases{
        {"0", "0"},
        {"0Mi", "0"},
        {"1", "1"},
        {"1.5", "1500m"},
        {"1500m", "1500m"},
        {"1000m", "1"},
        {"1000", "1k"},
        {"1024", "1024"},
        {"1.5Gi", "1536Mi"},
        {"1024Ki", "1Mi"},
        {"1Ki", "1Ki"},
        {"0.5Ki", "512"},
        {"1.1Mi", "1153433600m"},
        {"100Mi", "100Mi"},
        {"2e3", "2e3"},
        {"1e4", "10e3"},
        {"1E3", "1e3"},
        {"1E", "1E"},
        {"2000e3", "2e6"},
        {"1e-3", "1e-3"},
        {"-1.5", "-1500m"},
        {"+5", "5"},
        {".5", "500m"},
        {"5.", "5"},
        {"1n", "1n"},
        {"0.1n", "1n"},
        {"1.1n", "2n"},
        {"-0.1n", "-1n"},
        {"1u", "1u"},
        {"1000u", "1m"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "9223372036854775807"},
        {"100E", "9223372036854775807"},
        {"-100E", "-9223372036854775807"},
        {"8Ei", "9223372036854775807"},
        {"7Ei", "7Ei"},
        {"1e999", "9223372036854775807"},
        {"1e-999", "1e-9"},
        {"0.000000000001Ki", "2n"},
    };
    for (const auto& [text, canonical] : cases) {
        EXPECT_EQ(quantity(text).canonical(), canonical) << text;
        EXPECT_EQ(quantity(text).text(), text) << "the text stays as written";
    }
}

TEST(Quantity, BriefIsShortAndSaysWhenItIsCut) {
    EXPECT_EQ(quantity("1Gi").brief(), "1Gi");
    EXPECT_EQ((quantity("1Gi") - quantity("600M")).brief(), "~451.7Mi");
    EXPECT_EQ((quantity("2G") - quantity("600Mi")).brief(), "~1.3G");
    EXPECT_EQ((quantity("1") - quantity("1n")).brief(), "~999.9m");
    EXPECT_EQ((quantity("0") - quantity("12345678")).brief(), "-12345678");
}

TEST(Quantity, ComparesByAmount) {
    EXPECT_EQ(quantity("1Gi"), quantity("1024Mi"));
    EXPECT_EQ(quantity("1"), quantity("1000m"));
    EXPECT_EQ(quantity("1e3"), quantity("1k"));
    EXPECT_LT(quantity("1k"), quantity("1Ki"));
    EXPECT_LT(quantity("-1"), quantity("1n"));
    EXPECT_GT(quantity("100Mi"), quantity("99.9Mi"));
}

TEST(Quantity, Refuses) {
    for (const std::string_view text : {"", "ten", "1.2.3", "1Zi", "1 Mi", "Mi", "-", "+", ".", "1e", "1e+", "1ki",
                                        "1MI", "1e1x", "--1", "1e1234", "NaN", "0x10"}) {
        EXPECT_FALSE(Quantity::parse(text)) << text;
    }
    EXPECT_EQ(Quantity::parse(std::string(1000, '1')).error().code, Errc::too_large);
}

TEST(Quantity, AddsAndSubtractsInTheFamilyOfTheLeft) {
    EXPECT_EQ((quantity("1Gi") + quantity("512Mi")).text(), "1536Mi");
    EXPECT_EQ((quantity("1Gi") - quantity("1Gi")).text(), "0");
    EXPECT_EQ((quantity("1") - quantity("250m")).text(), "750m");
    EXPECT_EQ((quantity("8E") + quantity("8E")).canonical(), "9223372036854775807");
    EXPECT_EQ((quantity("100Mi") - quantity("200Mi")).text(), "-100Mi");
}

TEST(QuantityProperty, CanonicalIsTheSameAmountAndStable) {
    EXPECT_TRUE(rc::check("parse(canonical(q)) == q", [] {
        const auto number = *rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000);
        const auto fraction = *rc::gen::inRange(0, 1000);
        const auto suffix = *rc::gen::element<std::string>("", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-2", "u");
        const auto text = std::to_string(number) + "." + std::to_string(fraction) + suffix;
        const auto parsed = Quantity::parse(text);
        RC_ASSERT(parsed.has_value());
        const auto again = Quantity::parse(parsed->canonical());
        RC_ASSERT(again.has_value());
        RC_ASSERT(*again == *parsed);
        RC_ASSERT(again->canonical() == parsed->canonical());
    }));
}

TEST(QuantityProperty, ParsingNeverCrashes) {
    EXPECT_TRUE(rc::check("any text", [] {
        (void)Quantity::parse(*rc::gen::container<std::string>(
            rc::gen::element('0', '9', '1', '.', '-', '+', 'e', 'E', 'K', 'i', 'm', 'n')));
    }));
}

}  // namespace
}  // namespace fairlead::resource
