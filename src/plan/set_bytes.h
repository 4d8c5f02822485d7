// A record set as bytes that lie together: the same bytes, the same set. Comparing two endpoints looks at five places
// in memory, of which most have to be waited for where lists are long; comparing these looks at one. Pure; private to
// src/plan.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "dns/endpoint.h"

namespace fairlead::plan {

class SetBytes {
public:
    // `normal_name` is the name in the form in which names are compared; labels are left out. Lives until the next
    // call. Empty: too long; such sets are rare, and compared in full.
    std::string_view of(std::string_view normal_name, const dns::Endpoint& endpoint);
    // The name, which is the first of them.
    static std::string_view name(std::string_view bytes) {
        return bytes.empty() ? bytes : bytes.substr(1, static_cast<unsigned char>(bytes.front()));
    }

private:
    void put(const void* from, std::size_t count);
    void put(std::string_view text);

    static constexpr std::size_t most = 255;  // so that each length takes one byte
    std::array<char, most> buffer_{};
    std::size_t used_ = 0;
    bool too_long_ = false;
};

}  // namespace fairlead::plan
