// An MMDB file, read whole: every network of its tree as intervals, every place once. The home of libmaxminddb.
// Blocking; takes a second or two for the largest files there are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "dns/place.h"
#include "geo/intervals.h"

namespace fairlead::geo {

inline constexpr std::size_t max_mmdb_bytes = std::size_t{1} << 30U;     // GeoIP2 Enterprise has 0.4 GiB
inline constexpr std::size_t max_mmdb_networks = std::size_t{1} << 26U;  // GeoIP2 City has 6 million

// Values of IPv6 intervals from here on: the IPv4 addresses stand inside, behind as many bits as the rest says.
inline constexpr std::uint32_t alias_flag = 0x8000'0000U;

struct MmdbContent {
    std::vector<dns::Place> places;  // the first is the one that is not known
    Intervals<Number4> networks4;    // values are places
    Intervals<Number6> networks6;    // values are places, or aliases of IPv4
};

// Errors: not_found, invalid (not such a file, or without places), corrupt, too_large; each names the file.
Result<MmdbContent> read_mmdb(const std::filesystem::path& path);

}  // namespace fairlead::geo
