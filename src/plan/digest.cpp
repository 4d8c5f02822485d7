// What a set of changes is called when a person approves it.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "plan/plan.h"

namespace fairlead::plan {
namespace {

constexpr std::size_t digest_block = 1 << 20;  // bytes of text that are kept at a time
constexpr std::size_t digest_digits = 16;

// Lengths before texts: no two endpoints give the same bytes.
void append(std::string& out, std::string_view text) { out += fmt::format("{}:{},", text.size(), text); }

void append(std::string& out, const dns::Endpoint& endpoint) {
    append(out, normal_name(endpoint.dns_name));
    append(out, endpoint.record_type);
    append(out, endpoint.set_identifier);
    out += endpoint.ttl ? fmt::format("{},", *endpoint.ttl) : "-,";
    auto targets = endpoint.targets;
    std::sort(targets.begin(), targets.end());
    for (const auto& target : targets) append(out, target);
    out += ';';
    auto properties = endpoint.properties;
    std::sort(properties.begin(), properties.end(), [](const dns::Property& a, const dns::Property& b) {
        return a.name != b.name ? a.name < b.name : a.value < b.value;
    });
    for (const auto& property : properties) {
        append(out, property.name);
        append(out, property.value);
    }
    append(out, label_of(endpoint, owner_label));
}

}  // namespace

std::string digest(std::span<const Change> changes) {
    std::string text;
    for (const auto& change : changes) {
        text += action_text(change.action);
        text += '(';
        if (change.before) append(text, *change.before);
        text += ")(";
        if (change.after) append(text, *change.after);
        text += ')';
        if (text.size() > digest_block) text = sha256_hex(text);
    }
    return sha256_hex(text).substr(0, digest_digits);
}

}  // namespace fairlead::plan
