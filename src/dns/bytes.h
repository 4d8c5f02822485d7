// Numbers and strings in network order. Used inside this layer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::dns {

inline void put8(std::string& out, unsigned value) { out += static_cast<char>(value & 0xff); }
inline void put16(std::string& out, unsigned value) {
    put8(out, value >> 8);
    put8(out, value);
}
inline void put32(std::string& out, std::uint32_t value) {
    put16(out, value >> 16);
    put16(out, value & 0xffff);
}

// The caller has checked that the bytes are there.
inline unsigned get8(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }
inline unsigned get16(std::string_view bytes, std::size_t at) { return get8(bytes, at) << 8 | get8(bytes, at + 1); }
inline std::uint32_t get32(std::string_view bytes, std::size_t at) {
    return get16(bytes, at) << 16 | get16(bytes, at + 2);
}

}  // namespace fairlead::dns
