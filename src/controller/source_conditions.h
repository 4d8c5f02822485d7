// What a Service or Ingress is told about its names: the conditions Planned, Applied and Skipped, from what its
// annotations say and from what has become of the DNSRecords that were made for it. Pure; used by dns_sources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resource/meta.h"
#include "source/annotations.h"

namespace fairlead::controller {

// A DNSRecord of the object, as far as it is known.
struct SourceRecord {
    std::string host;
    std::int64_t generation = 0;
    std::vector<resource::Condition> conditions;
    // Somebody has said what has become of this generation.
    [[nodiscard]] bool judged() const;
};

// A DNSRecord that could not be written: its name is somebody else's, or the API refused it.
struct SourceTrouble {
    std::string host, reason, message;
};

struct SourceState {
    const source::Reading& reading;
    std::vector<SourceRecord> records;  // in the order of their hosts
    std::vector<SourceTrouble> troubles;
    std::int64_t generation = 0;  // of the object
};

// Always of the three types, in this order.
std::vector<resource::Condition> source_conditions(const SourceState& state);

// Whether all that is wanted is said already, if of a former generation.
bool same_but_generation(const std::vector<resource::Condition>& present,
                         const std::vector<resource::Condition>& wanted);

// At most five, then "and N more".
std::string join_some(std::vector<std::string> texts);

}  // namespace fairlead::controller
