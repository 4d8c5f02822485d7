#include "dnsinfo/zone_text.h"

#include <fmt/core.h>

#include <iterator>

#include "base/text.h"
#include "dns/flatten.h"
#include "dns/rdata.h"

namespace fairlead::dnsinfo {

namespace {

using dns::RecordType;

bool has_policy(const std::vector<dns::Variant>& variants) {
    if (variants.size() != 1) return true;
    const auto& only = variants.front();
    return !only.set_identifier.empty() || only.geo || only.weight || !only.unhealthy.empty();
}

// A comment ends with its line: what would end it early is shown as a question mark.
std::string one_line(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    }
    return out;
}

void append_comment(RecordType type, const dns::Variant& variant, std::string& out) {
    std::vector<std::string> facts;
    if (variant.weight) facts.push_back(fmt::format("weight {}", *variant.weight));
    if (variant.geo) facts.push_back(fmt::format("geo {}", variant.geo->text()));
    facts.push_back(fmt::format("TTL {}", variant.ttl));
    std::vector<std::string> data;
    data.reserve(variant.data.size());
    for (const auto& each : variant.data) {
        data.push_back(dns::rdata_text(type, each) + (variant.unhealthy.contains(each) ? " (unhealthy)" : ""));
    }
    const auto identifier = variant.set_identifier.empty() ? "without identifier" : one_line(variant.set_identifier);
    fmt::format_to(std::back_inserter(out), "; set {}: {}: {}\n", identifier, join(facts, ", "),
                   one_line(join(data, ", ")));
}

void append_records(const dns::Name& name, RecordType type, const dns::Variant& variant, std::string& out) {
    for (const auto& data : variant.data) {
        fmt::format_to(std::back_inserter(out), "{}\t{}\tIN\t{}\t{}\n", name.text(), variant.ttl, dns::type_text(type),
                       dns::rdata_text(type, data));
    }
}

}  // namespace

void append_name(const dns::Name& name, const dns::Sets& sets, std::string& out) {
    const auto flat = dns::flatten(sets);
    const auto append = [&](RecordType type) {
        const auto whole = sets.find(type);
        if (whole == sets.end()) return;
        if (has_policy(whole->second)) {
            for (const auto& variant : whole->second) append_comment(type, variant, out);
        }
        const auto found = flat.find(type);
        if (found == flat.end()) return;
        for (const auto& variant : found->second) append_records(name, type, variant, out);
    };
    append(RecordType::soa);  // a zone begins with it
    append(RecordType::ns);
    for (const auto& [type, variants] : sets) {
        if (type != RecordType::soa && type != RecordType::ns) append(type);
    }
}

}  // namespace fairlead::dnsinfo
