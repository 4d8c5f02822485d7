// DNSRecords for services of the provider `skydns` (src/skydns): which there should be for one name, in one namespace
// and zone. Pure; used by lrp_dns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "resource/kinds/dns_record.h"
#include "skydns/directory.h"

namespace fairlead::controller {

// On every record that is made here; spec.dnsName is the name it is for.
inline constexpr std::string_view sky_label = "fairlead.dev/skydns";
inline constexpr std::string_view sky_label_value = "lrp";

struct SkyName {
    std::string namespace_;  // of the processes, the zone and the records
    std::string name;        // a host of services, or a name above such
    std::string zone;        // the ManagedZone that covers it
};

// The first has what the name itself answers, and what is below it of the first hundred indices; others have the next
// hundreds, so that a change of one instance writes what is near it. Without owners. Empty: nothing is at the name or
// below.
std::vector<resource::DnsRecord> sky_records(const skydns::Directory& directory, const SkyName& name);

}  // namespace fairlead::controller
