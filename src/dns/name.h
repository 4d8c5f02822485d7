// A domain name as a value: always absolute, kept in wire form (length, label, ..., 0) in lower case, so that equality
// is equality of bytes and a compiled zone can copy it. Who must give back the case of a question copies the question.
// Pure; any thread.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::dns {

inline constexpr std::size_t max_name_bytes = 255;  // RFC 1035 section 2.3.4, the final 0 included
inline constexpr std::size_t max_label_bytes = 63;

class Name {
public:
    Name() : wire_(1, '\0') {}  // the root

    // Text as people write it: "shop.example.com" with or without the dot at its end, "*", RFC 1035 escapes (\. \042).
    // Letters outside ASCII are taken as an internationalised name and become their A-labels.
    static Result<Name> parse(std::string_view text);
    // The name that begins `bytes`, without compression; what follows it is ignored.
    static Result<Name> from_wire(std::string_view bytes);

    [[nodiscard]] const std::string& wire() const { return wire_; }
    // With a dot at its end; whatever is not printable or has a meaning is escaped.
    [[nodiscard]] std::string text() const;
    // The same without the last dot (the root stays "."): how resources and people write names.
    [[nodiscard]] std::string host() const;

    [[nodiscard]] bool is_root() const { return wire_.size() == 1; }
    [[nodiscard]] std::size_t labels() const;
    [[nodiscard]] std::string_view first_label() const;
    // The root is its own parent.
    [[nodiscard]] Name parent() const;
    [[nodiscard]] bool is_wildcard() const { return wire_.size() > 2 && wire_[0] == 1 && wire_[1] == '*'; }
    [[nodiscard]] bool at_or_below(const Name& ancestor) const;
    // "label.this"; fails when it would be too long.
    [[nodiscard]] Result<Name> child(std::string_view label) const;

    // Order of bytes of the wire form: total and stable, but not the canonical order of DNSSEC.
    auto operator<=>(const Name&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>

private:
    explicit Name(std::string wire) : wire_(std::move(wire)) {}
    std::string wire_;
};

}  // namespace fairlead::dns
