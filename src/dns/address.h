// Addresses and networks as bytes in network order. Pure.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::dns {

struct Address {
    std::array<unsigned char, 16> bytes{};  // IPv4: the first four, the others are 0
    bool v6 = false;
    auto operator<=>(const Address&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>

    // "192.0.2.1", "2001:db8::1". An IPv4 address in IPv6 form (::ffff:192.0.2.1) becomes an IPv4 address.
    static Result<Address> parse(std::string_view text);
    [[nodiscard]] std::string text() const;
    [[nodiscard]] unsigned bits() const { return v6 ? 128 : 32; }
};

struct Prefix {
    Address address;  // the bits behind the prefix are 0
    unsigned length = 0;
    auto operator<=>(const Prefix&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>

    // "192.0.2.0/24", or an address alone. Errors: invalid; bits behind the prefix must be 0.
    static Result<Prefix> parse(std::string_view text);
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool contains(const Address& address) const;
};

}  // namespace fairlead::dns
