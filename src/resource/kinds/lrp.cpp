#include "resource/kinds/lrp.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "json/exact.h"
#include "json/quote.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

// With ".2147483647.evacuating" behind it a name stays below the 253 bytes of a subdomain.
constexpr std::size_t max_plain_name = 200;
constexpr std::size_t max_kept_prefix = 180;
constexpr std::size_t hash_digits = 16;

bool name_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_plain_name(std::string_view text) {
    return !text.empty() && text.size() <= max_plain_name && name_character(text.front()) &&
           name_character(text.back()) &&
           std::all_of(text.begin(), text.end(), [](char c) { return name_character(c) || c == '-'; });
}

const json::Object* spec_of(const json::Value& object) {
    const auto* spec = json::find(object, "spec");
    return spec != nullptr ? spec->if_object() : nullptr;
}

std::string text_of_routes(const json::Object& spec) {
    const auto* routes = spec.if_contains("routes");
    return routes != nullptr ? json::serialize(*routes) : std::string();
}

bool same_spec(const json::Object& a, const json::Object& b) {
    json::Value left = a;
    json::Value right = b;
    json::erase_at(left, "modification_tag");
    json::erase_at(right, "modification_tag");
    return json::equal(left, right) && text_of_routes(a) == text_of_routes(b);
}

bool same_labels(const json::Value& a, const json::Value& b) {
    const auto* left = json::find(a, "metadata.labels");
    const auto* right = json::find(b, "metadata.labels");
    if (left == nullptr || right == nullptr) return left == right;
    return json::equal(*left, *right);
}

// What the API keeps of a value: members that are null are as good as absent.
std::string kept_text(std::string_view text) {
    auto value = json::parse(text);
    if (!value) return {};
    json::drop_nulls(*value);
    return json::serialize(*value);
}

// Whether two values say the same to whoever reads JSON: 1.0 is 1, and the order of members says nothing. Clients that
// read an object and write it back change that much.
bool say_the_same(const json::Value& a, const json::Value& b) {
    if (a.is_number() && b.is_number() && a.is_double() != b.is_double()) {
        const auto number = a.to_number<double>();
        return number == b.to_number<double>() && std::abs(number) < 0x1p53;  // beyond, several integers are one double
    }
    if (a.is_double() && b.is_double()) {
        // Reading what was written may end at the next double.
        return std::abs(a.get_double() - b.get_double()) <= std::abs(a.get_double()) * 1e-15;
    }
    if (a.is_array() && b.is_array()) {
        const auto& of_a = a.get_array();
        const auto& of_b = b.get_array();
        return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), say_the_same);
    }
    if (a.is_object() && b.is_object()) {
        const auto& of_b = b.get_object();
        return a.get_object().size() == of_b.size() &&
               std::all_of(a.get_object().begin(), a.get_object().end(), [&](const auto& member) {
                   const auto* other = of_b.if_contains(member.key());
                   return other != nullptr && say_the_same(member.value(), *other);
               });
    }
    return a == b;
}

// 1.0 comes back as 1 from clients that know one kind of number.
bool has_whole_fraction(const json::Value& value) {
    if (value.is_double()) return std::trunc(value.get_double()) == value.get_double();
    if (value.is_array()) return std::any_of(value.get_array().begin(), value.get_array().end(), has_whole_fraction);
    if (!value.is_object()) return false;
    return std::any_of(value.get_object().begin(), value.get_object().end(),
                       [](const auto& member) { return has_whole_fraction(member.value()); });
}

}  // namespace

void ModificationTag::describe(Fields<ModificationTag>& f) {
    f.name("ModificationTag").doc("Orders versions of one LRP, so that events and snapshots merge in any order.");
    f.field("epoch", &ModificationTag::epoch, "Made anew when the LRP is created: its uid.").length(0, 128);
    f.field("index", &ModificationTag::index, "Counts changes since then.").minimum(0);
}

std::string name_for(std::string_view text) {
    if (is_plain_name(text)) return std::string(text);
    std::string kept = lower(text.substr(0, max_kept_prefix));
    std::replace_if(
        kept.begin(), kept.end(), [](char c) { return !name_character(c); }, '-');
    const auto first = kept.find_first_not_of('-');
    kept = first == std::string::npos ? "x" : kept.substr(first, kept.find_last_not_of('-') + 1 - first);
    return kept + "." + sha256_hex(text).substr(0, hash_digits);
}

