// Asks the resolvers of the machine (/etc/resolv.conf), or given ones, for the addresses of a host: DNS over UDP, over
// TCP where an answer does not fit. Every wait has a limit. Any thread; each call blocks.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/result.h"
#include "lookup/lookups.h"
#include "lookup/question.h"
#include "net/tcp_client.h"

namespace fairlead::lookup {

inline constexpr std::uint16_t dns_port = 53;

// Limits: 8 servers, 1 to 5 s, 1 to 5 rounds; with the defaults of resolv.conf one dead server costs 10 s at most.
struct ResolverSettings {
    std::vector<net::HostPort> servers{};
    std::chrono::milliseconds timeout{5'000};  // of each server each time
    int attempts = 2;                          // rounds over all servers
    bool operator==(const ResolverSettings&) const = default;
};

// resolv.conf(5): nameserver lines, options timeout and attempts. Without a server: 127.0.0.1, as the C library.
ResolverSettings parse_resolv_conf(std::string_view text);

class StubResolver final : public Resolver {
public:
    StubResolver(ResolverSettings settings, const Clock& clock, Random& random);
    // The file is read again at each call.
    StubResolver(std::filesystem::path resolv_conf, const Clock& clock, Random& random);

    // Where a server fails for one family (broken ones do for AAAA), the other's addresses are the answer.
    Result<Addresses> resolve(const std::string& host) override;
    // Calls that wait end soon, further ones at once.
    void stop() { stopped_ = true; }

private:
    [[nodiscard]] ResolverSettings settings() const;
    // Errors: not_found (the name does not exist), unavailable, timeout.
    Result<Reply> ask(const ResolverSettings& settings, const dns::Name& name, dns::RecordType type);
    Result<Reply> ask_server(const net::HostPort& server, const Question& question, std::chrono::milliseconds timeout);
    Result<Reply> ask_udp(const net::HostPort& server, const Question& question, std::chrono::milliseconds timeout);
    Result<Reply> ask_tcp(const net::HostPort& server, const Question& question, std::chrono::milliseconds timeout);

    std::filesystem::path file_;
    ResolverSettings fixed_;
    const Clock& clock_;
    Random& random_;
    std::atomic<bool> stopped_ = false;
};

}  // namespace fairlead::lookup
