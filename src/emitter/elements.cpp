#include "emitter/elements.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::emitter {

namespace {

constexpr std::string_view blanks = " \t\r\n";

}  // namespace

Result<void> Elements::outside(std::string_view bytes, std::size_t& at) {
    at = std::min(bytes.find_first_not_of(blanks, at), bytes.size());
    if (at == bytes.size()) return {};
    if (where_ == Where::after) {
        return fail(Errc::invalid, fmt::format("something follows the JSON array at byte {}", passed_ + at));
    }
    if (where_ == Where::before) {
        if (bytes[at] != '[') {
            return fail(Errc::invalid, fmt::format("\"{}\" is no JSON array", valid_utf8(bytes.substr(at, 40))));
        }
        where_ = Where::first;
        ++at;
        return {};
    }
    const bool empty = bytes[at] == ']';
    where_ = empty ? Where::after : Where::inside;
    if (empty) ++at;
    return {};
}

Result<void> Elements::take(std::string_view text, const std::function<void(std::string_view)>& element) {
    if (!begun_.empty()) {
        begun_ += text;
        text = begun_;
    }
    text = trim(text);
    if (text.empty()) return fail(Errc::invalid, "the JSON array lacks a value");
    element(text);
    begun_.clear();
    return {};
}

// Up to the end of the element that is under way, and the "," or "]" behind it.
Result<void> Elements::inside(std::string_view bytes, std::size_t& at,
                              const std::function<void(std::string_view)>& element) {
    const auto from = at;
    for (; at < bytes.size(); ++at) {
        const char c = bytes[at];
        if (quoted_) {
            if (escaped_) {
                escaped_ = false;
            } else if (c == '\\') {
                escaped_ = true;
            } else if (c == '"') {
                quoted_ = false;
            }
            continue;
        }
        if (c == '"') {
            quoted_ = true;
        } else if (c == '{' || c == '[') {
            ++depth_;
        } else if (depth_ > 0) {
            if (c == '}' || c == ']') --depth_;
        } else if (c == '}') {
            return fail(Errc::invalid, fmt::format("\"}}\" at byte {} closes nothing", passed_ + at));
        } else if (c == ',' || c == ']') {
            auto taken = take(bytes.substr(from, at - from), element);
            if (c == ']') where_ = Where::after;
            ++at;
            return taken;
        }
    }
    if (begun_.size() + at - from > max_bytes_) {
        return fail(Errc::too_large, fmt::format("an element has more than {} bytes", max_bytes_));
    }
    begun_ += bytes.substr(from);
    return {};
}

Result<void> Elements::add(std::string_view bytes, const std::function<void(std::string_view)>& element) {
    for (std::size_t at = 0; at < bytes.size();) {
        auto done = where_ == Where::inside ? inside(bytes, at, element) : outside(bytes, at);
        if (!done) return done;
    }
    passed_ += bytes.size();
    return {};
}

Result<void> Elements::end() const {
    if (where_ == Where::before) return fail(Errc::invalid, "nothing is no JSON array");
    if (where_ != Where::after) return fail(Errc::invalid, "the JSON array has no end");
    return {};
}

}  // namespace fairlead::emitter
