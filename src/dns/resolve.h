// The oracle: what an authoritative server must answer, with every possible answer, its probability and why. Written to
// be obviously right rather than fast; the server, each provider's compilation and `explain` agree with it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fwd.h"
#include "dns/name.h"
#include "dns/record_type.h"
#include "dns/zone_source.h"

namespace fairlead::dns {

inline constexpr std::size_t max_chain = 16;  // CNAME links in one answer; more is an error of the zone
// Names that are visited to learn whether a target leads to anything healthy; behind that many it counts as healthy.
inline constexpr std::size_t max_health_visits = 256;
inline constexpr std::uint16_t type_any = 255;  // answered with one set (RFC 8482)

struct Question {
    Name name;
    std::uint16_t type = 0;
};

struct Record {
    Name owner;
    RecordType type = RecordType::a;
    std::uint32_t ttl = 0;
    std::string data;  // wire form
    bool operator==(const Record&) const = default;
};

enum class Rcode { noerror = 0, servfail = 2, nxdomain = 3, refused = 5 };

struct Outcome {
    double probability = 1;
    Rcode rcode = Rcode::noerror;
    bool authoritative = true;
    std::vector<Record> answer, authority, additional;
    std::vector<std::string> why;  // one line per step, for a person
};

struct Resolution {
    std::vector<Outcome> outcomes;  // their probabilities add up to 1
    bool by_place = false;          // a client elsewhere might get other outcomes
};

Resolution resolve(const ZoneSource& zones, const Question& question, const Place& client);

// One of the outcomes, each as often as its probability says.
const Outcome& draw(const Resolution& resolution, Random& random);

}  // namespace fairlead::dns
