// What one HAProxy worker holds: servers in their slots, map entries, certificates. Twice in the driver: as it is
// wanted, and as the worker has it. Values; used by the driver's thread alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::proxy::haproxy {

enum class Admin { ready, drain, maint };

// A slot. A free one is Server{}.
struct Server {
    std::string address = "127.0.0.1";
    std::uint16_t port = 1;
    std::uint16_t weight = 1;
    Admin admin = Admin::maint;
    bool operator==(const Server&) const = default;
    [[nodiscard]] bool free() const { return *this == Server{}; }
};

enum class MapFile : std::size_t { hosts, paths, wildcards, wildcard_paths, ports, exact_paths };
inline constexpr std::size_t map_files = 6;
inline constexpr std::array<MapFile, map_files> all_maps{MapFile::hosts,          MapFile::paths, MapFile::wildcards,
                                                         MapFile::wildcard_paths, MapFile::ports, MapFile::exact_paths};
std::string_view file_name(MapFile map);  // "hosts.map"

using MapEntries = std::map<std::string, std::string>;

struct Image {
    std::map<std::string, std::vector<Server>> backends;  // by name, "c0_12"; slot i is server "s<i+1>"
    std::array<MapEntries, map_files> maps;
    std::map<std::string, std::string> certificates;  // by host: PEM when wanted, its digest when held
    std::map<std::string, std::string> authorities;   // CA by backend: likewise
    bool operator==(const Image&) const = default;

    [[nodiscard]] MapEntries& map(MapFile file) { return maps.at(static_cast<std::size_t>(file)); }
    [[nodiscard]] const MapEntries& map(MapFile file) const { return maps.at(static_cast<std::size_t>(file)); }
};

// Where two images may differ.
struct Touched {
    std::set<std::string> backends;
    std::array<std::set<std::string>, map_files> maps;
    std::set<std::string> certificates, authorities;

    [[nodiscard]] bool empty() const;
    void merge(Touched other);
};

// Everything that one of them has.
Touched everything(const Image& a, const Image& b);

}  // namespace fairlead::proxy::haproxy
