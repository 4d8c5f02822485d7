// The lines of a master file: words, with parentheses, comments and quotes taken care of. Pure; used by the parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::provider::zonefile {

struct MasterLine {
    std::size_t number = 0;          // where it begins
    bool indented = false;           // the owner is that of the line before
    std::vector<std::string> words;  // as they stand, quotes and escapes included
};

class MasterLines {
public:
    explicit MasterLines(std::string_view text) : text_(text) {}
    // The next line that has words. Nothing at the end. Errors: invalid (a quote or parenthesis that does not end).
    Result<std::optional<MasterLine>> next();

private:
    Result<void> word(MasterLine& line);

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t number_ = 1;
};

// "300", "1h30m", "1D"; nothing if it is none, or over 2^31-1.
std::optional<std::uint32_t> parse_ttl(std::string_view text);

}  // namespace fairlead::provider::zonefile
