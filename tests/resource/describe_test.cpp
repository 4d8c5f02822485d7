// Codec and schema from one description.
#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "sample.h"

namespace fairlead::resource::test {
namespace {

TEST(Describe, SchemaFollowsTheMembers) {
    const Schema& schema = schema_of<SampleSpec>();
    EXPECT_EQ(schema.type, Type::object);
    EXPECT_EQ(schema.type_name, "SampleSpec");
    ASSERT_NE(schema.find("ports"), nullptr);
    const Schema& ports = schema.find("ports")->schema;
    EXPECT_EQ(ports.type, Type::array);
    EXPECT_EQ(ports.items->type_name, "SamplePort");
    EXPECT_EQ(ports.doc, "Ports.");
    EXPECT_EQ(schema.find("replicas")->schema.format, "int32");
    EXPECT_EQ(schema.find("bandwidth")->schema.type, Type::quantity);
    EXPECT_EQ(schema.find("target")->schema.type, Type::int_or_string);
    EXPECT_EQ(schema.find("selector")->schema.type, Type::map);
    EXPECT_EQ(schema.find("nothing"), nullptr);
}

TEST(Describe, RulesAboutValuesOfAListConcernItsElements) {
    const Schema& zones = schema_of<SampleSpec>().find("zones")->schema;
    EXPECT_EQ(zones.max_items, 3u);
    EXPECT_FALSE(zones.max_length.has_value());
    EXPECT_EQ(zones.items->max_length, 8u);
}

TEST(Describe, BlankMembersAreLeftOut) {
    EXPECT_EQ(json::serialize(encode(Port{.number = 80, .protocol = "", .alias = {}})), R"({"number":80})");
    EXPECT_EQ(json::serialize(encode(Backend{})), R"({"service":""})") << "a required member stays";
}

TEST(Describe, MissingMembersKeepTheirInitialValue) {
    const auto spec = decode<SampleSpec>(parsed(R"({"host":"a","note":null})"));
    ASSERT_TRUE(spec) << spec.error().text();
    EXPECT_EQ(spec->replicas, 1);
    EXPECT_FALSE(spec->note.has_value());
}

struct BadCase {
    std::string_view name, json, field, part;
};
class DecodeRefuses : public testing::TestWithParam<BadCase> {};

TEST_P(DecodeRefuses, WithThePlace) {
    const auto spec = decode<SampleSpec>(parsed(GetParam().json));
    ASSERT_FALSE(spec);
    EXPECT_EQ(spec.error().field, GetParam().field);
    EXPECT_THAT(spec.error().message, testing::HasSubstr(std::string(GetParam().part)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, DecodeRefuses,
    testing::Values(BadCase{"NumberForText", R"({"host":3})", "host", "3 where string is expected"},
                    BadCase{"TooLargeForInt32", R"({"replicas":3000000000})", "replicas", "int32"},
                    BadCase{"FractionForInteger", R"({"serial":1.5})", "serial", "int64"},
                    BadCase{"InsideAList", R"({"ports":[{"number":1},{"number":"x"}]})", "ports[1].number", "int32"},
                    BadCase{"InsideAMap", R"({"named":{"a":{"service":true}}})", "named.a.service", "string"},
                    BadCase{"ListForAMap", R"({"selector":[]})", "selector", "object"},
                    BadCase{"BadQuantity", R"({"bandwidth":"10Zi"})", "bandwidth", "suffix"},
                    BadCase{"WholeValue", R"([])", "", "object"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(EncodeOnto, KeepsWhatWeDoNotModel) {
    json::Value object = parsed(R"({"apiVersion":"v9","metadata":{"name":"a","managedFields":[{"manager":"m"}]},
        "spec":{"host":"old","foreign":1,"fallback":{"service":"s","timeout":"3s"}},"other":{"x":1}})");
    auto sample = decode<Sample>(object);
    ASSERT_TRUE(sample) << sample.error().text();
    sample->spec.host = "new";
    sample->spec.fallback->weight = 7;
    encode_onto(*sample, object);
    EXPECT_EQ(json::string_at(object, "apiVersion"), "v9");
    EXPECT_EQ(json::string_at(object, "spec.host"), "new");
    EXPECT_EQ(json::int_at(object, "spec.foreign"), 1);
    EXPECT_EQ(json::string_at(object, "spec.fallback.timeout"), "3s");
    EXPECT_EQ(json::int_at(object, "spec.fallback.weight"), 7);
    EXPECT_EQ(json::int_at(object, "other.x"), 1);
    EXPECT_TRUE(json::find(object, "metadata.managedFields")->is_array());
}

TEST(EncodeOnto, RemovesMembersThatAreNowUnset) {
    json::Value object = parsed(R"({"host":"h","note":"n","zones":["a"]})");
    auto spec = decode<SampleSpec>(object);
    ASSERT_TRUE(spec);
    spec->note.reset();
    spec->zones.clear();
    encode_onto(*spec, object);
    EXPECT_EQ(json::find(object, "note"), nullptr);
    EXPECT_EQ(json::find(object, "zones"), nullptr);
}

TEST(EncodeOnto, UnknownMembersFollowTheirItemWhenOthersGo) {
    json::Value object = parsed(R"({"host":"h","backends":[{"service":"a","x":1},{"service":"b","x":2}]})");
    auto spec = decode<SampleSpec>(object);
    ASSERT_TRUE(spec);
    spec->backends.erase(spec->backends.begin());
    encode_onto(*spec, object);
    const json::Array& backends = json::find(object, "backends")->as_array();
    ASSERT_EQ(backends.size(), 1u);
    EXPECT_EQ(json::serialize(backends[0]), R"({"service":"b","x":2})");
}

TEST(EncodeOnto, ItemsOfKeyedListsAreFoundByKey) {
    json::Value object =
        parsed(R"({"host":"h","ports":[{"number":1,"protocol":"TCP","x":1},{"number":2,"protocol":"TCP","x":2}]})");
    auto spec = decode<SampleSpec>(object);
    ASSERT_TRUE(spec);
    std::swap(spec->ports[0], spec->ports[1]);
    spec->ports[0].alias = "two";
    encode_onto(*spec, object);
    const json::Array& ports = json::find(object, "ports")->as_array();
    EXPECT_EQ(json::int_at(ports[0], "x"), 2);
    EXPECT_EQ(json::string_at(ports[0], "alias"), "two");
    EXPECT_EQ(json::int_at(ports[1], "x"), 1);
}

// Any value of the described struct.
rc::Gen<std::string> any_text() { return rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '~')); }

template <class T>
rc::Gen<std::optional<T>> any_optional() {
    return rc::gen::map(rc::gen::arbitrary<std::pair<bool, T>>(), [](const std::pair<bool, T>& one) {
        return one.first ? std::optional<T>(one.second) : std::nullopt;
    });
}

rc::Gen<Backend> any_backend() {
    return rc::gen::build<Backend>(rc::gen::set(&Backend::service, any_text()),
                                   rc::gen::set(&Backend::weight, any_optional<std::int64_t>()));
}

rc::Gen<Port> any_port() {
    return rc::gen::build<Port>(rc::gen::set(&Port::number), rc::gen::set(&Port::protocol, any_text()),
                                rc::gen::set(&Port::alias, rc::gen::just(std::optional<std::string>("x"))));
}

rc::Gen<Quantity> any_quantity() {
    return rc::gen::map(rc::gen::arbitrary<std::int32_t>(),
                        [](std::int32_t n) { return Quantity::parse(std::to_string(n) + "Mi").value(); });
}

SampleSpec any_spec() {
    SampleSpec spec;
    spec.host = *any_text();
    spec.enabled = *rc::gen::arbitrary<bool>();
    spec.replicas = *rc::gen::arbitrary<std::int32_t>();
    spec.serial = *rc::gen::arbitrary<std::int64_t>();
    spec.ratio = *rc::gen::arbitrary<double>();
    spec.bandwidth = *any_quantity();
    spec.extra = *rc::gen::element<json::Value>(nullptr, 1, "x", json::Object(), json::Array());
    spec.note = *rc::gen::arbitrary<bool>() ? std::optional(*any_text()) : std::nullopt;
    spec.drained = *any_optional<bool>();
    spec.zones = *rc::gen::container<std::vector<std::string>>(any_text());
    spec.ports = *rc::gen::container<std::vector<Port>>(any_port());
    spec.backends = *rc::gen::container<std::vector<Backend>>(any_backend());
    spec.selector = *rc::gen::container<std::map<std::string, std::string>>(any_text(), any_text());
    spec.named = *rc::gen::container<std::map<std::string, Backend>>(any_text(), any_backend());
    if (*rc::gen::arbitrary<bool>()) spec.fallback = *any_backend();
    return spec;
}

TEST(DescribeProperty, DecodingWhatWasEncodedGivesTheSame) {
    EXPECT_TRUE(rc::check("decode(encode(x)) == x, also through text", [] {
        const SampleSpec spec = any_spec();
        const auto direct = decode<SampleSpec>(encode(spec));
        RC_ASSERT(direct.has_value());
        RC_ASSERT(*direct == spec);
        const auto text = json::parse(json::serialize(encode(spec)));
        RC_ASSERT(text.has_value());
        const auto through_text = decode<SampleSpec>(*text);
        RC_ASSERT(through_text.has_value());
        RC_ASSERT(*through_text == spec);
    }));
}

TEST(DescribeProperty, EncodeOntoKeepsUnknownMembersAndWritesAllKnownOnes) {
    EXPECT_TRUE(rc::check("encode_onto", [] {
        const SampleSpec before = any_spec();
        const SampleSpec after = any_spec();
        json::Value base = encode(before);
        base.as_object()["unknownMember"] = "kept";
        if (before.fallback) base.as_object()["fallback"].as_object()["unknownToo"] = 1;
        encode_onto(after, base);
        const auto read = decode<SampleSpec>(base);
        RC_ASSERT(read.has_value());
        RC_ASSERT(*read == after);
        RC_ASSERT(json::string_at(base, "unknownMember") == "kept");
        if (before.fallback && after.fallback) RC_ASSERT(json::int_at(base, "fallback.unknownToo") == 1);
    }));
}

}  // namespace
}  // namespace fairlead::resource::test
