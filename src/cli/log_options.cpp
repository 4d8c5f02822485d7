#include "cli/log_options.h"

#include <fmt/core.h>

namespace fairlead::cli {

Result<void> fill_logging(const std::optional<std::string>& level, const std::optional<std::string>& format,
                          LogLevel& to_level, LogFormat& to_format) {
    if (level) {
        const auto known = parse_log_level(*level);
        if (!known) {
            return fail(Errc::invalid, "--log-level",
                        fmt::format("\"{}\" is none of debug, info, warn, error", *level));
        }
        to_level = *known;
    }
    if (format) {
        const auto known = parse_log_format(*format);
        if (!known) {
            return fail(Errc::invalid, "--log-format", fmt::format("\"{}\" is neither text nor json", *format));
        }
        to_format = *known;
    }
    return {};
}

}  // namespace fairlead::cli
