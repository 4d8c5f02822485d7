#include "proxy/gorouter/nkey.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <vector>

#include "base/base32.h"
#include "base/text.h"
#include "net/handles.h"

namespace fairlead::proxy::gorouter {

namespace {

using Bytes = std::vector<std::uint8_t>;
using Key = std::unique_ptr<EVP_PKEY, net::Free<EVP_PKEY_free>>;

constexpr std::size_t key_bytes = 32, sum_bytes = 2;
constexpr std::size_t seed_bytes = 2 + key_bytes + sum_bytes;      // two of them say: seed of a user
constexpr std::size_t seed_characters = (seed_bytes * 8 + 4) / 5;  // 58
constexpr unsigned seed_kind = 18U << 3U, user_kind = 20U << 3U;

// CRC-16/XMODEM.
std::uint16_t sum_of(const Bytes& bytes) {
    std::uint32_t sum = 0;
    for (const auto byte : bytes) {
        sum ^= std::uint32_t{byte} << 8U;
        for (int bit = 0; bit < 8; ++bit) sum = (sum & 0x8000U) != 0 ? (sum << 1U) ^ 0x1021U : sum << 1U;
    }
    return static_cast<std::uint16_t>(sum);
}

void add_sum(Bytes& bytes) {
    const auto sum = sum_of(bytes);
    bytes.push_back(static_cast<std::uint8_t>(sum & 0xffU));
    bytes.push_back(static_cast<std::uint8_t>(sum >> 8U));
}

Result<std::string> public_key_of(std::string_view seed) {
    const auto decoded = from_base32(seed);
    if (!decoded || seed.size() != seed_characters) {
        return fail(Errc::invalid, fmt::format("the seed is not {} characters of A-Z and 2-7", seed_characters));
    }
    const std::array kinds{static_cast<std::uint8_t>(seed_kind | user_kind >> 5U),
                           static_cast<std::uint8_t>((user_kind & 31U) << 3U)};
    const Bytes bytes(decoded->begin(), decoded->end());
    if (bytes[0] != kinds[0] || bytes[1] != kinds[1]) return fail(Errc::invalid, "the seed is not of a user");
    Bytes checked(bytes.begin(), bytes.end() - sum_bytes);
    add_sum(checked);
    if (checked != bytes) return fail(Errc::invalid, "the seed's checksum is wrong: a character may be");
    const Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes.data() + kinds.size(), key_bytes));
    Bytes out(1 + key_bytes, static_cast<std::uint8_t>(user_kind));
    auto size = key_bytes;
    if (!key || EVP_PKEY_get_raw_public_key(key.get(), out.data() + 1, &size) != 1 || size != key_bytes) {
        return fail(Errc::internal, "no public key can be made of the seed");
    }
    add_sum(out);
    return base32(std::string(out.begin(), out.end()));
}

}  // namespace

Result<NKey> read_nkey(std::string_view text) {
    for (const auto line : split(text, '\n')) {
        const auto seed = trim(line);
        if (!seed.starts_with("SU")) continue;
        auto key = public_key_of(seed);
        if (!key) return fail(std::move(key.error()));
        return NKey{std::string(seed), std::move(*key)};
    }
    return fail(Errc::invalid, "no line begins with SU, as the seed of a user does");
}

}  // namespace fairlead::proxy::gorouter
