// What /metrics says about the DNS server, added up from what its threads counted. Pure.
#pragma once

#include <span>
#include <vector>

#include "base/metrics.h"
#include "dnsserver/tally.h"
#include "dnsserver/tcp_loop.h"
#include "dnsserver/udp_loop.h"
#include "dnsserver/zone_set.h"

namespace fairlead::dnsserver {

struct Counted {
    std::vector<const Tally*> tallies;
    std::vector<const UdpCounts*> udp;
    const TcpCounts* tcp = nullptr;
};

// fairlead_dns_queries_total and its like.
std::vector<SampleFamily> traffic_metrics(const Counted& counted);
// fairlead_dns_zone_serial and its like.
std::vector<SampleFamily> zone_metrics(const Snapshot& zones);
// fairlead_dns_set_answers_total: `sets` each, the others in one.
SampleFamily set_metrics(const Counted& counted, std::span<const SetLabels> sets);
inline constexpr std::size_t max_set_series = 10'000;

}  // namespace fairlead::dnsserver
