// What the annotations of an object say about all of its names: TTL, targets, and when its sets are the answer. Pure;
// used inside this layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dns/endpoint.h"
#include "source/annotation_set.h"

namespace fairlead::source {

struct Terms {
    std::optional<std::int64_t> ttl;
    std::string set_identifier;
    std::vector<dns::Property> properties;  // by name
    std::vector<std::string> targets;       // of the annotation; empty: the object's own
};

// What cannot be followed goes to the problems of `reading`, what is ignored to its notes.
Terms terms_of(const AnnotationSet& annotations, Reading& reading);

// "a.example.com, b.example.com": without spaces, empty parts and dots at their ends.
std::vector<std::string> list_of(std::string_view value);

// "600", "10m", "1h30m", "1.5h" in whole seconds, as external-dns reads them. Nothing: neither.
std::optional<std::int64_t> parse_ttl(std::string_view text);

}  // namespace fairlead::source
