// A stored DNSRecord, read as far as serving it needs: straight from its JSON, since a million endpoints pass here when
// a server starts. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "dns/endpoint.h"
#include "store/object.h"

namespace fairlead::dnsfeed {

struct RecordText {
    std::string uid, dns_name, managed_zone;
    std::int64_t generation = 0;
    std::int64_t created = 0;  // seconds
    std::vector<dns::Endpoint> endpoints;
    std::vector<std::string> unhealthy;
};

// Errors: invalid, when it is no JSON object.
Result<RecordText> read_record(const store::Object& object);

// The names of its endpoints alone, as they stand there.
std::vector<std::string> read_names(const store::Object& object);

}  // namespace fairlead::dnsfeed
