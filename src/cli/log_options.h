// What --log-level and --log-format mean, alike for every command that runs for long. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "base/result.h"

namespace fairlead::cli {

// What was not said stays as it is. Errors: invalid, naming the flag.
Result<void> fill_logging(const std::optional<std::string>& level, const std::optional<std::string>& format,
                          LogLevel& to_level, LogFormat& to_format);

}  // namespace fairlead::cli
