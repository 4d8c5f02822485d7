#include "store/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fairlead::store {

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed) { return XXH64(bytes.data(), bytes.size(), seed); }

}  // namespace fairlead::store
