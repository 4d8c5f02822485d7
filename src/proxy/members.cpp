#include "proxy/members.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace fairlead::proxy {

std::vector<traffic::Member> usable(std::vector<traffic::Member> members, std::string& problem) {
    std::erase_if(members, [&](traffic::Member& member) {
        std::array<unsigned char, sizeof(in6_addr)> bytes{};
        std::array<char, INET6_ADDRSTRLEN> text{};
        const int family = member.address.find(':') == std::string::npos ? AF_INET : AF_INET6;
        if (member.port == 0 || ::inet_pton(family, member.address.c_str(), bytes.data()) != 1) {
            problem = fmt::format("members: '{}' port {} is no address and port", member.address, member.port);
            return true;
        }
        member.address = ::inet_ntop(family, bytes.data(), text.data(), text.size());
        return false;
    });
    return members;
}

std::vector<traffic::Member> with_small_weights(traffic::Balance balance, std::vector<traffic::Member> members) {
    if (balance != traffic::Balance::random && balance != traffic::Balance::source) return members;
    constexpr unsigned largest_allowed = 64;
    unsigned common = 0, largest = 0;
    for (const auto& member : members) {
        common = std::gcd(common, static_cast<unsigned>(member.weight));
        largest = std::max(largest, static_cast<unsigned>(member.weight));
    }
    if (largest == 0) return members;
    const auto top = std::min(largest / common, largest_allowed);
    for (auto& member : members) {
        if (member.weight == 0) continue;
        member.weight = static_cast<std::uint16_t>(std::max(1U, (member.weight * top + largest / 2) / largest));
    }
    return members;
}

}  // namespace fairlead::proxy
