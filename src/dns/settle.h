// Who gets a name: all claims on it, in the order of their age, become the record sets that are served and the claims
// that lost. Used by the feed (src/dnsfeed). Pure; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "dns/endpoint.h"
#include "dns/zone.h"

namespace fairlead::dns {

// With identifiers, of one name and type; each is looked at for each answer. Route 53 allows 100.
inline constexpr std::size_t max_sets_per_type = 256;

// Who claims: the order is the order of precedence.
struct Claimant {
    bool guest = true;           // false: the zone itself (its name servers), which comes before every record
    std::int64_t created = 0;    // seconds, as metadata.creationTimestamp
    std::uint64_t revision = 0;  // of the store, that created it: which of one second is older
    std::string key;             // "namespace/name"
    std::size_t endpoint = 0;    // index in the record
    auto operator<=>(const Claimant&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct Contender {
    Claimant claimant;
    RecordType type = RecordType::a;
    Variant variant;
};

struct Loss {
    Claimant claimant, winner;  // of one set too many: one of those that are there
    std::string why;  // for a person: "A of www.example.com is claimed by DNSRecord default/www, which is older"
    bool operator==(const Loss&) const = default;
};

struct Settled {
    Sets sets;                 // variants by set identifier
    std::vector<Loss> losses;  // in the order of the claimants
};

// The oldest claim counts; a later one is refused if the same type and set identifier is taken, if it would put a CNAME
// beside other types, or a set without identifier beside those with one, or be one set too many.
Settled settle(const Name& name, std::vector<Contender> contenders);

}  // namespace fairlead::dns
