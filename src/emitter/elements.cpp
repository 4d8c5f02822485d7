#include "emitter/elements.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::emitter {

namespace {

constexpr std::string_view blanks = " \t\r\n";

// Where the value that begins at `at` ends: the "," or "]" behind it. npos: nowhere.
std::size_t end_of_value(std::string_view text, std::size_t at) {
    std::size_t depth = 0;
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c == '\\') {
                ++at;
            } else if (c == '"') {
                quoted = false;
            }
            continue;
        }
        switch (c) {
            case '"':
                quoted = true;
                break;
            case '{':
            case '[':
                ++depth;
                break;
            case '}':
            case ']':
                if (depth == 0) return at;
                --depth;
                break;
            case ',':
                if (depth == 0) return at;
                break;
            default:
                break;
        }
    }
    return std::string_view::npos;
}

}  // namespace

Result<void> for_each_element(std::string_view array, const std::function<void(std::string_view)>& element) {
    auto at = array.find_first_not_of(blanks);
    if (at == std::string_view::npos || array[at] != '[') {
        return fail(Errc::invalid, fmt::format("\"{}\" is no JSON array", valid_utf8(array.substr(0, 40))));
    }
    ++at;
    if (const auto next = array.find_first_not_of(blanks, at); next != std::string_view::npos && array[next] == ']') {
        at = next;
    } else {
        for (;;) {
            const auto end = end_of_value(array, at);
            if (end == std::string_view::npos) return fail(Errc::invalid, "the JSON array has no end");
            const auto text = trim(array.substr(at, end - at));
            if (text.empty()) return fail(Errc::invalid, fmt::format("the JSON array lacks a value at byte {}", at));
            element(text);
            at = end;
            if (array[end] == ']') break;
            if (array[end] == '}') return fail(Errc::invalid, fmt::format("\"}}\" at byte {} closes nothing", end));
            ++at;
        }
    }
    if (array.find_first_not_of(blanks, at + 1) != std::string_view::npos) {
        return fail(Errc::invalid, fmt::format("something follows the JSON array at byte {}", at + 1));
    }
    return {};
}

}  // namespace fairlead::emitter
