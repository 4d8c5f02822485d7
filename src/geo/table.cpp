#include "geo/table.h"

#include <map>

#include "geo/intervals.h"
#include "geo/mmdb.h"

namespace fairlead::geo {

namespace {

Number4 number4(const dns::Address& address) {
    Number4 value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8U | address.bytes[i];
    return value;
}

Number6 number6(const dns::Address& address) {
    Number6 value = 0;
    for (const auto byte : address.bytes) value = value << 8U | byte;
    return value;
}

}  // namespace

struct Table::Parts {
    std::vector<dns::Place> places;
    std::vector<dns::PlaceKey> keys;  // of the places
    Intervals<Number4> networks4;
    Intervals<Number6> networks6;
    std::map<std::string, std::string> continents;  // by country

    struct At {
        std::uint32_t place;
        unsigned scope;
    };
    [[nodiscard]] At find(const dns::Address& address) const {
        if (!address.v6) {
            const auto at = networks4.find(number4(address));
            return {at.value, at.length};
        }
        const auto number = number6(address);
        const auto at = networks6.find(number);
        if ((at.value & alias_flag) == 0) return {at.value, at.length};
        // Of two networks around one address the longer lies within the other.
        const unsigned before = at.value & ~alias_flag;
        const auto inside = networks4.find(static_cast<Number4>(number >> (96 - before)));
        return {inside.value, std::max(at.length, before + inside.length)};
    }
    void learn_continents() {
        for (const auto& place : places) {
            if (!place.country.empty() && !place.continent.empty()) continents.emplace(place.country, place.continent);
        }
    }
    void lay_over(std::span<const Override> overrides);
};

void Table::Parts::lay_over(std::span<const Override> overrides) {
    std::map<dns::Place, std::uint32_t> ids;
    for (std::size_t i = 0; i < places.size(); ++i) ids.emplace(places[i], static_cast<std::uint32_t>(i));
    std::vector<Network<Number4>> above4;
    std::vector<Network<Number6>> above6;
    for (const auto& each : overrides) {
        auto place = each.place;
        if (place.continent.empty() && !place.country.empty()) {
            const auto known = continents.find(place.country);
            if (known != continents.end()) place.continent = known->second;
        }
        const auto [id, added] = ids.emplace(place, static_cast<std::uint32_t>(places.size()));
        if (added) places.push_back(place);
        const auto& network = each.network;
        if (network.address.v6) {
            above6.push_back({number6(network.address), network.length, id->second});
        } else {
            above4.push_back({number4(network.address), network.length, id->second});
        }
    }
    if (!above4.empty()) networks4 = overlay(networks4, std::move(above4));
    if (!above6.empty()) networks6 = overlay(networks6, std::move(above6));
}

Table::Table(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Table::~Table() = default;

Result<std::shared_ptr<const Table>> Table::load(const std::filesystem::path& mmdb,
                                                 std::span<const Override> overrides) {
    auto parts = std::make_unique<Parts>();
    if (mmdb.empty()) {
        parts->places.emplace_back();
    } else {
        auto content = read_mmdb(mmdb);
        if (!content) return fail(content.error());
        parts->places = std::move(content->places);
        parts->networks4 = std::move(content->networks4);
        parts->networks6 = std::move(content->networks6);
    }
    parts->learn_continents();
    for (const auto& each : overrides) {
        if (!each.place.country.empty() && !each.place.continent.empty()) {
            parts->continents.emplace(each.place.country, each.place.continent);
        }
    }
    parts->lay_over(overrides);
    parts->networks4.finish();
    parts->networks6.finish();
    parts->keys.reserve(parts->places.size());
    for (const auto& place : parts->places) parts->keys.push_back(dns::key_of(place));
    return std::shared_ptr<const Table>(new Table(std::move(parts)));
}

Located Table::find(const dns::Address& address) const {
    const auto at = parts_->find(address);
    return {&parts_->keys[at.place], at.scope};
}

dns::Place Table::place_of(const dns::Address& address) const { return parts_->places[parts_->find(address).place]; }

dns::Place Table::place_of(const dns::GeoCode& code) const {
    dns::Place place;
    switch (code.level) {
        case dns::GeoLevel::everywhere:
            return place;
        case dns::GeoLevel::continent:
            place.continent = code.code;
            return place;
        case dns::GeoLevel::country:
            place.country = code.code;
            break;
        case dns::GeoLevel::subdivision:
            place.subdivision = code.code;
            place.country = code.code.substr(0, 2);
            break;
    }
    const auto known = parts_->continents.find(place.country);
    if (known != parts_->continents.end()) place.continent = known->second;
    return place;
}

Table::Size Table::size() const {
    return {parts_->networks4.size(), parts_->networks6.size(), parts_->places.size(),
            parts_->networks4.bytes() + parts_->networks6.bytes()};
}

}  // namespace fairlead::geo
