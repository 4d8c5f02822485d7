// What `wait` waits for: a pure reading of --for, and whether an object fulfils it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace fairlead::cli {

struct WaitFor {
    enum class Kind { condition, deletion, path } kind = Kind::condition;
    std::string condition;  // its type
    std::vector<std::string> path;
    std::string path_text;
    std::optional<std::string> value;  // of the condition ("True" unless said) or path (nothing = anything there)
};

// "condition=Ready", "condition=Ready=False", "delete", "jsonpath={.status.phase}=Bound".
Result<WaitFor> parse_wait_for(std::string_view text);

// `object` null: it does not exist (any more).
bool met(const WaitFor& wanted, const json::Value* object);

// How it stands now, for the message when time runs out: `condition Ready is False (NoRouter: ...)`.
std::string current_state(const WaitFor& wanted, const json::Value* object);

}  // namespace fairlead::cli
