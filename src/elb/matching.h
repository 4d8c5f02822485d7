// What a key of the RoutingTable is in AWS's conditions, and which rule is tried first. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "elb/state.h"

namespace fairlead::elb {

// Whether a key means its path alone, not what lies below it: keys that cannot say so mean both.
template <class Key>
constexpr bool is_exact(const Key& key) {
    if constexpr (requires { key.exact; }) {
        return key.exact;
    } else {
        return false;
    }
}

// Errors: invalid, saying what AWS does not take.
Result<Matching> matching_of(std::string_view host, bool wildcard, std::string_view path, bool exact);

template <class Key>
Result<Matching> matching_of(const Key& key) {
    return matching_of(key.host, key.wildcard, key.path, is_exact(key));
}

// A total order: exact hosts, then wildcards (longer ones first, since AWS's cover all levels), then any host; of one
// host longer paths first, and a path alone before what lies below it too.
bool tried_before(const Matching& a, const Matching& b);

// Whether there may be a request that fits both.
bool may_overlap(const Matching& a, const Matching& b);

// Whether a host, or "*.acme.test", is among those that `pattern` ("acme.test", "*.acme.test", "") stands for: of one
// level, as certificates are.
bool covers(std::string_view pattern, std::string_view host);

}  // namespace fairlead::elb
