// The elements of a JSON array one by one, as texts, from bytes as they come: a list of 250,000 LRPs as one text or one
// JSON value would take as much memory as what is kept of it, or several times as much. Pure; used by the source over a
// Receptor.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::emitter {

class Elements {
public:
    explicit Elements(std::size_t max_element_bytes) : max_bytes_(max_element_bytes) {}

    // Calls `element` with the text of each that these bytes complete, in order. Errors: invalid, if the text is no
    // array; too_large. Nothing after an error is read. What is wrong inside an element is for who parses it.
    Result<void> add(std::string_view bytes, const std::function<void(std::string_view)>& element);
    // After the last byte. Errors: invalid, if the array has no end.
    [[nodiscard]] Result<void> end() const;

private:
    enum class Where { before, first, inside, after };  // first: nothing has come since the "["

    Result<void> outside(std::string_view bytes, std::size_t& at);
    Result<void> inside(std::string_view bytes, std::size_t& at, const std::function<void(std::string_view)>& element);
    Result<void> take(std::string_view text, const std::function<void(std::string_view)>& element);

    std::size_t max_bytes_;
    Where where_ = Where::before;
    std::string begun_;  // of an element, by bytes that came before
    std::size_t depth_ = 0;
    bool quoted_ = false, escaped_ = false;
    std::size_t passed_ = 0;  // bytes that came before
};

}  // namespace fairlead::emitter
