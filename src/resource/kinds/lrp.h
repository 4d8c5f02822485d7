// What DesiredLRP and ActualLRP share: names, modification tags, and routes as they were written. The JSON names are
// those of Diego's Receptor. Pure; asked by every write, through whichever front it comes.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

inline constexpr const char* process_guid_pattern = "[a-zA-Z0-9_-]+";

// Orders versions of one LRP: a new epoch, or a higher index of the same, is newer.
struct ModificationTag {
    std::string epoch;
    std::int64_t index = 0;
    bool operator==(const ModificationTag&) const = default;
    static void describe(Fields<ModificationTag>& f);
};

// --- names ---
// An object is named after what it stands for, so that no two can stand for the same: the text itself if it is a name
// already (lower-case letters, digits and dashes, at most 200), else what can be kept of it, a dot and 16 digits of its
// SHA-256. The first form has no dot, so the two never meet.
std::string name_for(std::string_view text);
// "web", "web.0", "web.0.evacuating".
std::string desired_lrp_name(std::string_view process_guid);
std::string actual_lrp_name(std::string_view process_guid, std::int64_t index, bool evacuating);

// Label and annotation of a Lease that stands for a domain of the Receptor; the annotation says which.
inline constexpr std::string_view domain_mark = "fairlead.dev/receptor-domain";

// --- bookkeeping, for the kinds' admit ---
// A new object that is not named `name` is refused.
void check_lrp_name(const json::Value& object, const json::Value* old, std::string_view name, Violations& violations);
// Sets spec.modification_tag: the uid, and how often spec or labels have changed since the object was made. Routes
// count as changed when their text does, since it is their text that is kept.
void stamp_modification(json::Value& object, const json::Value* old);

// --- routes as they were written ---
// A value forgets how its text spelt numbers, repeated or escaped members. Where that makes a difference, the text of a
// provider is kept beside spec.routes, in spec.routes_text. Both take a spec.
//
// `routes`: the text of the map of routes. Adds what the values in spec.routes do not say.
void keep_route_texts(json::Object& spec, std::string_view routes);
// Removes texts that say something else than spec.routes does now.
void drop_stale_route_texts(json::Object& spec);
// The map of routes for a client that wants its own bytes back; "" if there are none.
std::string routes_as_written(const json::Object& spec);

}  // namespace fairlead::resource
