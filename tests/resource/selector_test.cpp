// Label and field selectors: grammar, errors, matching.
#include "resource/selector.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <set>

#include "sample.h"

namespace fairlead::resource::test {
namespace {

json::Value labelled(std::string_view labels) {
    return parsed(R"({"metadata":{"name":"n","namespace":"s","labels":)" + std::string(labels) + "}}");
}

struct Case {
    std::string name, selector, labels;
    bool matches = false;
};
class LabelsMatch : public testing::TestWithParam<Case> {};

TEST_P(LabelsMatch, AsKubernetesHasIt) {
    const auto selector = Selector::parse_labels(GetParam().selector);
    ASSERT_TRUE(selector) << selector.error().text();
    const auto object = labelled(GetParam().labels);
    EXPECT_EQ(selector->matches_labels(object), GetParam().matches);
    EXPECT_EQ(selector->matches_labels(selectable_of(object, sample_kind()).labels), GetParam().matches);
}

INSTANTIATE_TEST_SUITE_P(
    Table, LabelsMatch,
    testing::Values(
        Case{"EmptyMatchesAll", "", R"({})", true}, Case{"Equals", "a=b", R"({"a":"b"})", true},
        Case{"DoubleEquals", "a==b", R"({"a":"b"})", true}, Case{"EqualsOther", "a=b", R"({"a":"c"})", false},
        Case{"EqualsAbsent", "a=b", R"({})", false}, Case{"NotEquals", "a!=b", R"({"a":"c"})", true},
        Case{"NotEqualsAbsent", "a!=b", R"({})", true}, Case{"NotEqualsSame", "a!=b", R"({"a":"b"})", false},
        Case{"In", "a in (x,y)", R"({"a":"y"})", true}, Case{"InSpaces", " a  in ( x , y ) ", R"({"a":"y"})", true},
        Case{"InOther", "a in (x,y)", R"({"a":"z"})", false}, Case{"InAbsent", "a in (x,y)", R"({})", false},
        Case{"InWithEmpty", "a in (x,)", R"({"a":""})", true}, Case{"NotIn", "a notin (x,y)", R"({"a":"z"})", true},
        Case{"NotInAbsent", "a notin (x,y)", R"({})", true}, Case{"NotInSame", "a notin (x,y)", R"({"a":"x"})", false},
        Case{"Exists", "a", R"({"a":""})", true}, Case{"ExistsAbsent", "a", R"({"b":""})", false},
        Case{"NotExists", "!a", R"({"b":""})", true}, Case{"NotExistsSpace", "! a", R"({"a":""})", false},
        Case{"Greater", "a>3", R"({"a":"4"})", true}, Case{"GreaterSame", "a>3", R"({"a":"3"})", false},
        Case{"GreaterText", "a>3", R"({"a":"x"})", false}, Case{"GreaterAbsent", "a>3", R"({})", false},
        Case{"Less", "a < 3", R"({"a":"-2"})", true}, Case{"EmptyValue", "a=", R"({"a":""})", true},
        Case{"EmptyValueThenMore", "a=,b=1", R"({"a":"","b":"1"})", true},
        Case{"AllMustHold", "a=1,b=2", R"({"a":"1","b":"3"})", false},
        Case{"Prefix", "example.com/a=1", R"({"example.com/a":"1"})", true},
        Case{"KeywordAsKey", "in=1,notin", R"({"in":"1","notin":""})", true},
        Case{"KeywordAsValue", "a in (in,notin)", R"({"a":"in"})", true},
        Case{"NotEqualsEmpty", "a!=", R"({"a":"x"})", true}),
    [](const auto& row) { return row.param.name; });

TEST(LabelSelectorText, ErrorsAreWordedAsKubernetesDoes) {
    const std::vector<std::pair<std::string_view, std::string_view>> cases{
        {"a in", "unable to parse requirement: found '', expected: '('"},
        {"a in x", "unable to parse requirement: found 'x', expected: '('"},
        {"a in (x", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
        {"a in ()", "values set can't be empty"},
        {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
        {"a=b c", "found 'c', expected: ',' or 'end of string'"},
        {"a,", "found '', expected: identifier after ','"},
        {",a", "found ',', expected: !, identifier, or 'end of string'"},
        {"=a", "found '=', expected: !, identifier, or 'end of string'"},
        {"!", "unable to parse requirement: found '', expected: identifier"},
        {"a==!b", "unable to parse requirement: found '!', expected: identifier"},
        {"a>x", "for 'Gt', 'Lt' operators, the value must be an integer"},
        {"-a=b", "name part must consist of alphanumeric characters"},
        {"a=-b", "a valid label must be an empty string or consist of alphanumeric characters"},
        {"a/b/c=d", "a qualified name must consist of"},
    };
    for (const auto& [text, part] : cases) {
        const auto selector = Selector::parse_labels(text);
        ASSERT_FALSE(selector) << text;
        EXPECT_THAT(selector.error().message, testing::HasSubstr(std::string(part))) << text;
        EXPECT_EQ(selector.error().code, Errc::invalid);
    }
    std::string long_text = "a0";
    for (int i = 1; i < 1000; ++i) long_text += ",a" + std::to_string(i);
    EXPECT_EQ(Selector::parse_labels(long_text).error().code, Errc::too_large);
}

TEST(LabelSelectorStruct, BecomesRequirements) {
    LabelSelector selector;
    selector.match_labels = {{"a", "1"}};
    selector.match_expressions = {
        {"b", "In", {"y", "x"}}, {"c", "NotIn", {"z"}}, {"d", "Exists", {}}, {"e", "DoesNotExist", {}}};
    const auto made = Selector::from(selector);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->text(), "a=1,b in (x,y),c notin (z),d,!e");
    EXPECT_TRUE(made->matches_labels(labelled(R"({"a":"1","b":"x","d":""})")));
    EXPECT_FALSE(made->matches_labels(labelled(R"({"a":"1","b":"x","d":"","e":""})")));
    EXPECT_TRUE(Selector::from(LabelSelector{})->matches_labels(labelled("{}")));

    LabelSelector bad;
    bad.match_expressions = {{"b", "Near", {}}};
    EXPECT_EQ(Selector::from(bad).error().message, R"("Near" is not a valid label selector operator)");
    bad.match_expressions = {{"b", "In", {}}};
    EXPECT_FALSE(Selector::from(bad));
    bad.match_expressions = {{"b", "Exists", {"x"}}};
    EXPECT_FALSE(Selector::from(bad));
}

TEST(FieldSelector, MatchesDeclaredFieldsOnly) {
    const Kind kind = sample_kind();
    const json::Value object = parsed(
        R"({"metadata":{"name":"r1","namespace":"d"},"spec":{"host":"a,b","replicas":3,"note":"x"},"status":{}})");
    const std::vector<std::pair<std::string, bool>> cases{
        {"", true},
        {"metadata.name=r1", true},
        {"metadata.name==r1,metadata.namespace=d", true},
        {"metadata.name!=r1", false},
        {"metadata.name=r2", false},
        {R"(spec.host=a\,b)", true},
        {"spec.replicas=3", true},
        {"status.phase=", true},
        {"status.phase!=new", true},
        {"status.phase=new", false},
        {",metadata.name=r1,", true},
    };
    for (const auto& [text, expected] : cases) {
        const auto selector = Selector::parse_fields(text, kind);
        ASSERT_TRUE(selector) << text << ": " << selector.error().text();
        EXPECT_EQ(selector->matches_fields(object), expected) << text;
        EXPECT_EQ(selector->matches_fields(selectable_of(object, kind).fields), expected) << text << ", read before";
    }
    EXPECT_EQ(Selector::parse_fields("spec.note=x", kind).error().message, "field label not supported: spec.note");
    EXPECT_FALSE(Selector::parse_fields("metadata.name", kind));
    EXPECT_FALSE(Selector::parse_fields("metadata.name!r1", kind));
    EXPECT_FALSE(Selector::parse_fields(R"(metadata.name=a\x)", kind));
}

TEST(FieldSelector, SaysWhenOneNameIsAskedFor) {
    const auto one = Selector::parse_fields("metadata.name=r1,status.phase!=x", sample_kind());
    EXPECT_EQ(one->pinned("metadata.name"), "r1");
    EXPECT_EQ(one->pinned("status.phase"), std::nullopt);
}

TEST(SelectorProperty, ParsingNeverCrashesAndItsTextSaysTheSame) {
    EXPECT_TRUE(rc::check("any text", [] {
        const auto text = *rc::gen::container<std::string>(
            rc::gen::element('a', 'b', '=', '!', ',', '(', ')', ' ', '<', '>', '1', 'i', 'n', '/', '.'));
        const auto selector = Selector::parse_labels(text);
        if (!selector) return;
        const auto again = Selector::parse_labels(selector->text());
        RC_ASSERT(again.has_value());
        RC_ASSERT(again->requirements() == selector->requirements());
    }));
}

TEST(SelectorProperty, RequirementsRoundTrip) {
    EXPECT_TRUE(rc::check("text of a made selector parses back", [] {
        LabelSelector made;
        const auto word = rc::gen::element<std::string>("a", "b1", "C-d", "x.y/z", "in", "notin");
        const auto value = rc::gen::element<std::string>("", "1", "v_w", "in", "a.b");
        for (const auto& [key, label] :
             *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(rc::gen::pair(word, value))) {
            made.match_labels[key] = label;
        }
        const auto count = *rc::gen::inRange(0, 4);
        for (int i = 0; i < count; ++i) {
            LabelSelectorRequirement one;
            one.key = *word;
            one.op = *rc::gen::element<std::string>("In", "NotIn", "Exists", "DoesNotExist");
            if (one.op == "In" || one.op == "NotIn") {
                const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(value));
                const std::set<std::string> distinct(values.begin(), values.end());
                one.values.assign(distinct.begin(), distinct.end());
                // "(" followed by ")" is an empty list, so the list of one empty string has no text of its own.
                RC_PRE(one.values != std::vector<std::string>{""});
            }
            made.match_expressions.push_back(one);
        }
        const auto selector = Selector::from(made);
        RC_ASSERT(selector.has_value());
        const auto again = Selector::parse_labels(selector->text());
        RC_ASSERT(again.has_value());
        RC_ASSERT(again->requirements() == selector->requirements());
    }));
}

}  // namespace
}  // namespace fairlead::resource::test
