// Who may copy which zone, with which key. A value, made from ManagedZones and their Secrets, published whole.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dns/address.h"
#include "dns/name.h"
#include "dns/tsig.h"

namespace fairlead::dnsserver {

struct TransferPeer {
    dns::Prefix network;
    std::uint16_t port = 53;       // for NOTIFY
    std::optional<dns::Name> key;  // requests must be signed with it, and NOTIFY is; none: the address is enough
    bool notify = true;            // only where `network` is one address
    bool operator==(const TransferPeer&) const = default;
};

struct TransferPolicy {
    std::map<dns::Name, std::vector<TransferPeer>> peers;  // by apex
    std::map<dns::Name, dns::TsigKey> keys;                // by name
    bool operator==(const TransferPolicy&) const = default;
};

}  // namespace fairlead::dnsserver
