// Addresses as the kernel writes them, and back. For the loops only.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "dns/address.h"

namespace fairlead::dnsserver {

// Large enough for both families, and no larger: a batch has 64 of them.
union SocketAddress {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

inline SocketAddress to_socket(const dns::Address& address, std::uint16_t port) {
    SocketAddress to{.v6 = {}};
    if (address.v6) {
        to.v6.sin6_family = AF_INET6;
        to.v6.sin6_port = htons(port);
        std::memcpy(&to.v6.sin6_addr, address.bytes.data(), 16);
    } else {
        to.v4.sin_family = AF_INET;
        to.v4.sin_port = htons(port);
        std::memcpy(&to.v4.sin_addr, address.bytes.data(), 4);
    }
    return to;
}

inline dns::Address from_socket(const SocketAddress& from) {
    dns::Address address;
    address.v6 = from.any.sa_family == AF_INET6;
    if (address.v6) {
        std::memcpy(address.bytes.data(), &from.v6.sin6_addr, 16);
    } else {
        std::memcpy(address.bytes.data(), &from.v4.sin_addr, 4);
    }
    return address;
}

inline std::uint16_t port_of(const SocketAddress& from) {
    return ntohs(from.any.sa_family == AF_INET6 ? from.v6.sin6_port : from.v4.sin_port);
}

inline socklen_t size_of(bool v6) { return v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }

}  // namespace fairlead::dnsserver
