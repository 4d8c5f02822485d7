// Checks and look-ups that the rules of several kinds share. Pure functions; used by the files of this folder and by
// the Receptor API.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "resource/schema.h"

namespace fairlead::resource {

// Members of an object whose types were validated; "" or null when absent.
bool has(const json::Object& object, std::string_view name);  // present and not null
std::string_view text_of(const json::Object& object, std::string_view name);
std::optional<std::int64_t> int_of(const json::Object& object, std::string_view name);
const json::Object* object_of(const json::Object& object, std::string_view name);
const json::Array* list_of(const json::Object& object, std::string_view name);
std::string_view text(const json::Value& value);  // "" if it is no string
json::Value text_value(std::string_view text);

// "rules[2].host"
std::string indexed(std::string_view list, std::size_t index, std::string_view member = {});

// One of these members must be set, and no second one. An error for "none" names the object, for "too many" the member.
void require_exactly_one(const json::Object& object, const std::vector<std::string>& members, Violations& violations);

bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);
inline bool is_ip(std::string_view text) { return is_ipv4(text) || is_ipv6(text); }
bool is_cidr(std::string_view text);

// A DNS host name, optionally with "*." in front; nothing when it is one, else the rule it breaks.
std::optional<std::string> broken_wildcard_host_rule(std::string_view host);
// Every label at most 63 octets, besides the rule for subdomains.
std::optional<std::string> broken_host_rule(std::string_view host);
// A port's name: at most 15 of a-z, 0-9 and '-', at least one letter (IANA service name).
std::optional<std::string> broken_port_name_rule(std::string_view name);
std::optional<std::string> broken_duration_rule(std::string_view text);  // "10s", longer than nothing

// Each string of a list goes through `rule`; violations name the item.
using TextRule = std::optional<std::string> (*)(std::string_view);
void check_each(const json::Object& object, std::string_view list, TextRule rule, Violations& violations);
// Rules for check_each.
std::optional<std::string> broken_ip_rule(std::string_view address);
std::optional<std::string> broken_address_rule(std::string_view address);  // IP address or host name

}  // namespace fairlead::resource
