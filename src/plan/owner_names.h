// Where ownership records stand, and of which records one is by its place. Names are in normal form (lower case,
// A-labels, no dot at the end). Pure; used by the registry alone.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::plan {

// What external-dns puts around the first label of a name; at most one of both is there. "%{record_type}" in it is
// replaced by the type, which then is not put before the label.
struct Affix {
    std::string prefix, suffix;
    bool operator==(const Affix&) const = default;
};

inline constexpr std::string_view type_template = "%{record_type}";

// The types that external-dns tells from the first label of a name; others have their ownership in the shared form.
bool has_typed_name(std::string_view type);

// "<prefix><type>-<first label><suffix>.<rest>". No type: the name that versions before 0.12 used.
std::string affixed_name(const Affix& affix, std::string_view wildcard_replacement, std::string_view name,
                         std::string_view type);

struct PlaceReading {
    std::string_view name;  // with the wildcard as it is replaced
    std::string_view type;  // in capitals; empty: a name without type, of any but AAAA
};
// What affixed_name() was given, if it gave `place`. The name is a view of the place or of what `made` keeps.
std::optional<PlaceReading> read_place(const Affix& affix, std::string_view place, std::deque<std::string>& made);

// "<prefix><name>", a wildcard label replaced. A name that leaves too little room has its first labels replaced by
// their digest: "<prefix>h-0123456789abcdef.example.com". Nothing: not even that fits inside `zone`.
std::optional<std::string> shared_name(std::string_view prefix, std::string_view wildcard, std::string_view name,
                                       std::string_view zone);

// Whether it can be a name of this zone (empty: any): lengths of labels and name, at or below the apex.
bool fits(std::string_view name, std::string_view zone);
bool is_wildcard(std::string_view name);
// The name with another first label.
std::string with_first_label(std::string_view name, std::string_view label);
std::string_view first_label(std::string_view name);

}  // namespace fairlead::plan