std::string desired_lrp_name(std::string_view process_guid) { return name_for(process_guid); }

std::string actual_lrp_name(std::string_view process_guid, std::int64_t index, bool evacuating) {
    return fmt::format("{}.{}{}", name_for(process_guid), index, evacuating ? ".evacuating" : "");
}

void check_lrp_name(const json::Value& object, const json::Value* old, std::string_view name, Violations& violations) {
    const auto given = json::string_at(object, "metadata.name");
    if (old != nullptr || given == name) return;
    violations.invalid(
        "metadata.name", text_value(given),
        fmt::format("must be '{}': the name says which process it is, so that there is one of each", name));
}

void stamp_modification(json::Value& object, const json::Value* old) {
    auto* spec = json::find(object, "spec");
    if (spec == nullptr || !spec->is_object()) return;
    std::int64_t index = 0;
    if (old != nullptr) {
        const auto* before = spec_of(*old);
        const bool same = before != nullptr && same_spec(spec->get_object(), *before) && same_labels(object, *old);
        index = json::int_at(*old, "spec.modification_tag.index").value_or(0) + (same ? 0 : 1);
    }
    json::erase_at(*spec, "modification_tag");  // last, whatever was sent: the same spec is the same bytes
    spec->get_object()["modification_tag"] =
        json::Object{{"epoch", json::String(json::string_at(object, "metadata.uid"))}, {"index", index}};
}

void keep_route_texts(json::Object& spec, std::string_view routes) {
    const auto members = json::text_members(routes);
    std::map<std::string, std::string> texts;  // of a repeated provider the last, as in the values
    for (const auto& member : members) texts[member.name] = json::compact(member.text);
    for (const auto& [provider, text] : texts) {
        const auto value = json::parse(text);
        const bool as_we_write =
            value && !value->is_null() && json::serialize(*value) == text && kept_text(text) == text;
        if (as_we_write && !has_whole_fraction(*value)) continue;
        auto& kept = spec["routes_text"];
        if (!kept.is_object()) kept.emplace_object();
        if (as_we_write && kept.get_object().contains(provider)) continue;  // how somebody wrote it is known
        kept.get_object()[provider] = text;
    }
}

void drop_stale_route_texts(json::Object& spec) {
    const auto* kept = spec.if_contains("routes_text");
    if (kept == nullptr) return;
    const auto* routes = object_of(spec, "routes");
    json::Object still;
    if (const auto* texts = kept->if_object()) {
        for (const auto& [provider, text] : *texts) {
            if (!text.is_string()) continue;
            const auto* value = routes != nullptr ? routes->if_contains(provider) : nullptr;
            const auto said = json::parse(kept_text(json::view(text.get_string())));
            if (!said) continue;
            const bool same = value != nullptr ? say_the_same(*said, *value) : said->is_null() && routes != nullptr;
            if (same) still.emplace(provider, text);
        }
    }
    if (still.empty()) {
        spec.erase("routes_text");
    } else {
        spec["routes_text"] = std::move(still);
    }
}

std::string routes_as_written(const json::Object& spec) {
    const auto* routes = object_of(spec, "routes");
    const auto* texts = object_of(spec, "routes_text");
    std::string out;
    const auto add = [&](std::string_view provider, std::string_view text) {
        out += out.empty() ? '{' : ',';
        json::append_quoted(provider, out);
        out += ':';
        out += text;
    };
    static const json::Object none;
    for (const auto& member : routes != nullptr ? *routes : none) {
        const std::string_view provider(member.key().data(), member.key().size());
        const auto* text = texts != nullptr ? texts->if_contains(member.key()) : nullptr;
        add(provider, text != nullptr && text->is_string() ? std::string(json::view(text->get_string()))
                                                           : json::serialize(member.value()));
    }
    for (const auto& member : texts != nullptr ? *texts : none) {  // providers that are null
        if (routes != nullptr && routes->contains(member.key())) continue;
        add({member.key().data(), member.key().size()}, "null");
    }
    if (!out.empty()) out += '}';
    return out;
}

}  // namespace fairlead::resource
