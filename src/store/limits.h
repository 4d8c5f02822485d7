// What the store refuses, and why at that size. Every implementation checks a commit against it before anything else.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace fairlead::store {

// A request body is at most 3 MiB; defaults, managed fields and status may add to it.
inline constexpr std::size_t max_value_bytes = std::size_t{4} << 20;
// Namespace (63) + "/" + name (253) is 317; composed names get some room.
inline constexpr std::size_t max_name_bytes = 512;
// Group (253) + "/" + resource (63).
inline constexpr std::size_t max_table_bytes = 317;
// The place of an op in its commit takes 12 bits of a row's id, which leaves 51 bits for revisions: a million commits
// a second for 71 years.
inline constexpr std::size_t max_ops = 4096;
inline constexpr Revision max_revision = (Revision{1} << 51) - 1;
// One commit is one transaction in memory and in the log: 16 of the largest values.
inline constexpr std::size_t max_commit_bytes = 16 * max_value_bytes;
// As etcd: an empty store is at revision 1, because a list at "0" would mean "any" to Kubernetes' clients.
inline constexpr Revision first_revision = 1;

// Bytes that the commit adds, as the limits count them.
std::size_t commit_bytes(const std::vector<Op>& ops);

// Errors: invalid (no ops, empty or broken key, two changes of one key, revision_at outside the value), too_large.
Result<void> check_limits(const std::vector<Op>& ops);

}  // namespace fairlead::store
