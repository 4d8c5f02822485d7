// Many names in the canonical order of DNS (RFC 4034 section 6.1: by the last label, then the one before, ...), kept in
// about 8 bytes more than the names have. A value; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dns/name.h"

namespace fairlead::dnsinfo {

class NameOrder {
public:
    static constexpr std::size_t max_bytes = std::size_t{1} << 32U;  // of all names together

    // False when the names have become more than fits.
    bool add(const dns::Name& name);
    // Once, when all are there.
    void sort();
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] dns::Name at(std::size_t i) const;

private:
    struct Entry {
        std::uint32_t offset = 0;
        std::uint16_t size = 0;
    };
    [[nodiscard]] std::string_view key(const Entry& entry) const {
        return std::string_view(keys_).substr(entry.offset, entry.size);
    }
    std::string keys_;  // each: its labels from the last on, so that comparing bytes compares names
    std::vector<Entry> entries_;
};

}  // namespace fairlead::dnsinfo
