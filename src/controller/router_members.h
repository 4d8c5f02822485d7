// What the instances of a Router come to: who is ready, and to whom the router's names lead. Instances register by
// themselves (RouterInstances) or are listed in spec.addresses. Pure; used by the controller router_status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "health/monitor.h"
#include "resource/kinds/router.h"
#include "resource/kinds/router_instance.h"

namespace fairlead::controller {

// Of a Router; further ones are left out, in the order of the list. Their addresses fit into one record set of each
// type (1,000), and into an object's status many times over.
inline constexpr std::size_t max_router_members = 512;

// "192.0.2.21:1936", "[2001:db8::1]:1936", "edge-1.example.net:1936"; nothing: no address with a port.
struct ProbePoint {
    std::string address;
    std::uint16_t port = 0;
};
std::optional<ProbePoint> parse_probe_point(std::string_view text);

// How an instance that registered is asked, and one that is only listed. An instance that dies fails both probes within
// 1 s, one that hangs within 1.5 s: the rest of the two seconds is for the writes and the DNS server.
std::optional<health::Probe> instance_probe(const resource::RouterInstance& instance);
health::Probe listed_probe(const resource::Router& router, const std::string& address);

struct MembersWorld {
    const resource::Router& router;
    std::vector<const resource::RouterInstance*> registered;  // in order of their names
    // Whether it has reported within its lease.
    std::function<bool(const resource::RouterInstance& instance)> fresh;
    // Whether it has been ready for long enough to be given the work back.
    std::function<bool(const std::string& name)> settled;
    std::map<health::Probe, health::Verdict> verdicts;
};

struct Members {
    std::vector<resource::RouterMember> list;  // listed ones first, as they are listed; then by name
    std::vector<health::Wanted> probes;
    std::size_t left_out = 0;
    bool waits = false;  // one that is ready waits until it has settled
};
Members members_of(const MembersWorld& world);

// What happened to instances between two states, for people.
struct MemberEvent {
    bool bad = false;
    std::string reason, message;
    bool operator==(const MemberEvent&) const = default;
};
std::vector<MemberEvent> member_events(const std::vector<resource::RouterMember>& before,
                                       const std::vector<resource::RouterMember>& after);

}  // namespace fairlead::controller
