// RFC 7386 merge patch, RFC 6902 JSON patch, and the three-way merge of `apply`. Pure.
#pragma once

#include "json/value.h"

namespace fairlead::json {

// null deletes.
void merge_patch(Value& target, const Value& patch);

inline constexpr std::size_t max_patch_operations = 10'000;  // as kube-apiserver

// Errors: invalid (the patch itself is malformed), conflict (a test failed or a path is missing), too_large.
Result<Value> json_patch(Value target, const Value& patch);

// The merge patch that turns `current` into what `modified` says, deleting what `original` (the last applied form) had
// and `modified` has no more. Members that only `current` has stay. An empty object means nothing to do.
Value three_way_patch(const Value& original, const Value& modified, const Value& current);

}  // namespace fairlead::json
