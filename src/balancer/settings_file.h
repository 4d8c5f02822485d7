// Reads the file of `serve --balancers FILE`: YAML or JSON into Settings. Pure but for the two functions that secrets
// come from.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "balancer/settings.h"
#include "base/result.h"

namespace fairlead::balancer {

struct SecretSources {
    std::function<Result<std::string>(const std::string& path)> file;
    std::function<std::optional<std::string>(const std::string& variable)> environment;
};

// Errors: invalid, with the field, the value and the rule ("providers[1].timeout: '15x' is no duration ...").
Result<Settings> parse_settings(std::string_view text, const SecretSources& secrets);

}  // namespace fairlead::balancer
