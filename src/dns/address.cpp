#include "dns/address.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace fairlead::dns {

namespace {

constexpr std::array<unsigned char, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool bit_at(const std::array<unsigned char, 16>& bytes, unsigned i) {
    return ((bytes.at(i / 8) >> (7 - i % 8)) & 1U) != 0;
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
    const std::string terminated(text);
    Address result;
    if (::inet_pton(AF_INET, terminated.c_str(), result.bytes.data()) == 1) return result;
    if (::inet_pton(AF_INET6, terminated.c_str(), result.bytes.data()) != 1) {
        return fail(Errc::invalid, {}, fmt::format("\"{}\" is not an IP address", text));
    }
    if (std::equal(mapped.begin(), mapped.end(), result.bytes.begin())) {
        std::copy_n(result.bytes.begin() + mapped.size(), 4, result.bytes.begin());
        std::fill(result.bytes.begin() + 4, result.bytes.end(), 0);
        return result;
    }
    result.v6 = true;
    return result;
}

std::string Address::text() const {
    char buffer[INET6_ADDRSTRLEN] = {};
    ::inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), buffer, sizeof(buffer));
    return buffer;
}

Result<Prefix> Prefix::parse(std::string_view text) {
    const auto slash = text.find('/');
    auto address = Address::parse(text.substr(0, slash));
    if (!address) return fail(address.error());
    Prefix result{*address, address->bits()};
    if (slash == std::string_view::npos) return result;
    const auto digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.length);
    if (error != std::errc() || end != digits.data() + digits.size() || result.length > address->bits()) {
        return fail(Errc::invalid, {}, fmt::format("\"{}\": the length must be 0 to {}", text, address->bits()));
    }
    for (unsigned i = result.length; i < address->bits(); ++i) {
        if (bit_at(address->bytes, i)) {
            return fail(Errc::invalid, {}, fmt::format("\"{}\": bits behind the prefix must be 0", text));
        }
    }
    return result;
}

std::string Prefix::text() const { return fmt::format("{}/{}", address.text(), length); }

bool Prefix::contains(const Address& other) const {
    if (other.v6 != address.v6) return false;
    const unsigned whole = length / 8;
    if (std::memcmp(address.bytes.data(), other.bytes.data(), whole) != 0) return false;
    const unsigned rest = length % 8;
    if (rest == 0) return true;
    const unsigned mask = 0xff00U >> rest & 0xffU;
    return (address.bytes.at(whole) & mask) == (other.bytes.at(whole) & mask);
}

}  // namespace fairlead::dns
