// What SkyDNS answers, as record sets: SRV, A and AAAA of a name from all services at or below it. Pure; used by the
// controller that keeps them as DNSRecords.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "skydns/service.h"

namespace fairlead::skydns {

// One record set in text form.
struct RecordSet {
    std::string name, type;
    std::uint32_t ttl = 0;
    std::vector<std::string> targets;  // in order, each once
    bool operator==(const RecordSet&) const = default;
};

// Services that one name answers with; of more, the first by priority, index, host and mark. 500 SRV records take 20 to
// 60 kB of the 64 kB that a message has, and nobody chooses among more.
inline constexpr std::size_t max_answered = 500;
inline constexpr std::size_t max_srv_bytes = 55'000;

// Of several services with different TTLs the smallest counts. A share is floor(100 w / sum of w at that priority), at
// least 1; the target is the service's own name, or its address if that is a name. A and AAAA are the distinct
// addresses of that family. Empty if there is no service.
std::vector<RecordSet> answers(std::string_view name, std::vector<Service> services);

// The names below a host that answer: of each index, and of each service itself. `services`: of this host, in any
// order.
std::vector<RecordSet> answers_below(std::string_view host, const std::vector<Service>& services);

}  // namespace fairlead::skydns
