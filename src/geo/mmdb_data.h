// The data section of an MMDB file (MaxMind DB file format 2.0): enough of it to find a text by its path. Every byte is
// foreign: nothing is read outside the section, and nesting and pointers have limits. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace fairlead::geo {

class MmdbData {
public:
    explicit MmdbData(std::string_view bytes) : bytes_(bytes) {}

    // A key of a map, or a place in an array.
    using Step = std::variant<std::string_view, std::size_t>;
    // The text at the end of the path; nothing if the path does not lead to a text. Errors: corrupt, saying where.
    [[nodiscard]] Result<std::optional<std::string_view>> text(std::size_t offset, const std::vector<Step>& path) const;
    // Whether the value at `offset` can be read whole by somebody who calls himself for each level.
    [[nodiscard]] Result<void> check_depth(std::size_t offset) const;

private:
    enum class Type { pointer, text, map, array, plain };
    struct Item {
        Type type = Type::plain;
        std::size_t size = 0;    // bytes of a text, pairs of a map, values of an array; target of a pointer
        std::size_t behind = 0;  // where its content begins; behind a pointer
        std::size_t skip = 0;    // where the next item begins, for what is not a map or an array
    };
    [[nodiscard]] Result<Item> item(std::size_t offset) const;
    [[nodiscard]] Result<Item> follow(std::size_t offset) const;
    [[nodiscard]] Result<std::size_t> skip(std::size_t offset) const;
    [[nodiscard]] Result<std::optional<std::size_t>> enter(std::size_t offset, const Step& step) const;

    std::string_view bytes_;
};

}  // namespace fairlead::geo
