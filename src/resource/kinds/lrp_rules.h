// What Diego's Receptor demands of actions and egress rules, whichever front a DesiredLRP comes through: the kind tells
// place, value and rule, the Receptor API the field alone. Pure.
#pragma once

#include <functional>
#include <string_view>

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
void check_egress_rule(const json::Value& rule, const Path& at, const TellBroken& tell);

}  // namespace fairlead::resource
