// What is known of the addresses behind a host, for `explain`: from the DNSPolicy that publishes it, if the caller may
// read it. Asks the server; one thread.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"

namespace fairlead::cli {

struct Session;

struct AddressHealth {
    std::string cluster, address;
    std::string state;  // "Healthy", "Unhealthy", "Unknown"
    std::string since, reason, last_answer;
};

// By cluster and address; empty where nobody checks, or where the caller may not know. `host` as the listener has it,
// with its wildcard.
std::vector<AddressHealth> health_of(const std::string& host, Session& session);

// As `-o json` has it.
json::Value health_json(const std::vector<AddressHealth>& health);

}  // namespace fairlead::cli
