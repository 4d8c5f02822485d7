// Ownership texts that only their owner can read, exactly as external-dns encrypts them:
//   base64(nonce of 12 bytes + AES-256-GCM(gzip(text)) + tag of 16 bytes), no associated data.
// Pure; crypt.cpp is this layer's home of OpenSSL and zlib.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::plan {

inline constexpr std::size_t encryption_key_bytes = 32;
inline constexpr std::size_t encryption_nonce_bytes = 12;
// A TXT set has at most 65,535 bytes; a text that unpacks to more than this is no ownership text.
inline constexpr std::size_t max_owner_text_bytes = 65'536;

using EncryptionNonce = std::array<unsigned char, encryption_nonce_bytes>;

// A key as flags and Secrets give it: 32 bytes as they are, or in base64 (also the one for URLs). Spaces around it and
// a line end are not part of it. Errors: invalid.
Result<std::string> encryption_key_of(std::string_view text);

// `key` has 32 bytes. Errors: internal.
Result<std::string> encrypt_owner_text(std::string_view text, std::string_view key, const EncryptionNonce& nonce);
// Nothing: not encrypted, or with another key.
std::optional<std::string> decrypt_owner_text(std::string_view text, std::string_view key);

}  // namespace fairlead::plan
