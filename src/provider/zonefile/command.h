// Runs a program to its end, without a shell, within a time limit. Any thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace fairlead::provider::zonefile {

// Standard error of the program, cut to max_output_bytes. Errors: unavailable: it cannot be started, ends with another
// code than 0 (says which, and what it wrote) or takes too long (then it is killed, with what it has started).
inline constexpr std::size_t max_output_bytes = 2'000;
Result<void> run_command(const std::vector<std::string>& words, std::chrono::milliseconds limit, const Clock& clock);

}  // namespace fairlead::provider::zonefile
