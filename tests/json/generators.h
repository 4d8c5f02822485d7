// Random JSON values for RapidCheck: every kind of number, awkward strings, nested a few levels.
#pragma once

#include <rapidcheck.h>

#include <limits>

#include "json/value.h"

namespace fairlead::json {

inline rc::Gen<std::string> awkward_text() {
    static const std::vector<std::string> pieces = {"a",
                                                    "B",
                                                    "0",
                                                    "1",
                                                    " ",
                                                    "  ",
                                                    "\n",
                                                    "\n\n",
                                                    "\t",
                                                    ":",
                                                    "#",
                                                    "-",
                                                    "? ",
                                                    "'",
                                                    "\"",
                                                    "\\",
                                                    "/",
                                                    ".",
                                                    "e",
                                                    "_",
                                                    "x",
                                                    "true",
                                                    "no",
                                                    "null",
                                                    "~",
                                                    "<<",
                                                    "\x01",
                                                    "\r",
                                                    "|",
                                                    ">",
                                                    "\x7f",
                                                    "\xc2\x85",
                                                    "\xc3\xa9",
                                                    "{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    ",",
                                                    "&",
                                                    "*a",
                                                    "!",
                                                    "%",
                                                    "\xe2\x80\xa8",
                                                    "\xef\xbb\xbf",
                                                    "\xf0\x9f\x98\x80",
                                                    "---",
                                                    "...",
                                                    "=",
                                                    "0x",
                                                    "0o",
                                                    "12",
                                                    "1e3",
                                                    "inf",
                                                    "2026-03-01",
                                                    "12:30",
                                                    ": ",
                                                    " #",
                                                    std::string(1, '\0')};
    return rc::gen::map(rc::gen::resize(6, rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))),
                        [](const std::vector<std::string>& parts) {
                            std::string text;
                            for (const auto& part : parts) text += part;
                            return text;
                        });
}

inline rc::Gen<Value> any_value(int depth) {
    const auto number = rc::gen::oneOf(
        rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t n) { return Value(n); }),
        rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), [](std::uint64_t n) { return Value(n); }),
        rc::gen::map(rc::gen::arbitrary<double>(), [](double n) { return Value(std::isfinite(n) ? n : 0.5); }),
        rc::gen::elementOf(std::vector<Value>{Value(0), Value(-1), Value(INT64_MAX), Value(INT64_MIN),
                                              Value(UINT64_MAX), Value(5e-324), Value(1.7976931348623157e308),
                                              Value(0.1), Value(1e21)}));
    const auto scalar =
        rc::gen::oneOf(number, rc::gen::just(Value(nullptr)),
                       rc::gen::map(rc::gen::arbitrary<bool>(), [](bool b) { return Value(b); }),
                       rc::gen::map(awkward_text(), [](const std::string& text) { return Value(text); }));
    if (depth == 0) return scalar;
    const auto list =
        rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<Value>>(any_value(depth - 1))),
                     [](const std::vector<Value>& items) { return Value(Array(items.begin(), items.end())); });
    using Members = std::vector<std::pair<std::string, Value>>;
    const auto map = rc::gen::map(
        rc::gen::resize(4, rc::gen::container<Members>(rc::gen::pair(awkward_text(), any_value(depth - 1)))),
        [](const Members& members) {
            Object object;
            for (const auto& [name, value] : members) object.insert_or_assign(name, value);
            return Value(std::move(object));
        });
    return rc::gen::oneOf(scalar, list, map);
}

}  // namespace fairlead::json
