// What the oracle said about a question, as JSON for people and programs. Its shape is documented in docs/dns.md and
// does not change. Pure.
#pragma once

#include <cstdint>

#include "dns/resolve.h"
#include "dnsinfo/client.h"
#include "json/value.h"

namespace fairlead::dnsinfo {

struct Explained {
    const dns::Question& question;
    const Client& client;
    const dns::Name& zone;  // that answers
    std::uint32_t serial = 0;
    const dns::Resolution& resolution;
};

json::Value explanation(const Explained& explained);

}  // namespace fairlead::dnsinfo
