// Answers in XML as a tree of values, for services whose answers are read by the names of elements alone; and the form
// in which all of them tell errors. xml.cpp is a home of pugixml. Pure; answers come from the network and may be
// anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::aws {

struct Element {
    std::string name, text;
    std::vector<Element> children;

    // The first child of that name; null: there is none.
    [[nodiscard]] const Element* child(std::string_view of_name) const;
    // Its text; empty: there is none.
    [[nodiscard]] std::string at(std::string_view of_name) const;
    [[nodiscard]] std::optional<std::int64_t> int_at(std::string_view of_name) const;
    // The children of a child that is a list ("Tags" of "member").
    [[nodiscard]] const std::vector<Element>& list(std::string_view of_name) const;
};

// The document. Errors: corrupt, saying what is wrong.
Result<Element> parse_xml(std::string_view xml);

struct ServiceError {
    std::string code;                   // "Throttling"; empty: the answer is none of AWS's
    std::vector<std::string> messages;  // one per thing that is wrong, as far as they can be told apart
};
// <ErrorResponse><Error><Code/><Message/></Error></ErrorResponse>
ServiceError parse_error(std::string_view xml);

}  // namespace fairlead::aws
