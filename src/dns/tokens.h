// The words of a record's text: separated by blanks, quoted where they hold blanks themselves. Used inside this layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/name.h"

namespace fairlead::dns {

struct Token {
    std::string text;      // escapes and quotes taken off
    std::string_view raw;  // as it stands; lives as long as the text that was split
    bool quoted = false;   // the whole word stood in quotes
};

// A name that data points to: not an address, which would be a name too, of labels that are numbers, but whoever writes
// one expects that it is gone to.
Result<Name> parse_target(std::string_view text);

class Tokens {
public:
    // Errors: a quote that does not end, a broken escape.
    static Result<Tokens> split(std::string_view text);

    [[nodiscard]] bool empty() const { return next_ == all_.size(); }
    // The next word. Errors: there is none; `what` names it.
    Result<Token> take(std::string_view what);
    // The next word as a number up to `most`, or as a domain name.
    Result<std::uint32_t> number(std::string_view what, std::uint32_t most);
    Result<Name> name(std::string_view what);
    // Errors: words are left.
    [[nodiscard]] Result<void> end() const;

private:
    std::vector<Token> all_;
    std::size_t next_ = 0;
};

// `text` with quotes around it and escapes in it, as master files want strings.
std::string quoted(std::string_view text);

}  // namespace fairlead::dns
