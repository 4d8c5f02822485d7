// Why a change is made or something is left alone: the words that conditions, events, metrics and JSON carry.
#pragma once

#include <string_view>

namespace fairlead::plan::reason {

// Of changes.
inline constexpr std::string_view missing = "Missing";          // wanted, not there
inline constexpr std::string_view differs = "Differs";          // wanted otherwise than it is there
inline constexpr std::string_view not_wanted = "NotWanted";     // there, ours, and nobody wants it (also of skips)
inline constexpr std::string_view type_change = "TypeChange";   // a CNAME gives way to other types, or they to it
inline constexpr std::string_view set_change = "SetChange";     // a set without identifier gives way to those with one
inline constexpr std::string_view adopted = "Adopted";          // becomes ours by order
inline constexpr std::string_view released = "Released";        // becomes nobody's by order (also of skips)
inline constexpr std::string_view transferred = "Transferred";  // becomes another owner's by order (also of skips)
inline constexpr std::string_view unhealthy = "Unhealthy";      // wanted again once what it leads to is healthy

// Of skips.
inline constexpr std::string_view owned_by_other = "OwnedByOther";      // another owner has it, or part of its row
inline constexpr std::string_view not_owned = "NotOwned";               // it is there, and nobody has it
inline constexpr std::string_view not_managed_type = "NotManagedType";  // by managed or excluded types
inline constexpr std::string_view filtered = "Filtered";                // by the domain filter
inline constexpr std::string_view conflict = "Conflict";                // with another wish, or what others have there
inline constexpr std::string_view policy = "Policy";                    // upsert-only or create-only
inline constexpr std::string_view source_failed = "SourceFailed";       // what is wanted there is not known in full
inline constexpr std::string_view invalid = "Invalid";                  // no domain name, or no targets
inline constexpr std::string_view duplicate = "Duplicate";              // the same record set is listed twice

}  // namespace fairlead::plan::reason
