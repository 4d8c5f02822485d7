// Where a command reads and writes: injected, so that tests see what a person would see. One thread.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace fairlead::cli {

enum class Style { plain, bold, dim, red, green, yellow };

struct Terminal {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    const Clock& clock;
    bool colour = false;  // out is a terminal and NO_COLOR is not set
    std::function<void(std::chrono::milliseconds)> sleep;
    // Environment variables, "" if unset.
    std::function<std::string(const std::string&)> environment;

    // The text with colour codes around it, or as it is when there is no colour.
    [[nodiscard]] std::string styled(std::string_view text, Style style) const;
};

// The colour that a status word deserves: green for fine, yellow for waiting, red for broken.
Style style_of_word(std::string_view word);

// Columns a text takes on a terminal: code points, not bytes. (East Asian wide characters count as one.)
std::size_t display_width(std::string_view text);

// "75%", "33.33%", "0.4%": as many digits as it takes, at most two behind the point.
std::string percent_text(double share);

// Server texts go through this before they reach a terminal: control characters could move the cursor or set the title.
std::string printable(std::string_view text);

}  // namespace fairlead::cli
