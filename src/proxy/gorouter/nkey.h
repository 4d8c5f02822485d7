// NKeys of NATS: Ed25519 keys as text of base 32, with a mark of their kind in front and a checksum behind. Who has the
// seed signs what the server asks; the server knows the public key. Pure; used by the driver and its session.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::proxy::gorouter {

struct NKey {
    std::string seed;        // "SU...": a secret
    std::string public_key;  // "U..."
};

// Of the text of a file with the seed of a user, on a line of its own; other lines are passed over. Errors: there is
// none, or it is none; they do not show it.
Result<NKey> read_nkey(std::string_view text);

}  // namespace fairlead::proxy::gorouter
