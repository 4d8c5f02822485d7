// A record set as a DNSRecord states it, in text, and what it comes to: a claim on one name and type of a zone, or why
// it cannot be served. Used by the feed (src/dnsfeed). Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/labels.h"
#include "dns/name.h"
#include "dns/record_type.h"
#include "dns/zone.h"

namespace fairlead::dns {

// What one answer can carry: a message has 65,535 bytes, of which header, question, chain and EDNS take their part.
inline constexpr std::size_t max_set_bytes = 60'000;
inline constexpr std::size_t max_identifier_bytes = 255;  // what a compiled set has room for

struct Property {
    std::string name, value;
    bool operator==(const Property&) const = default;
};

struct Endpoint {
    std::string dns_name, record_type;
    std::optional<std::int64_t> ttl;
    std::string set_identifier;
    std::vector<Property> properties;  // those that are not ours (other providers') are ignored
    std::vector<std::string> targets;
    Labels labels;  // what the planner knows about it ("owner", "resource"), never served
    bool operator==(const Endpoint&) const = default;
};

// status.unhealthyTargets: texts that count for whatever type they can be read as, however they are spelt.
class UnhealthyTargets {
public:
    UnhealthyTargets() = default;
    explicit UnhealthyTargets(std::vector<std::string> texts) : texts_(std::move(texts)) {}
    [[nodiscard]] bool empty() const { return texts_.empty(); }
    // Wire forms of those that are data of this type.
    const std::set<std::string>& of(RecordType type);

private:
    std::vector<std::string> texts_;
    std::map<RecordType, std::set<std::string>> by_type_;
};

// What an endpoint's zone adds to it.
struct ClaimTerms {
    const Name& apex;
    std::uint32_t default_ttl = 300;
    UnhealthyTargets& unhealthy;
};

struct Claim {
    Name name;
    RecordType type = RecordType::a;
    Variant variant;
    bool operator==(const Claim&) const = default;
};

// The type that it states; one that is not stated follows from the targets, of which there is at least one. Errors:
// invalid, as those of claim_of.
Result<RecordType> type_of(const Endpoint& endpoint, std::size_t index);

// Errors: invalid; the field is "spec.endpoints[index]...", the message says value and rule.
Result<Claim> claim_of(const Endpoint& endpoint, std::size_t index, const ClaimTerms& terms);

}  // namespace fairlead::dns
