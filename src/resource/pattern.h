// Regular expressions for validation: linear time, no allocation and no recursion while matching, so that a hostile
// value can neither stall nor overflow a server thread (std::regex does both). Immutable, shared by all threads.
//
// Understood: literals, . (any byte), [classes] with ranges, negation and \d \w \s, escapes, (groups), (?:groups), |,
// * + ? {n} {n,} {n,m}, ^ and $. Bytes, not characters: a class cannot name a letter outside ASCII. The whole value
// must match, anchored or not.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::resource {

class Pattern {
public:
    // Errors: invalid (with the place), unsupported (look-around, back references), too_large.
    static Result<Pattern> compile(std::string_view regex);
    [[nodiscard]] bool matches(std::string_view text) const;

    // The largest pattern of Kubernetes' own kinds needs some dozens of states.
    static constexpr std::size_t max_states = 4096;

private:
    // A deterministic automaton: next_[state * classes_ + class_of_[byte]]; state 0 is the dead one, 1 the first.
    std::array<std::uint8_t, 256> class_of_{};
    std::size_t classes_ = 0;
    std::vector<std::uint16_t> next_;
    std::vector<bool> accepts_;
};

}  // namespace fairlead::resource
