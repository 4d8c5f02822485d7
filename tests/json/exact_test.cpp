// Texts as they were written: members, the last of repeated ones, tokens that stay as they are.
#include "json/exact.h"

#include <gtest/gtest.h>

#include "generators.h"

namespace fairlead::json {
namespace {

struct CompactCase {
    std::string name, text, compact;
};

class Compact : public testing::TestWithParam<CompactCase> {};

TEST_P(Compact, KeepsTokens) { EXPECT_EQ(compact(GetParam().text), GetParam().compact); }

INSTANTIATE_TEST_SUITE_P(Texts, Compact,
                         testing::ValuesIn(std::vector<CompactCase>{
                             {"Numbers", "[ 1.0 , 1e3,\t-0 ,12345678901234567890123 ]",
                              "[1.0,1e3,-0,12345678901234567890123]"},
                             {"RepeatedMembers", R"({ "a" : 1, "a":2 })", R"({"a":1,"a":2})"},
                             {"SpaceInsideStrings", R"( " a { b \" , c " )", R"(" a { b \" , c ")"},
                             {"Escapes", R"(["\u0041","\/","\\"])", R"(["\u0041","\/","\\"])"},
                             {"Literals", "[ true , false,null ]", "[true,false,null]"},
                             {"Empty", "{ }", "{}"},
                             {"Scalar", "  7\n", "7"},
                         }),
                         [](const auto& one) { return one.param.name; });

TEST(TextMembers, InTheOrderOfTheText) {
    const std::string text = R"( {"b":[1,{"x":"}"}] , "a\u0062" : "t,x" ,"b": {"c":{}} } )";
    const auto members = text_members(text);
    ASSERT_EQ(members.size(), 3U);
    EXPECT_EQ(members[0].name, "b");
    EXPECT_EQ(members[0].text, R"([1,{"x":"}"}])");
    EXPECT_EQ(members[1].name, "ab");
    EXPECT_EQ(members[1].text, R"("t,x")");
    EXPECT_EQ(members[2].text, R"({"c":{}})");
    EXPECT_EQ(text_at(text, "b"), R"({"c":{}})") << "the last one counts";
    EXPECT_EQ(text_at(text, "z"), "");
    EXPECT_TRUE(text_members("[1]").empty());
    EXPECT_TRUE(text_members("{}").empty());
}

// What does not parse must not make it read outside, nor go on for ever.
TEST(TextMembers, EndsOnAnyText) {
    for (const std::string_view text :
         {"{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":[", "{\"a\\", "", "}", "{,", "{\"a\":1,"}) {
        (void)text_members(text);
        (void)compact(text);
    }
}

TEST(CompactText, IsWhatSerializeWrites) {
    EXPECT_TRUE(rc::check("compact(pretty(v)) is serialize(v)", [] {
        const auto value = *any_value(3);
        RC_ASSERT(compact(pretty(value)) == serialize(value));
    }));
}

TEST(DropNulls, AtEveryDepthInOrder) {
    auto value = *parse(R"({"a":null,"b":[{"c":null,"d":1},null],"e":{"f":null}})");
    drop_nulls(value);
    EXPECT_EQ(serialize(value), R"({"b":[{"d":1},null],"e":{}})");
}

}  // namespace
}  // namespace fairlead::json
