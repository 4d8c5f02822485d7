// Parts that DesiredLRP and ActualLRP share. Values; the JSON names are those of Diego's Receptor.
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

}  // namespace fairlead::resource
