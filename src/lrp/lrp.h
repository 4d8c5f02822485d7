// Processes of Diego (desired LRPs) and their instances (actual LRPs), as far as routing is concerned. Values; made
// from our kinds DesiredLRP and ActualLRP (read.h) or from a Receptor's JSON. Used by the emitter, the router's agent
// and the controllers of LRPs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lrp/routes.h"

namespace fairlead::lrp {

// Orders versions of one LRP, whatever order news of it come in.
struct Tag {
    std::string epoch{};
    std::int64_t index = 0;
    bool operator==(const Tag&) const = default;
};
// Whether `news` is later than what is held: another epoch (or none), or a higher index of the same.
bool succeeded_by(const Tag& held, const Tag& news);

// A process. Its guid is unique within its scope: the namespace of our kinds, "" for a Receptor.
struct ProcessKey {
    std::string scope{}, guid{};
    auto operator<=>(const ProcessKey&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct Desired {
    ProcessKey key{};
    std::string name{};  // of our object, without its namespace; empty: it has none
    std::string uid{};
    std::string domain{};
    std::string app{};  // log_guid, what gorouter calls app; the process's guid if there is none
    std::int32_t instances = 1;
    std::vector<std::uint16_t> ports{};
    Routes routes{};
    std::map<std::string, std::string> labels{};
    Tag tag{};
    bool operator==(const Desired&) const = default;
};

struct MappedPort {
    std::uint16_t container = 0, host = 0;
    std::uint16_t host_tls = 0;  // where the same port takes TLS; 0: nowhere
    bool operator==(const MappedPort&) const = default;
};

// One record of an instance. While its cell is emptied an instance has two: an ordinary and an evacuating one.
struct Actual {
    ProcessKey process{};
    std::int32_t index = 0;
    bool evacuating = false;
    std::string instance_guid{}, domain{};
    bool running = false;  // in every other state nothing leads to it
    bool crashed = false;  // a Receptor shows such a one in place of its evacuating twin
    std::string address{};
    std::vector<MappedPort> ports{};
    std::int64_t since = 0;  // nanoseconds
    Tag tag{};
    bool operator==(const Actual&) const = default;
};

}  // namespace fairlead::lrp
