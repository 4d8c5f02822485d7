#include "proxy/ports.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memory>

#include "base/files.h"
#include "base/text.h"
#include "net/handles.h"

namespace fairlead::proxy {

namespace {

// A list for people ends here; the rest is counted.
constexpr std::size_t most_told = 8;

// Numbers of the sockets that the process has open.
void add_sockets(pid_t process, std::set<std::string>& numbers) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(fmt::format("/proc/{}/fd", process), error), end;
         !error && entry != end; entry.increment(error)) {
        std::error_code gone;
        const auto link = std::filesystem::read_symlink(entry->path(), gone).string();
        constexpr std::string_view begin = "socket:[";
        if (!gone && link.starts_with(begin)) numbers.insert(link.substr(begin.size(), link.size() - begin.size() - 1));
    }
}

// Lines of /proc/net/tcp: "0: 0100007F:F2DA 00000000:0000 0A ... uid timeout inode".
void add_ports(const std::string& file, std::string_view state, const std::set<std::string>& sockets,
               std::set<std::uint16_t>& ports) {
    const auto text = read_file(file).value_or("");
    for (const auto line : split(text, '\n')) {
        std::vector<std::string_view> words;
        for (const auto word : split(line, ' ')) {
            if (!word.empty()) words.push_back(word);
        }
        constexpr std::size_t local = 1, status = 3, number = 9;
        if (words.size() <= number || words[status] != state) continue;
        if (!sockets.contains(std::string(words[number]))) continue;
        const auto colon = words[local].rfind(':');
        if (colon == std::string_view::npos) continue;
        const auto hex = words[local].substr(colon + 1);
        unsigned port = 0;
        if (std::from_chars(hex.data(), hex.data() + hex.size(), port, 16).ec != std::errc{}) continue;
        ports.insert(static_cast<std::uint16_t>(port));
    }
}

}  // namespace

std::string in_use_text(traffic::Transport transport, const std::set<std::uint16_t>& ports) {
    if (ports.empty()) return {};
    std::set<std::uint16_t> told;
    std::copy_n(ports.begin(), std::min(ports.size(), most_told), std::inserter(told, told.end()));
    const auto more = ports.size() - told.size();
    return fmt::format("{} port{} {}{} {} in use on this machine by somebody else", name_of(transport),
                       ports.size() == 1 ? "" : "s", PortRanges(told).text(),
                       more > 0 ? fmt::format(" and {} more", more) : "", ports.size() == 1 ? "is" : "are");
}

bool can_bind(traffic::Transport transport, const std::string& host, std::uint16_t port) {
    const bool tcp = transport == traffic::Transport::tcp;
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    const auto address = bracketed ? host.substr(1, host.size() - 2) : host;
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    hints.ai_socktype = tcp ? SOCK_STREAM : SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(address.c_str(), fmt::format("{}", port).c_str(), &hints, &found) != 0) return false;
    const std::unique_ptr<addrinfo, net::Free<::freeaddrinfo>> owner(found);
    const net::Fd fd(::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0));
    const int on = 1;
    // For TCP: connections of a former listener that have just ended are nobody's. For UDP it would mean to share.
    if (tcp) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (found->ai_family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    // Without listening: nobody shall connect here in between.
    return ::bind(fd.get(), found->ai_addr, found->ai_addrlen) == 0;
}

std::set<pid_t> family_of(pid_t master) {
    std::set<pid_t> family{master};
    const auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", master)).value_or("");
    for (const auto word : split(trim(children), ' ')) {
        if (const auto pid = parse_int(word)) family.insert(static_cast<pid_t>(*pid));
    }
    return family;
}

std::set<std::uint16_t> ports_of(traffic::Transport transport, const std::set<pid_t>& processes) {
    std::set<std::string> sockets;
    for (const auto process : processes) add_sockets(process, sockets);
    std::set<std::uint16_t> ports;
    const bool tcp = transport == traffic::Transport::tcp;
    // Listening, or bound and not connected.
    for (const auto* version : {"", "6"}) {
        add_ports(fmt::format("/proc/net/{}{}", name_of(transport), version), tcp ? "0A" : "07", sockets, ports);
    }
    return ports;
}

std::set<std::uint16_t> busy_ports(traffic::Transport transport, const std::vector<std::string>& hosts,
                                   const PortRanges& ranges, const std::set<std::uint16_t>& own) {
    std::set<std::uint16_t> busy;
    for (const auto& range : ranges.ranges()) {
        for (unsigned number = range.first; number <= range.last; ++number) {
            const auto port = static_cast<std::uint16_t>(number);
            if (own.contains(port)) continue;
            const bool free = std::all_of(hosts.begin(), hosts.end(),
                                          [&](const auto& host) { return can_bind(transport, host, port); });
            if (!free) busy.insert(port);
        }
    }
    return busy;
}

}  // namespace fairlead::proxy
