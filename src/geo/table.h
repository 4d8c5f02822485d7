// From an address to a place: an immutable, flat table made from an MMDB file (GeoLite2 City or Country, or the like)
// and a list of networks whose place the operator knows better. Made at start and when the file changes; read by DNS
// workers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/address.h"
#include "dns/place.h"

namespace fairlead::geo {

struct Override {
    dns::Prefix network;
    dns::Place place;  // all empty: a place that is not known, so that "*" serves
    bool operator==(const Override&) const = default;
};

// "192.0.2.0/24=DE", "2001:db8::/32=US-CA", "10.0.0.0/8=GEO-EU"; "=*" says that the place is not known. A subdivision
// brings its country along; continents are told by the file where it knows the country. Errors: invalid.
Result<Override> parse_override(std::string_view text);

struct Located {
    const dns::PlaceKey* place = nullptr;  // never null; lives as long as the table
    // Length of the largest network around the address that is at this place as a whole: RFC 7871's scope.
    unsigned scope = 0;
};

class Table {
public:
    // No file: the overrides alone. Of overlapping overrides the longest prefix counts; all stand above the file.
    // Errors: not_found, invalid, corrupt, each naming the file.
    static Result<std::shared_ptr<const Table>> load(const std::filesystem::path& mmdb,
                                                     std::span<const Override> overrides);
    ~Table();
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    // Allocates nothing.
    [[nodiscard]] Located find(const dns::Address& address) const;
    // The same for people.
    [[nodiscard]] dns::Place place_of(const dns::Address& address) const;
    // Continent and country that go with a country or subdivision code, as the file and the overrides know them: what
    // `explain --from DE` stands for. The continent stays empty when nothing tells it.
    [[nodiscard]] dns::Place place_of(const dns::GeoCode& code) const;

    struct Size {
        std::size_t networks4 = 0, networks6 = 0, places = 0, bytes = 0;
    };
    [[nodiscard]] Size size() const;

private:
    struct Parts;
    explicit Table(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace fairlead::geo
