// What Diego's Receptor demands of actions and egress rules, whichever front a DesiredLRP comes through: the kind tells
// place, value and rule, the Receptor API the field alone. Pure.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "resource/path.h"

namespace fairlead::resource {

struct BrokenLrpRule {
    const Path& at;
    std::string_view field;    // in the Receptor's words, the innermost: "path" of action.run.path
    const json::Value* value;  // null: it is missing
    std::string_view rule;
};
using TellBroken = std::function<void(const BrokenLrpRule&)>;

// An object with one member, its kind: {"run": {...}}. Nesting is bounded by that of JSON texts.
void check_lrp_action(const json::Value& action, const Path& at, const TellBroken& tell);
// Ports of the container: 1..65535, each once.
struct BrokenLrpPort {
    std::size_t index;
    bool repeated;  // else it is no port
};
inline constexpr std::string_view lrp_port_rule = "must be between 1 and 65535";
std::vector<BrokenLrpPort> broken_lrp_ports(const json::Array& ports);
void check_egress_rule(const json::Value& rule, const Path& at, const TellBroken& tell);

}  // namespace fairlead::resource
