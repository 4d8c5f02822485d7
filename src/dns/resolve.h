// The oracle: what an authoritative server must answer, with every possible answer, its probability and why. Written to
// be obviously right rather than fast; the server, each provider's compilation and `explain` agree with it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fwd.h"
#include "dns/name.h"
#include "dns/record_type.h"
#include "dns/wire.h"
#include "dns/zone_source.h"

namespace fairlead::dns {

inline constexpr std::size_t max_chain = 16;  // CNAME links in one answer; more is an error of the zone
// Names that are visited to learn whether a target leads to anything healthy; behind that many it counts as healthy.
// The server also ends all such searches of one question after max_question_visits: a limit that only trees which were
// made for it reach, and where the two may differ.
inline constexpr std::size_t max_health_visits = 256;
inline constexpr std::size_t max_question_visits = 2'048;
inline constexpr std::uint16_t type_delegation_signer = 43;
// Targets of SRV records whose addresses come along (RFC 2782); those of the others are asked for.
inline constexpr std::size_t max_srv_targets = 128;
inline constexpr std::size_t srv_target_at = 6;  // behind priority, weight and port

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
    // A place was asked for on the way. Where not, the answer may be given to anybody (RFC 7871: scope 0), even if
    // another outcome of the same question depends on the place.
    bool by_place = false;
    std::vector<Record> answer, authority, additional;
    std::vector<std::string> why;  // one line per step, for a person
};

// One variant of a set that was asked, whether it has a share or not.
struct Branch;

// One name on the way: what was asked there, and what became of each of its variants.
struct Step {
    Name name;
    std::optional<Name> wildcard;    // whose sets answered for it
    std::optional<RecordType> type;  // of the set that answered; none: the way ends here
    std::string why;                 // how was chosen, or why the way ends
    std::vector<Branch> branches;    // in the order of the zone
};

struct Branch {
    std::string set_identifier;
    std::uint32_t ttl = 0;
    std::optional<GeoCode> geo;
    std::optional<unsigned> weight;
    std::vector<std::string> data;       // wire form
    std::vector<std::string> unhealthy;  // of those, the ones that do not serve
    double share = 0;                    // of what comes to this set; 0: not chosen
    std::string why_not;                 // why it has no share
    std::vector<Step> next;              // where a CNAME leads, at most one; none where the answer ends
};

struct Resolution {
    std::vector<Outcome> outcomes;  // their probabilities add up to 1, if it is complete
    bool by_place = false;          // a client elsewhere might get other outcomes
    bool complete = true;           // false: there are more outcomes than the limits below allow
    Step way;                       // from the question on
};

// A tree of names may lead to far more outcomes than anybody can read.
inline constexpr std::size_t max_outcomes = 4'096;
inline constexpr std::size_t max_lookups = 500'000;  // names looked at, health included

Resolution resolve(const ZoneSource& zones, const Question& question, const Place& client);

// How long a resolver may keep the outcome: the smallest TTL of its records, that of the SOA of a negative answer
// included. None if there is nothing to keep.
std::optional<std::uint32_t> ttl_of(const Outcome& outcome);

// One of the outcomes, each as often as its probability says.
const Outcome& draw(const Resolution& resolution, Random& random);

}  // namespace fairlead::dns
