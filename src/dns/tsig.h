// Transaction signatures (RFC 8945): checking and making them. Pure: the time comes in. tsig.cpp is a home of OpenSSL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dns/name.h"

namespace fairlead::dns {

enum class TsigAlgorithm { hmac_sha1, hmac_sha224, hmac_sha256, hmac_sha384, hmac_sha512 };

// "hmac-sha256", with or without a dot at its end, whatever the case.
std::optional<TsigAlgorithm> parse_tsig_algorithm(std::string_view text);

struct TsigKey {
    Name name;
    TsigAlgorithm algorithm = TsigAlgorithm::hmac_sha256;
    std::string secret;  // bytes, not base64
    bool operator==(const TsigKey&) const = default;
};

}  // namespace fairlead::dns
