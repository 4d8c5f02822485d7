#include "provider/route53/target_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dns/name.h"
#include "dns/rdata.h"
#include "provider/route53/record_set.h"

namespace fairlead::provider::route53 {
namespace {

constexpr std::array<std::string_view, 15> service_types{"A",  "AAAA", "CAA", "CNAME", "DS",   "HTTPS", "MX", "NAPTR",
                                                         "NS", "PTR",  "SRV", "SSHFP", "SVCB", "TLSA",  "TXT"};
constexpr std::size_t max_string_bytes = 255;   // RFC 1035 section 3.3
constexpr std::size_t max_value_bytes = 4'000;  // what Route 53 takes for one value

// Types whose data ends with a name, which people write with or without its last dot; Route 53 takes both.
bool ends_with_name(std::string_view type) { return type == "CNAME" || type == "NS" || type == "PTR" || type == "MX"; }

// Quoted strings over 255 bytes become several: a TXT means the same to those who join them, and all do.
std::string with_short_strings(std::string_view text) {
    std::string out;
    bool inside = false;
    std::size_t bytes = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"') {
            inside = !inside;
            bytes = 0;
            out += c;
            continue;
        }
        if (inside && bytes == max_string_bytes) {
            out += "\" \"";
            bytes = 0;
        }
        ++bytes;
        out += c;
        if (c != '\\') continue;
        // An escape is one byte: "\065" or "\"".
        const auto digits = [&](std::size_t from) {
            return from + 3 <= text.size() && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from),
                                                          text.begin() + static_cast<std::ptrdiff_t>(from) + 3,
                                                          [](char d) { return d >= '0' && d <= '9'; });
        };
        const std::size_t more = digits(at + 1) ? 3 : 1;
        out += text.substr(at + 1, more);
        at += more;
    }
    return out;
}

}  // namespace

bool is_service_type(std::string_view type) {
    return std::find(service_types.begin(), service_types.end(), type) != service_types.end();
}

std::string host_form(std::string_view name) {
    auto text = lower(trim(name));
    if (text.ends_with('.')) text.pop_back();
    return text;
}

Result<std::string> canonical_target(std::string_view type, std::string_view target) {
    const auto known = dns::parse_type(type);
    std::string text;
    if (known) {
        const bool strings = type == "TXT" && trim(target).starts_with('"');
        const auto wire = dns::parse_rdata(*known, strings ? with_short_strings(target) : std::string(target));
        if (!wire) return fail(Errc::invalid, wire.error().text());
        text = dns::rdata_text(*known, *wire);
        if (ends_with_name(type) && text.size() > 1 && text.ends_with('.')) text.pop_back();
    } else {
        text = trim(target);
        const auto printable = [](char c) { return c >= ' ' && c < '\x7f'; };
        if (text.empty() || !std::all_of(text.begin(), text.end(), printable))
            return fail(Errc::invalid, fmt::format("\"{}\" is no data of a {} record", valid_utf8(target), type));
    }
    if (text.size() > max_value_bytes)
        return fail(Errc::invalid, fmt::format("{} bytes are over the {} of a value", text.size(), max_value_bytes));
    return text;
}

std::string service_value(std::string_view type, std::string_view canonical) {
    auto value = service_text(canonical);
    if (ends_with_name(type) && !value.ends_with('.')) value += '.';
    return value;
}

std::string target_of_value(std::string_view type, std::string_view value) {
    auto text = text_of_service(value);
    auto canonical = canonical_target(type, text);
    return canonical ? std::move(*canonical) : text;
}

}  // namespace fairlead::provider::route53
