// `continue` tokens come back from clients: decoding must never crash, and what is accepted must survive a round trip.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/continue_token.h"
#include "base/text.h"
#include "fuzz.h"

namespace {

void check(std::string_view text) {
    const auto token = fairlead::apiserver::decode_continue(text);
    if (!token) return;
    const auto again = fairlead::apiserver::decode_continue(fairlead::apiserver::encode_continue(*token));
    // Escapes may make the encoded form longer than what came in, and so too long; nothing else may be lost.
    const bool kept = again ? *again == *token : text.size() >= fairlead::apiserver::max_continue_bytes / 8;
    fairlead::fuzz::require(kept, "an accepted token survives a round trip", std::string(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check(text);
    check(fairlead::base64url(text));  // so that the fuzzer reaches the JSON behind the encoding at once
    return 0;
}
