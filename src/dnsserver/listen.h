// The sockets of the server: where to listen, and opening UDP and TCP on the same port. Errors name the address and
// what to do. Used by DnsServer when it starts; C types stay in the loops.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/address.h"
#include "net/handles.h"

namespace fairlead::dnsserver {

struct ListenAddress {
    dns::Address address;
    std::uint16_t port = 0;  // 0: a free one, the same for UDP and TCP
    bool operator==(const ListenAddress&) const = default;

    // "127.0.0.1:5300", "[::1]:53", "0.0.0.0:0". Errors: invalid.
    static Result<ListenAddress> parse(std::string_view text);
    [[nodiscard]] std::string text() const;
    // 0.0.0.0 and ::, where the address that was asked must be the one that answers.
    [[nodiscard]] bool wildcard() const { return address == dns::Address{.bytes = {}, .v6 = address.v6}; }
};

struct Listeners {
    ListenAddress address;  // with the port that was chosen
    std::vector<net::Fd> udp;
    net::Fd tcp;
};

// `sockets` UDP sockets that share the port, each to be read by a thread of its own, and one that listens for TCP. An
// IPv6 address takes no IPv4: who wants both names both. Errors: unavailable.
Result<Listeners> open_listeners(const ListenAddress& address, std::size_t sockets);

}  // namespace fairlead::dnsserver
