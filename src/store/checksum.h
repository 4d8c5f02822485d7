// XXH64 (libxxhash; specified in its doc/xxhash_spec.md): the checksum of every row in the store's file.
// 64 bits find any accident, at memory speed; not for secrets.
#pragma once

#include <cstdint>
#include <string_view>

namespace fairlead::store {

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed);

}  // namespace fairlead::store
