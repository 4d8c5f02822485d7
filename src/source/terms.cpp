#include "source/terms.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "dns/address.h"
#include "dns/choice.h"
#include "dns/policy.h"
#include "dns/rdata.h"

namespace fairlead::source {

namespace {

constexpr std::int64_t max_ttl = 2'147'483'647;   // RFC 2181 section 8
constexpr std::size_t max_identifier = 128;       // of DNSRecord's setIdentifier; Route 53 has the same
constexpr std::size_t max_targets = 1'000;        // of DNSRecord's targets
constexpr std::size_t max_property_bytes = 4096;  // of DNSRecord's providerSpecific
constexpr std::array<std::string_view, 4> alias_values{"true", "false", "A", "AAAA"};

// "aws-weight" -> "aws/weight".
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> provider_prefixes{{
    {"aws-", "aws/"},
    {"webhook-", "webhook/"},
    {"scw-", "scw/"},
    {"coredns-", "coredns/"},
}};
// Read here or by read().
constexpr std::array<std::string_view, 13> known_names{
    "hostname",
    "internal-hostname",
    "target",
    "ttl",
    "alias",
    "set-identifier",
    "controller",
    "access",
    "weight",
    "weight-scope",
    "weight-suffix",
    "endpoints-type",
    "ingress-hostname-source",
};

void problem(Reading& reading, std::string field, std::string message) {
    reading.problems.push_back({std::move(field), std::move(message)});
}

// The name of the property that an annotation becomes; empty: none.
std::string property_of(std::string_view name, const std::string& key) {
    for (const auto& [prefix, to] : provider_prefixes) {
        if (name.starts_with(prefix) && name.size() > prefix.size())
            return fmt::format("{}{}", to, name.substr(prefix.size()));
    }
    if (name == "azure-tags") return "azure/tags";
    // The one provider whose properties keep the whole key, in external-dns too.
    if (name.starts_with("cloudflare-")) return key;
    return {};
}

void read_ttl(const AnnotationSet& annotations, Terms& terms, Reading& reading) {
    const auto* found = annotations.find("ttl");
    if (found == nullptr) return;
    const auto ttl = parse_ttl(found->value);
    if (!ttl) {
        return problem(reading, found->field(),
                       fmt::format("\"{}\" is neither a number of seconds nor a duration as 10m", shown(found->value)));
    }
    if (*ttl < 1 || *ttl > max_ttl) {
        return problem(reading, found->field(),
                       fmt::format("\"{}\" is outside 1..{} seconds", shown(found->value), max_ttl));
    }
    terms.ttl = *ttl;
}

void read_targets(const AnnotationSet& annotations, Terms& terms, Reading& reading) {
    const auto* found = annotations.filled("target");
    if (found == nullptr) return;
    terms.targets = list_of(found->value);
    if (terms.targets.size() > max_targets) {
        problem(reading, found->field(),
                fmt::format("has {} targets, more than {}", terms.targets.size(), max_targets));
        return;
    }
    for (const auto& target : terms.targets) {
        if (dns::Address::parse(target)) continue;
        const auto name = dns::parse_rdata(dns::RecordType::cname, target);
        if (!name) {
            problem(reading, found->field(),
                    fmt::format("\"{}\" is neither an address nor a name: {}", shown(target), name.error().message));
        }
    }
}

void read_properties(const AnnotationSet& annotations, Terms& terms, Reading& reading) {
    for (const auto& [name, found] : annotations.all()) {
        auto property = property_of(name, found.key);
        if (name == "alias") {
            if (std::find(alias_values.begin(), alias_values.end(), found.value) == alias_values.end()) {
                problem(reading, found.field(),
                        fmt::format("\"{}\" is none of true, false, A and AAAA", shown(found.value)));
                continue;
            }
            property = "alias";
        }
        if (property.empty()) {
            if (std::find(known_names.begin(), known_names.end(), name) == known_names.end())
                reading.notes.push_back({found.field(), "is not known here, and ignored"});
            continue;
        }
        if (found.value.size() > max_property_bytes) {
            problem(reading, found.field(),
                    fmt::format("has {} bytes, more than {}", found.value.size(), max_property_bytes));
            continue;
        }
        terms.properties.push_back({std::move(property), found.value});
    }
}

void read_identifier(const AnnotationSet& annotations, Terms& terms, Reading& reading) {
    const auto* found = annotations.filled("set-identifier");
    if (found == nullptr) return;
    if (found->value.size() > max_identifier) {
        return problem(reading, found->field(),
                       fmt::format("has {} bytes, more than {}", found->value.size(), max_identifier));
    }
    terms.set_identifier = found->value;
}

// Weighted only if all three are there; a value that is wrong is wrong even when another is missing.
void read_weight(const AnnotationSet& annotations, Terms& terms, Reading& reading) {
    const auto* weight = annotations.filled("weight");
    const auto* scope = annotations.filled("weight-scope");
    const auto* suffix = annotations.filled("weight-suffix");
    const auto before = reading.problems.size();
    if (weight != nullptr) {
        const auto number = parse_int(weight->value);
        if (!number || *number < 0 || *number > dns::max_weight) {
            problem(reading, weight->field(),
                    fmt::format("\"{}\" is no number from 0 to {}", shown(weight->value), dns::max_weight));
        }
    }
    if (scope != nullptr && scope->value != "cluster" && scope->value != "global") {
        problem(reading, scope->field(), fmt::format("\"{}\" is neither cluster nor global", shown(scope->value)));
    }
    if (weight == nullptr && scope == nullptr && suffix == nullptr) return;
    if (weight == nullptr || scope == nullptr || suffix == nullptr) {
        const auto missing = weight == nullptr ? "weight" : scope == nullptr ? "weight-scope" : "weight-suffix";
        reading.notes.push_back({annotations.field_of(missing),
                                 "is missing: a record is weighted only with all of weight, weight-scope and "
                                 "weight-suffix"});
        return;
    }
    if (reading.problems.size() != before) return;
    auto identifier = fmt::format("{}/{}", scope->value, suffix->value);
    if (identifier.size() > max_identifier) {
        return problem(reading, suffix->field(),
                       fmt::format("makes an identifier of {} bytes, more than {}", identifier.size(), max_identifier));
    }
    if (!terms.set_identifier.empty() && terms.set_identifier != identifier) {
        return problem(reading, annotations.field_of("set-identifier"),
                       fmt::format("\"{}\" contradicts weight-scope and weight-suffix, which make \"{}\"",
                                   shown(terms.set_identifier), shown(identifier)));
    }
    terms.set_identifier = std::move(identifier);
    terms.properties.push_back({"weight", weight->value});
}

// The policy that the properties come to must make sense, whichever provider gets them. The error speaks of the
// property; the person wrote an annotation.
void check_policy(const AnnotationSet& annotations, const Terms& terms, Reading& reading) {
    dns::Endpoint sample;
    sample.set_identifier = terms.set_identifier;
    sample.properties = terms.properties;
    const auto policy = dns::policy_of(sample);
    if (policy) return;
    const auto& error = policy.error();
    if (error.field == "setIdentifier") return problem(reading, annotations.field_of("set-identifier"), error.message);
    for (const auto& [name, found] : annotations.all()) {
        auto property = property_of(name, found.key);
        if (property.empty()) property = name;
        if (error.field == fmt::format("providerSpecific[{}]", property))
            return problem(reading, found.field(), error.message);
    }
    problem(reading, "metadata.annotations", error.text());
}

// One number with unit at the start of a Go duration, in nanoseconds; nothing: it is none.
std::optional<double> take_duration_part(std::string_view& text) {
    static constexpr std::array<std::pair<std::string_view, double>, 7> units{{
        {"ns", 1},
        {"us", 1e3},
        {"µs", 1e3},
        {"ms", 1e6},
        {"s", 1e9},
        {"m", 60e9},
        {"h", 3600e9},
    }};
    constexpr std::size_t max_digits = 12;
    double amount = 0;
    double scale = 0;  // of the next digit behind the point; 0: there is none yet
    std::size_t digits = 0;
    while (!text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9'))) {
        const char c = text.front();
        text.remove_prefix(1);
        if (c == '.') {
            if (scale != 0) return std::nullopt;
            scale = 0.1;
            continue;
        }
        if (++digits > max_digits) return std::nullopt;
        if (scale == 0) {
            amount = amount * 10 + (c - '0');
        } else {
            amount += scale * (c - '0');
            scale /= 10;
        }
    }
    if (digits == 0) return std::nullopt;
    for (const auto& [unit, nanoseconds] : units) {
        if (!text.starts_with(unit)) continue;
        text.remove_prefix(unit.size());
        return amount * nanoseconds;
    }
    return std::nullopt;
}

}  // namespace

std::vector<std::string> list_of(std::string_view value) {
    std::string text(value);
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
    std::vector<std::string> list;
    for (auto part : split(text, ',')) {
        if (part.ends_with('.')) part.remove_suffix(1);
        if (!part.empty()) list.emplace_back(part);
    }
    return list;
}

std::optional<std::int64_t> parse_ttl(std::string_view text) {
    if (const auto number = parse_int(text)) return number;
    double total = 0;
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
        const auto part = take_duration_part(text);
        if (!part) return std::nullopt;
        total += *part;
    }
    // Half a nanosecond up: 0.1 is no binary fraction. What is far above any TTL stays so.
    return static_cast<std::int64_t>(std::min((total + 0.5) / 1e9, 1e15));
}

Terms terms_of(const AnnotationSet& annotations, Reading& reading) {
    Terms terms;
    read_ttl(annotations, terms, reading);
    read_targets(annotations, terms, reading);
    read_properties(annotations, terms, reading);
    read_identifier(annotations, terms, reading);
    const auto before = reading.problems.size();
    read_weight(annotations, terms, reading);
    if (reading.problems.size() == before) check_policy(annotations, terms, reading);
    std::sort(terms.properties.begin(), terms.properties.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return terms;
}

}  // namespace fairlead::source
