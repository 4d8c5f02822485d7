// A DNSRecord that a controller keeps for an object of somebody else: its spec, certain labels and the controller
// reference are the controller's, whoever edits them; the rest is anybody's. Pure.
#pragma once

#include "json/value.h"
#include "resource/kind.h"
#include "resource/kinds/dns_record.h"

namespace fairlead::controller {

// The object as the controller of what is made for it; its end takes that along.
resource::OwnerReference controller_reference(const resource::Kind& kind, const resource::ObjectMeta& metadata);

// Whether `present` has the spec, the labels and the first owner (if any) of `wanted`.
bool same_record(const resource::DnsRecord& present, const resource::DnsRecord& wanted);
// The stored record with what we keep of it as it should be.
json::Value mended(json::Value object, const resource::DnsRecord& wanted);

}  // namespace fairlead::controller
