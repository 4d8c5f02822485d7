// What the fuzzers share: properties that end the run with a message when they do not hold, and taking an input apart.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::fuzz {

inline void require(bool holds, const char* property, const std::string& details = {}) {
    if (holds) return;
    std::fprintf(stderr, "PROPERTY BROKEN: %s\n%s\n", property, details.c_str());
    std::abort();
}

// The parts between 0xFF bytes, which valid UTF-8 never holds.
inline std::vector<std::string_view> parts(const std::uint8_t* data, std::size_t size, std::size_t count) {
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    std::vector<std::string_view> found;
    while (found.size() + 1 < count) {
        const auto end = rest.find('\xff');
        found.push_back(rest.substr(0, end));
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    found.push_back(rest);
    return found;
}

}  // namespace fairlead::fuzz
