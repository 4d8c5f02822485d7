// The DNS server as one object: sockets, threads and figures around zones that somebody else changes. Made in main;
// answers from its start to stop(), whatever happens to the rest of the process.
//
// Threads: a thread for each UDP socket and one for all of TCP are its own; start, stop and next_looped() belong to
// whoever made it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/random.h"
#include "base/result.h"
#include "dns/name.h"
#include "dnsserver/answer.h"
#include "dnsserver/listen.h"
#include "dnsserver/message_source.h"
#include "dnsserver/places.h"
#include "dnsserver/tally.h"
#include "dnsserver/tcp_connection.h"
#include "dnsserver/zone_set.h"

namespace fairlead::dnsserver {

// Each needs a place among the readers of zones; others need some too.
inline constexpr std::size_t max_udp_threads = 128;

// A thread per core, but at most four: an answer costs 2 to 4 us, and the API wants cores too.
std::size_t default_dns_threads();

struct DnsServerOptions {
    std::vector<ListenAddress> listen;
    std::size_t threads = 1;  // for UDP, of each address
    bool pin = false;         // each UDP thread stays on one of the cores that the process may use
    AnswerSettings answers;
    TcpLimits tcp;
};

struct DnsServerParts {
    ZoneSet& zones;
    Places& places;
    AnswerSpecial special;  // may be empty
    // Whoever answers the special ones counts too; may be null.
    const Tally* special_tally = nullptr;
    const Clock& clock;
    Random& random;  // seeds the workers; asked at start only
    Log& log;
    Metrics& metrics;
};

class DnsServer {
public:
    // Answers when it returns. Errors: invalid (threads), unavailable (an address, with what to do about it).
    static Result<std::unique_ptr<DnsServer>> start(DnsServerOptions options, DnsServerParts parts);
    ~DnsServer();
    DnsServer(const DnsServer&) = delete;
    DnsServer& operator=(const DnsServer&) = delete;

    // In the order of the options, with the ports that were chosen.
    [[nodiscard]] const std::vector<ListenAddress>& addresses() const;
    // A name whose chain was found to lead nowhere, if there was one since the last time. Not all of them: one at a
    // time per worker.
    std::optional<dns::Name> next_looped();
    // No answer after it. Idempotent.
    void stop();

private:
    struct Impl;
    explicit DnsServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::dnsserver
