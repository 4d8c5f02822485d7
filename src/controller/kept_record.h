// Writes of DNSRecords that controllers keep for others (owned_record.h), as requests: what makes a stored one the
// wanted one, what takes it away. Used by the reconcilers of this layer, which send several together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/client.h"
#include "control/informer.h"
#include "resource/kinds/dns_record.h"

namespace fairlead::controller {

// The write came too late: what it was about has changed, is gone, or is there already. That is news of its own, which
// brings the key back.
bool is_overtaken(const Error& error);

enum class Owners {
    with_others,  // the first of those that are wanted is the controller; owners that others added stay
    exactly,      // those that are wanted, and no more
};
// Nothing: it is so already, or is on its way out.
Result<std::optional<control::Request>> keeping(const control::Informer& records, const resource::DnsRecord& wanted,
                                                Owners owners = Owners::with_others);
// Names the very object that is stored. Nothing: it is gone, or on its way out.
std::optional<control::Request> removing(const control::Informer& objects, const std::string& key);

// The first error that is not just overtaken.
Result<void> carry_out(control::Client& client, std::vector<control::Request> requests);
Result<void> carry_out(control::Client& client, Result<std::optional<control::Request>> request);

}  // namespace fairlead::controller
