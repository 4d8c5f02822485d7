// Checks and look-ups that kinds share. Pure, and quiet on values of the wrong type.
#include "resource/kinds/rules.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "resource/meta.h"

namespace fairlead::resource {

namespace {

const json::Value* member(const json::Object& object, std::string_view name) {
    const auto* value = object.if_contains({name.data(), name.size()});
    return value != nullptr && !value->is_null() ? value : nullptr;
}

bool parses_as(int family, std::string_view text) {
    if (text.size() >= INET6_ADDRSTRLEN) return false;
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return inet_pton(family, std::string(text).c_str(), bytes.data()) == 1;
}

}  // namespace

bool has(const json::Object& object, std::string_view name) { return member(object, name) != nullptr; }

std::string_view text(const json::Value& value) {
    const auto* string = value.if_string();
    return string != nullptr ? json::view(*string) : std::string_view{};
}

json::Value text_value(std::string_view text) { return json::Value(json::String(text.data(), text.size())); }

std::string_view text_of(const json::Object& object, std::string_view name) {
    const auto* value = member(object, name);
    return value != nullptr ? text(*value) : std::string_view{};
}

std::optional<std::int64_t> int_of(const json::Object& object, std::string_view name) {
    const auto* value = member(object, name);
    if (value == nullptr) return std::nullopt;
    if (const auto* number = value->if_int64()) return *number;
    if (const auto* number = value->if_uint64()) return static_cast<std::int64_t>(*number);
    if (const auto* number = value->if_double()) return static_cast<std::int64_t>(*number);
    return std::nullopt;
}

const json::Object* object_of(const json::Object& object, std::string_view name) {
    const auto* value = member(object, name);
    return value != nullptr ? value->if_object() : nullptr;
}

const json::Array* list_of(const json::Object& object, std::string_view name) {
    const auto* value = member(object, name);
    return value != nullptr ? value->if_array() : nullptr;
}

std::string indexed(std::string_view list, std::size_t index, std::string_view member) {
    return member.empty() ? fmt::format("{}[{}]", list, index) : fmt::format("{}[{}].{}", list, index, member);
}

void require_exactly_one(const json::Object& object, const std::vector<std::string>& members, Violations& violations) {
    std::string first;
    for (const auto& name : members) {
        if (!has(object, name)) continue;
        if (first.empty()) {
            first = name;
        } else {
            violations.forbidden(name, fmt::format("may not be set together with {}: set exactly one of {}", first,
                                                   join(members, ", ")));
        }
    }
    if (first.empty()) violations.required("", fmt::format("exactly one of {} must be set", join(members, ", ")));
}

bool is_ipv4(std::string_view text) { return parses_as(AF_INET, text); }
bool is_ipv6(std::string_view text) { return parses_as(AF_INET6, text); }

bool is_cidr(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return false;
    const auto address = text.substr(0, slash);
    const auto bits = parse_int(text.substr(slash + 1));
    if (!bits || *bits < 0) return false;
    return (is_ipv4(address) && *bits <= 32) || (is_ipv6(address) && *bits <= 128);
}

std::optional<std::string> broken_host_rule(std::string_view host) {
    if (auto broken = broken_subdomain_rule(host)) return broken;
    for (const auto label : split(host, '.')) {
        if (label.size() > 63)
            return fmt::format("label '{}' has {} octets, a DNS label at most 63", label, label.size());
    }
    return std::nullopt;
}

std::optional<std::string> broken_wildcard_host_rule(std::string_view host) {
    if (is_ip(host)) return "must be a DNS name, not an IP address";
    if (host.starts_with("*.")) host.remove_prefix(2);
    if (host.find('*') != std::string_view::npos) {
        return "a wildcard must be the whole first label, as in '*.example.com'";
    }
    return broken_host_rule(host);
}

std::optional<std::string> broken_port_name_rule(std::string_view name) {
    if (name.empty() || name.size() > 15) return "must have 1 to 15 characters";
    bool letter = false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        letter = letter || (c >= 'a' && c <= 'z');
        if (!alphanumeric && c != '-') return "must consist of lower case letters, digits and '-'";
        if (c == '-' && (i == 0 || i + 1 == name.size() || name[i - 1] == '-')) {
            return "'-' must stand between letters or digits";
        }
    }
    if (!letter) return "must contain at least one letter";
    return std::nullopt;
}

std::optional<std::string> broken_duration_rule(std::string_view text) {
    const auto duration = parse_duration(text);
    if (!duration || duration->count() <= 0) return "must be a duration longer than zero, as in '10s' or '1m30s'";
    return std::nullopt;
}

std::optional<std::string> broken_ip_rule(std::string_view address) {
    if (is_ip(address)) return std::nullopt;
    return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
}

std::optional<std::string> broken_address_rule(std::string_view address) {
    if (is_ip(address)) return std::nullopt;
    if (broken_host_rule(address)) return "must be an IP address or a DNS host name";
    // What looks like an address with a slip in it is no host name: no top-level domain is a number.
    const auto labels = split(address, '.');
    if (parse_int(labels.back())) return "must be an IP address or a DNS host name";
    return std::nullopt;
}

void check_each(const json::Object& object, std::string_view list, TextRule rule, Violations& violations) {
    const auto* items = list_of(object, list);
    if (items == nullptr) return;
    for (std::size_t i = 0; i < items->size(); ++i) {
        if (const auto broken = rule(text((*items)[i]))) violations.invalid(indexed(list, i), (*items)[i], *broken);
    }
}

}  // namespace fairlead::resource
