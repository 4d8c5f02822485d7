// Whose an address is: a group of VM endpoints wants the name of the VM with each address. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace fairlead::gce {

struct Instance {
    std::string zone, name;
    bool operator==(const Instance&) const = default;
};

class Instances {
public:
    // One page of instances.list of a zone: primary addresses and alias ranges.
    void add(const std::string& zone, const json::Value& page);
    // Of an IPv4 address.
    [[nodiscard]] std::optional<Instance> find(std::string_view address) const;

private:
    struct Range {
        std::uint32_t first = 0, last = 0;
        Instance owner;
    };
    std::map<std::uint32_t, Instance> addresses_;
    std::vector<Range> ranges_;
};

std::optional<std::uint32_t> parse_ipv4(std::string_view text);

}  // namespace fairlead::gce
