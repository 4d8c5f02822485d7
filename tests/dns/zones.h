// Zones for tests from short lines: "NAME TTL TYPE DATA", with policy behind a bar: "| id=x geo=DE weight=10 down".
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "dns/rdata.h"
#include "dns/zone.h"

namespace fairlead::dns {

inline Name name_of(std::string_view text) {
    auto name = Name::parse(text);
    EXPECT_TRUE(name) << text;
    return name.value_or(Name());
}

inline void add_line(Zone& zone, std::string_view line) {
    const auto halves = split(line, '|');
    const auto words = split(trim(halves[0]), ' ');
    Variant variant;
    variant.ttl = static_cast<std::uint32_t>(parse_int(words[1]).value_or(0));
    const auto type = parse_type(words[2]);
    ASSERT_TRUE(type) << line;
    const auto text = trim(halves[0]).substr(static_cast<std::size_t>(words[3].data() - trim(halves[0]).data()));
    for (const auto each : split(text, ';')) {
        const auto data = parse_rdata(*type, trim(each));
        ASSERT_TRUE(data) << line << ": " << data.error().text();
        variant.data.push_back(*data);
    }
    if (halves.size() > 1) {
        for (const auto word : split(trim(halves[1]), ' ')) {
            const auto value = word.substr(word.find('=') + 1);
            if (word.starts_with("id=")) variant.set_identifier = value;
            if (word.starts_with("geo=")) variant.geo = GeoCode::parse(value).value();
            if (word.starts_with("weight=")) variant.weight = static_cast<unsigned>(*parse_int(value));
            if (word == "down") variant.unhealthy.insert(variant.data.begin(), variant.data.end());
            if (word.starts_with("down=")) variant.unhealthy.insert(*parse_rdata(*type, value));
        }
    }
    zone.add(name_of(words[0]), *type, std::move(variant));
}

inline Zone make_zone(std::string_view apex, const std::vector<std::string>& lines) {
    Zone zone(name_of(apex));
    add_line(zone, std::string(apex) + " 3600 SOA ns1." + std::string(apex) + " host." + std::string(apex) +
                       " 1 7200 900 86400 300");
    add_line(zone, std::string(apex) + " 3600 NS ns1." + std::string(apex));
    for (const auto& line : lines) add_line(zone, line);
    return zone;
}

}  // namespace fairlead::dns
