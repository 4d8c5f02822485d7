#include "proxy/haproxy/image.h"

#include <algorithm>

namespace fairlead::proxy::haproxy {

namespace {

template <class Value>
void add_keys(const std::map<std::string, Value>& values, std::set<std::string>& keys) {
    for (const auto& [key, value] : values) keys.insert(keys.end(), key);
}

}  // namespace

std::string_view file_name(MapFile map) {
    switch (map) {
        case MapFile::hosts:
            return "hosts.map";
        case MapFile::paths:
            return "paths.map";
        case MapFile::wildcards:
            return "wildcards.map";
        case MapFile::wildcard_paths:
            return "wildcard-paths.map";
        case MapFile::ports:
            return "ports.map";
        case MapFile::exact_paths:
            return "exact-paths.map";
    }
    return {};
}

bool Touched::empty() const {
    return backends.empty() && certificates.empty() && authorities.empty() &&
           std::all_of(maps.begin(), maps.end(), [](const auto& keys) { return keys.empty(); });
}

void Touched::merge(Touched other) {
    backends.merge(other.backends);
    for (std::size_t i = 0; i < map_files; ++i) maps.at(i).merge(other.maps.at(i));
    certificates.merge(other.certificates);
    authorities.merge(other.authorities);
}

Touched everything(const Image& a, const Image& b) {
    Touched touched;
    for (const auto* image : {&a, &b}) {
        add_keys(image->backends, touched.backends);
        for (std::size_t i = 0; i < map_files; ++i) add_keys(image->maps.at(i), touched.maps.at(i));
        add_keys(image->certificates, touched.certificates);
        add_keys(image->authorities, touched.authorities);
    }
    return touched;
}

}  // namespace fairlead::proxy::haproxy
