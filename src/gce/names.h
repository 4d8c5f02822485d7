// How things at Google are called, and how we know ours again: many of them have no labels, so the mark is a small JSON
// text in `description`. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace fairlead::gce {

inline constexpr std::size_t max_name_bytes = 63;  // RFC 1035 labels, as Compute Engine has them

// [a-z]([-a-z0-9]*[a-z0-9])?, at most 63 bytes.
bool is_name(std::string_view text);

// The name of a part of balancer `balancer`: `suffix` is "", "-s-0123456789ab", ... A balancer's name that is none of
// Compute Engine's, or too long with the suffix, is made one and gets a hash, so that two never meet.
std::string part_name(std::string_view balancer, std::string_view suffix);

// Whether that is the name of a part of this balancer.
bool is_part(std::string_view name, std::string_view balancer);

// Twelve hex digits: what tells parts of one balancer apart.
std::string short_hash(std::string_view text);

// Whose a thing is.
struct Mark {
    std::string installation, balancer, uid;
    auto operator<=>(const Mark&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};
std::string description_of(const Mark& mark);
// Nothing: it is not one of ours, of no installation.
std::optional<Mark> mark_of(const json::Value& thing);

// The same for people who filter by labels; for forwarding rules, which have them. Values are shortened to what labels
// may hold.
std::map<std::string, std::string> labels_of(const Mark& mark);

}  // namespace fairlead::gce
