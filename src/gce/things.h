// The things that a balancer at Google is made of, as values: which kinds there are, where they live, what they are
// called in a path, and what is there or wanted. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace fairlead::gce {

// In the order in which they are made; a later one points at earlier ones.
enum class Kind { address, health_check, group, certificate, service, url_map, http_proxy, https_proxy, rule };
inline constexpr std::size_t kind_count = 9;
inline constexpr Kind all_kinds[kind_count] = {Kind::address,     Kind::health_check, Kind::group,
                                               Kind::certificate, Kind::service,      Kind::url_map,
                                               Kind::http_proxy,  Kind::https_proxy,  Kind::rule};
std::string_view collection_of(Kind kind);  // "backendServices"

// Which thing: unique in a project.
struct Key {
    Kind kind = Kind::address;
    std::string place;  // "global", "regions/europe-west1", "zones/europe-west1-b"
    std::string name;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};
std::string path_of(const Key& key);                                // "global/urlMaps/shop"
std::string reference(const std::string& project, const Key& key);  // "projects/acme/global/urlMaps/shop"
std::string_view plain_reference(std::string_view url);             // from "projects/" on, whoever's host it is

// A member in a network endpoint group.
struct NetworkEndpoint {
    std::string instance;  // name of the VM; empty: none of Google's
    std::string address;
    std::uint16_t port = 0;
    auto operator<=>(const NetworkEndpoint&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};
json::Value json_of(const NetworkEndpoint& endpoint);

using Endpoints = std::map<Key, std::set<NetworkEndpoint>>;

// What bears our mark, as the service tells it.
struct Present {
    std::map<Key, json::Value> things;
    Endpoints endpoints;  // of the groups
};

struct Thing {
    json::Value body;
    std::set<std::string> owners;  // who has a problem if it is refused
};

struct Wanted {
    std::map<Key, Thing> things;
    Endpoints endpoints;
    std::map<std::string, std::string> problems;  // by owner, of what Google's balancer cannot do
};

// Whether what is there does what is wanted: each member of `wanted` is there with the same value, whatever else the
// service has filled in; addresses of things count from "projects/" on; what chooses where requests go must not be
// there when it is not wanted.
bool satisfies(const json::Value& present, const json::Value& wanted);

}  // namespace fairlead::gce
