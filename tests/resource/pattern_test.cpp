// The regular expressions of validation.
#include "resource/pattern.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <regex>

namespace fairlead::resource {
namespace {

struct Case {
    std::string_view pattern;
    std::vector<std::string_view> yes, no;
};

TEST(Pattern, MatchesTheWholeText) {
    const std::vector<Case> cases{
        {"abc", {"abc"}, {"", "ab", "abcd", "xabc"}},
        {"^a*$", {"", "a", "aaaa"}, {"b", "ab"}},
        {"a+b?", {"a", "ab", "aaab"}, {"", "b", "abb"}},
        {"(ab|cd)*e", {"e", "abe", "cdabe"}, {"ab", "ace"}},
        {"^$|^x$", {"", "x"}, {"xx", "y"}},
        {"a{2,3}", {"aa", "aaa"}, {"a", "aaaa"}},
        {"a{2}", {"aa"}, {"a", "aaa"}},
        {"a{2,}", {"aa", "aaaaa"}, {"a"}},
        {"[a-c_-]+", {"abc-_"}, {"d", ""}},
        {"[^a-c]", {"d", "-"}, {"a", "dd"}},
        {R"([\d.]+)", {"1.2"}, {"a"}},
        {R"(\w+\s\S)", {"ab_1 x"}, {"ab", "a  "}},
        {"a.c", {"abc", "a.c"}, {"a\nc", "ac"}},
        {R"(\*\.)", {"*."}, {"*x"}},
        {"(?:a|b)c", {"ac", "bc"}, {"c"}},
        {"a^b", {}, {"ab", "a^b"}},
        {"()", {""}, {"a"}},
        {"(a*)*", {"", "aaa"}, {"b"}},
        {"[]a]", {"]", "a"}, {"b"}},
        {R"(^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$)",
         {"example.com", "*.example.com", "a", "a-b.c"},
         {"", "-a", "a-", "a..b", "A", "*", "*.", "a.*.b"}},
        {R"(^([0-9]{1,5}(h|m|s|ms)){1,4}$)", {"1h", "10m30s", "1h1m1s1ms"}, {"", "1", "123456s", "1h1h1h1h1h"}},
    };
    for (const Case& c : cases) {
        const auto pattern = Pattern::compile(c.pattern);
        ASSERT_TRUE(pattern) << c.pattern << ": " << pattern.error().text();
        for (const auto text : c.yes) EXPECT_TRUE(pattern->matches(text)) << c.pattern << " on '" << text << "'";
        for (const auto text : c.no) EXPECT_FALSE(pattern->matches(text)) << c.pattern << " on '" << text << "'";
    }
}

TEST(Pattern, RefusesWhatItDoesNotUnderstand) {
    const std::vector<std::pair<std::string_view, Errc>> cases{
        {"(a", Errc::invalid},
        {"a)", Errc::invalid},
        {"[a", Errc::invalid},
        {"*a", Errc::invalid},
        {"a\\", Errc::invalid},
        {"[b-a]", Errc::invalid},
        {"a{x}", Errc::invalid},
        {"a{3,2}", Errc::invalid},
        {"(?=a)", Errc::unsupported},
        {R"((a)\1)", Errc::unsupported},
        {R"(\b)", Errc::unsupported},
        {"a{1001}", Errc::too_large},
        {"((a{900}){900}){900}", Errc::too_large},
        {"[äö]", Errc::unsupported},
    };
    for (const auto& [pattern, code] : cases) {
        const auto compiled = Pattern::compile(pattern);
        ASSERT_FALSE(compiled) << pattern;
        EXPECT_EQ(compiled.error().code, code) << pattern << ": " << compiled.error().text();
    }
}

TEST(Pattern, LongHostileTextCostsLinearTimeAndNoStack) {
    const auto pattern = Pattern::compile("^(a|aa)*([-a-z0-9]*[a-z0-9])?$");
    ASSERT_TRUE(pattern);
    EXPECT_FALSE(pattern->matches(std::string(3'000'000, 'a') + "!"));
}

TEST(PatternProperty, AgreesWithTheStandardLibrary) {
    const std::vector<std::string> patterns{"^(ab|a)*b?$", "^[ab]{1,3}c?(a|bc)+$", "^a?b*[^c]$", "^(a(b(c)?)?)*$"};
    EXPECT_TRUE(rc::check("same answer as std::regex", [&] {
        const std::string pattern = *rc::gen::elementOf(patterns);
        const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'));
        RC_ASSERT(Pattern::compile(pattern)->matches(text) == std::regex_match(text, std::regex(pattern)));
    }));
}

TEST(PatternProperty, CompilingNeverCrashes) {
    EXPECT_TRUE(rc::check("any text", [] {
        const auto text = *rc::gen::container<std::string>(rc::gen::element(
            'a', '(', ')', '[', ']', '*', '+', '?', '|', '{', '}', ',', '1', '\\', '^', '$', '-', ':'));
        const auto pattern = Pattern::compile(text);
        if (pattern) (void)pattern->matches("aaa");
    }));
}

}  // namespace
}  // namespace fairlead::resource
