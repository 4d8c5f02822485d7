// The `continue` token of a paged list: base64url of {"v","rv","start"}, as kube-apiserver's, plus how many items are
// left (so that a page need not count the rest of a large table). Comes back from clients: everything in it is
// distrusted. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/object.h"

namespace fairlead::apiserver {

struct ContinueToken {
    // The snapshot that the list goes on from; nothing = the newest (an inconsistent continuation).
    std::optional<store::Revision> revision;
    std::string start;  // the first name that may follow, as the store orders names
    std::optional<std::uint64_t> remaining;
    bool operator==(const ContinueToken&) const = default;
};

inline constexpr std::size_t max_continue_bytes = 4 * 1024;  // two names of 253 bytes, encoded, with room to spare

std::string encode_continue(const ContinueToken& token);
Result<ContinueToken> decode_continue(std::string_view text);

}  // namespace fairlead::apiserver
