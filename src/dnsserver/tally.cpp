#include "dnsserver/tally.h"

namespace fairlead::dnsserver {

std::size_t Tally::column_of(std::uint16_t type) {
    for (std::size_t i = 0; i < other_type; ++i) {
        if (types[i] == type) return i;
    }
    return other_type;
}

}  // namespace fairlead::dnsserver
