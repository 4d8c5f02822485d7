#include "json/yaml.h"

#include <gtest/gtest.h>

#include "generators.h"

namespace fairlead::json {
namespace {

struct ReadRow {
    const char* name;
    std::string yaml, json;
};
class ReadYaml : public testing::TestWithParam<ReadRow> {};
TEST_P(ReadYaml, AsKubectlDoes) {
    const auto documents = parse_yaml(GetParam().yaml);
    ASSERT_TRUE(documents) << documents.error().text();
    ASSERT_EQ(documents->size(), 1U);
    EXPECT_EQ(serialize(documents->front().value), GetParam().json);
}
INSTANTIATE_TEST_SUITE_P(
    Scalars, ReadYaml,
    testing::Values(ReadRow{"booleans_1_1", "[y, Y, yes, Yes, YES, true, True, TRUE, on, On, ON]",
                            "[true,true,true,true,true,true,true,true,true,true,true]"},
                    ReadRow{"false_1_1", "[n, N, no, No, NO, false, False, FALSE, off, Off, OFF]",
                            "[false,false,false,false,false,false,false,false,false,false,false]"},
                    ReadRow{"odd_case_is_text", "[yEs, tRue, oN, nULL]", R"(["yEs","tRue","oN","nULL"])"},
                    ReadRow{"nulls", "[~, null, Null, NULL, ]", "[null,null,null,null]"},
                    ReadRow{"empty_value", "a:\nb: 1", R"({"a":null,"b":1})"},
                    ReadRow{"integers", "[0, 12, -3, +4, 1_000]", "[0,12,-3,4,1000]"},
                    ReadRow{"octal_hex_binary", "[0777, 0o17, 0x1F, -0x1f, 0b101]", "[511,15,31,-31,5]"},
                    ReadRow{"not_octal", "[08, 09]", "[8,9]"},
                    ReadRow{"int_edges", "[9223372036854775807, -9223372036854775808, 18446744073709551615]",
                            "[9223372036854775807,-9223372036854775808,18446744073709551615]"},
                    ReadRow{"beyond_uint64", "123456789012345678901234567890", "1.2345678901234568e+29"},
                    ReadRow{"floats", "[1.5, .5, -2.5e3, 1e3, +0.25]", "[1.5,0.5,-2500,1000,0.25]"},
                    ReadRow{"whole_float_is_an_integer", "1.0", "1"},
                    ReadRow{"overflow_is_text", "1e999", R"("1e999")"},
                    ReadRow{"not_numbers", "[0x, 1.2.3, -, +, ., 1e, _1, 0xg]",
                            R"(["0x","1.2.3","-","+",".","1e","_1","0xg"])"},
                    ReadRow{"dates_are_text", "[2026-03-01, 2026-03-01T12:00:00Z, 12:30:45]",
                            R"(["2026-03-01","2026-03-01T12:00:00Z","12:30:45"])"},
                    ReadRow{"quoted_is_text", R"(['yes', "12", 'null', "", '~'])", R"(["yes","12","null","","~"])"},
                    ReadRow{"tags", "[!!str 12, !!int '12', !!float 1.5, !!bool 'yes', !!null '', ! 3]",
                            R"(["12",12,1.5,true,null,"3"])"},
                    ReadRow{"literal_block", "a: |\n  one\n  two\n", R"({"a":"one\ntwo\n"})"},
                    ReadRow{"folded_block", "a: >-\n  one\n  two\n", R"({"a":"one two"})"},
                    ReadRow{"block_is_text", "a: |-\n  12\n", R"({"a":"12"})"}),
    [](const auto& row) { return row.param.name; });
INSTANTIATE_TEST_SUITE_P(
    Structure, ReadYaml,
    testing::Values(
        ReadRow{"order_is_kept", "b: 1\na: 2", R"({"b":1,"a":2})"},
        ReadRow{"keys_become_text", "1: a\ntrue: b\n1.5: c\n0x10: d", R"({"1":"a","true":"b","1.5":"c","16":"d"})"},
        ReadRow{"list_below_key", "a:\n- 1\n- b: 2\n  c: 3", R"({"a":[1,{"b":2,"c":3}]})"},
        ReadRow{"json_is_yaml", R"({"a":[1,"x",null]})", R"({"a":[1,"x",null]})"},
        ReadRow{"json_surrogates", R"({"a":"\ud83d\ude00"})", "{\"a\":\"\xf0\x9f\x98\x80\"}"},
        ReadRow{"json_tabs", "{\n\t\"a\": [\n\t\t1\n\t]\n}", R"({"a":[1]})"},
        ReadRow{"json_long_key", "{\"" + std::string(2000, 'k') + "\": 1}", "{\"" + std::string(2000, 'k') + "\":1}"},
        ReadRow{"alias", "a: &x {b: 1}\nc: *x", R"({"a":{"b":1},"c":{"b":1}})"},
        ReadRow{"alias_as_key", "a: &x k\n*x : 1", R"({"a":"k","k":1})"},
        ReadRow{"anchor_redefined", "[&x 1, *x, &x 2, *x]", "[1,1,2,2]"},
        ReadRow{"merge", "a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}", R"({"a":{"p":1,"q":2},"b":{"q":3,"p":1}})"},
        ReadRow{"merge_list_first_wins", "b: {<<: [{p: 1}, {p: 2, q: 2}]}", R"({"b":{"p":1,"q":2}})"},
        ReadRow{"quoted_merge_is_a_key", "{'<<': 1}", R"({"<<":1})"},
        ReadRow{"version_directive", "%YAML 1.1\n---\na: 1", R"({"a":1})"},
        ReadRow{"comments", "# one\na: 1 # two\n# three", R"({"a":1})"},
        ReadRow{"byte_order_mark",
                "\xef\xbb\xbf"
                "a: 1",
                R"({"a":1})"}),
    [](const auto& row) { return row.param.name; });

struct RefuseRow {
    const char* name;
    std::string yaml, message;
    Errc code = Errc::invalid;
};
class RefuseYaml : public testing::TestWithParam<RefuseRow> {};
TEST_P(RefuseYaml, SaysWhereAndWhy) {
    const auto documents = parse_yaml(GetParam().yaml);
    ASSERT_FALSE(documents);
    EXPECT_EQ(documents.error().message, GetParam().message);
    EXPECT_EQ(documents.error().code, GetParam().code);
}
std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}
std::string billion_laughs() {
    std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 9; ++i)
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
                repeated("*a" + std::to_string(i - 1) + " ,", 10) + "]\n";
    return text;
}
INSTANTIATE_TEST_SUITE_P(
    Yaml, RefuseYaml,
    testing::Values(
        RefuseRow{"duplicate_key", "a: 1\nb: 2\na: 3",
                  "invalid YAML at line 3 column 1: key \"a\" is already set in this map"},
        RefuseRow{"duplicate_in_json", "{\"a\": 1,\n \"a\": 2}",
                  "invalid YAML at line 2 column 2: key \"a\" is already set in this map"},
        RefuseRow{"keys_equal_as_text", "1: a\n'1': b",
                  "invalid YAML at line 2 column 1: key \"1\" is already set in this map"},
        RefuseRow{"infinity", "a: .inf", "invalid YAML at line 1 column 4: .inf is no JSON number"},
        RefuseRow{"not_a_number", "a: .NaN", "invalid YAML at line 1 column 4: .NaN is no JSON number"},
        RefuseRow{"custom_tag", "a: !ruby/object {}",
                  "invalid YAML at line 1 column 4: tag !ruby/object is not supported here"},
        RefuseRow{"custom_scalar_tag", "a: !env HOME", "invalid YAML at line 1 column 4: cannot read \"HOME\" as !env"},
        RefuseRow{"wrong_int", "a: !!int x",
                  "invalid YAML at line 1 column 4: cannot read \"x\" as tag:yaml.org,2002:int"},
        RefuseRow{"null_key", "~: 1", "invalid YAML at line 1 column 1: a key must be a string, a number or a boolean"},
        RefuseRow{"list_key", "? [a]\n: 1",
                  "invalid YAML at line 1 column 3: a key must be a string, a number or a boolean"},
        RefuseRow{"unknown_anchor", "a: *x",
                  "invalid YAML at line 1 column 4: unknown anchor 'x' (it must stand before, and not contain itself)"},
        RefuseRow{"anchor_in_itself", "a: &x [*x]",
                  "invalid YAML at line 1 column 8: unknown anchor 'x' (it must stand before, and not contain itself)"},
        RefuseRow{"anchors_end_with_document", "a: &x 1\n---\nb: *x",
                  "invalid YAML at line 3 column 4: unknown anchor 'x' (it must stand before, and not contain itself)"},
        RefuseRow{"merge_of_scalar", "<<: 1", "invalid YAML at line 1 column 1: << takes a map or a list of maps"},
        RefuseRow{"bad_indent", "a:\n  b: 1\n c: 2",
                  "invalid YAML at line 3 column 2: while parsing a block mapping, did not find expected key"},
        RefuseRow{"tab_indent", "a:\n\tb: 1",
                  "invalid YAML at line 2 column 1: while scanning for the next token, found character that cannot "
                  "start any token"},
        RefuseRow{"invalid_utf8", "a: \xff", "invalid YAML at byte 3: invalid leading UTF-8 octet"},
        RefuseRow{"too_deep", repeated("[", 65), "invalid YAML at line 1 column 65: nested deeper than 64"},
        RefuseRow{"too_deep_by_alias", "a: &x [[[[]]]]\nb: " + repeated("[", 60) + "*x" + repeated("]", 60),
                  "invalid YAML at line 2 column 64: nested deeper than 64"},
        RefuseRow{"billion_laughs", billion_laughs(),
                  "invalid YAML at line 6 column 25: more than 500000 values (aliases count)", Errc::too_large},
        RefuseRow{"long_text_by_alias", "a: &x " + std::string(100'000, 'x') + "\nb: [" + repeated("*x ,", 40) + "]",
                  "invalid YAML at line 2 column 129: aliases expand to more than 3145728 bytes", Errc::too_large}),
    [](const auto& row) { return row.param.name; });

TEST(YamlLimit, Size) {
    const auto documents = parse_yaml(std::string(11, 'x'), {.max_bytes = 10, .max_nodes = 10});
    ASSERT_FALSE(documents);
    EXPECT_EQ(documents.error().code, Errc::too_large);
}
TEST(YamlLimit, Nodes) {
    EXPECT_TRUE(parse_yaml("[1,2,3]", {.max_bytes = 100, .max_nodes = 4}));
    EXPECT_FALSE(parse_yaml("[1,2,3,4]", {.max_bytes = 100, .max_nodes = 4}));
}
// 100,000 children below a 1 MB key must not record 100 GB of paths.
TEST(YamlLimit, PathsOfLongKeys) {
    const auto text = "? " + std::string(1'000'000, 'k') + "\n: [" + repeated("1,", 100'000) + "]";
    const auto documents = parse_yaml(text);
    ASSERT_TRUE(documents) << documents.error().text();
    EXPECT_TRUE(documents->front().lines.empty());
}

TEST(YamlDocuments, SeveralWithLinesAndWithoutEmptyOnes) {
    const auto documents = parse_yaml(
        "# head\n---\nkind: A\n---\n# nothing\n---\nkind: B\nspec:\n  endpoints:\n  - dnsName: x\n  - dnsName: y\n    "
        "ttl: 60\n...\n");
    ASSERT_TRUE(documents) << documents.error().text();
    ASSERT_EQ(documents->size(), 2U);
    EXPECT_EQ((*documents)[0].line, 3U);
    EXPECT_EQ((*documents)[1].line, 7U);
    const auto& second = (*documents)[1];
    EXPECT_EQ(second.line_of("spec"), 9U);  // a value that is a map starts on the line below its key
    EXPECT_EQ(second.line_of("spec.endpoints[1].ttl"), 12U);
    EXPECT_EQ(second.line_of("spec.endpoints[1].missing.deeper"), 11U);
    EXPECT_EQ(second.line_of("spec.endpoints[7]"), 10U);
    EXPECT_EQ(second.line_of("unknown"), 7U);
    EXPECT_EQ(second.line_of(""), 7U);
}
TEST(YamlDocuments, EmptyTextHasNone) {
    const auto documents = parse_yaml("");
    ASSERT_TRUE(documents);
    EXPECT_TRUE(documents->empty());
}

struct WriteRow {
    const char* name;
    std::string json, yaml;
};
class WriteYaml : public testing::TestWithParam<WriteRow> {};
TEST_P(WriteYaml, AsKubectlDoes) {
    const auto value = parse(GetParam().json);
    ASSERT_TRUE(value);
    EXPECT_EQ(to_yaml(*value), GetParam().yaml);
    const auto back = parse_yaml(GetParam().yaml);
    ASSERT_TRUE(back) << back.error().text();
    if (value->is_null()) return;
    EXPECT_TRUE(equal(back->at(0).value, *value)) << serialize(back->at(0).value);
}
INSTANTIATE_TEST_SUITE_P(
    Yaml, WriteYaml,
    testing::Values(
        WriteRow{"object",
                 R"({"kind":"Route","metadata":{"name":"shop","labels":{}},"spec":{"ports":[80,443],"tls":null}})",
                 "kind: Route\nmetadata:\n  name: shop\n  labels: {}\nspec:\n  ports:\n  - 80\n  - 443\n  tls: null\n"},
        WriteRow{"list_of_maps", R"({"a":[{"b":1,"c":[2]},[3,[4]],[]]})",
                 "a:\n- b: 1\n  c:\n  - 2\n- - 3\n  - - 4\n- []\n"},
        WriteRow{"root_list", R"([1,{"a":2}])", "- 1\n- a: 2\n"}, WriteRow{"root_text", R"("x")", "x\n"},
        WriteRow{"root_empty", "{}", "{}\n"}, WriteRow{"null", "null", "null\n"},
        WriteRow{"type_quotes", R"(["true","no","12","1.5","","~","0x1","2026-03-01T12:00:00Z","12:30"])",
                 "- \"true\"\n- \"no\"\n- \"12\"\n- \"1.5\"\n- \"\"\n- \"~\"\n- \"0x1\"\n- \"2026-03-01T12:00:00Z\"\n- "
                 "\"12:30\"\n"},
        WriteRow{"syntax_quotes", R"(["a: b","# x","- y","*","it's",": c","x:"," lead","{a}","---"])",
                 "- 'a: b'\n- '# x'\n- '- y'\n- '*'\n- it's\n- ': c'\n- 'x:'\n- ' lead'\n- '{a}'\n- '---'\n"},
        WriteRow{"plain", R"(["a.b/c","-x","http://a","a#b","1.2.3","v1,v2","10.0.0.1/8"])",
                 "- a.b/c\n- -x\n- http://a\n- a#b\n- 1.2.3\n- v1,v2\n- 10.0.0.1/8\n"},
        WriteRow{"block_one_end", R"({"a":"one\ntwo\n"})", "a: |\n  one\n  two\n"},
        WriteRow{"block_no_end", R"({"a":"one\n\ntwo"})", "a: |-\n  one\n\n  two\n"},
        WriteRow{"block_more_ends", R"({"a":"one\n\n","b":1})", "a: |+\n  one\n\nb: 1\n"},
        WriteRow{"block_in_list", R"([{"a":"x\ny"}])", "- a: |-\n    x\n    y\n"},
        WriteRow{"no_block_for_lead", R"({"a":" x\ny"})", "a: \" x\\ny\"\n"},
        WriteRow{"control", R"({"a":"\u0001\t\u2028"})", "a: \"\\x01\\t\\u2028\"\n"},
        WriteRow{"keys", R"({"yes":1,"a b":2,"a: b":3,"":4,"<<":5})",
                 "\"yes\": 1\na b: 2\n'a: b': 3\n\"\": 4\n\"<<\": 5\n"}),
    [](const auto& row) { return row.param.name; });

TEST(YamlProperty, ReadOfWriteIsTheSame) {
    EXPECT_TRUE(rc::check("to_yaml and back", [] {
        const auto value = *any_value(4);
        const auto text = to_yaml(value);
        const auto back = parse_yaml(text);
        if (!back) RC_FAIL(back.error().text() + "\n" + text);
        if (value.is_null()) return;
        RC_ASSERT(back->size() == 1U);
        if (!equal(back->front().value, value))
            RC_FAIL(serialize(value) + "\n" + text + serialize(back->front().value));
    }));
}
TEST(YamlProperty, LongKeysToo) {
    Value value = Object{
        {std::string(1500, 'k'), Object{{std::string(1100, ' '), Array{1, Object{{std::string(2000, '\n'), 2}}}}}}};
    const auto back = parse_yaml(to_yaml(value));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_TRUE(equal(back->front().value, value));
}
// Whatever JSON we write, the YAML reader takes it too (API bodies may say either).
TEST(YamlProperty, ReadsOurJson) {
    EXPECT_TRUE(rc::check("serialize and parse_yaml", [] {
        const auto value = *any_value(3);
        RC_PRE(!value.is_null());
        const auto back = parse_yaml(serialize(Array{value}));
        if (!back) RC_FAIL(back.error().text() + "\n" + serialize(value));
        RC_ASSERT(equal(back->front().value, Array{value}));
    }));
}

}  // namespace
}  // namespace fairlead::json
