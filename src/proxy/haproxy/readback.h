// What a worker says that it holds. Pure parsers of the Runtime API's answers; used by the driver after every connect,
// error and once a minute.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/haproxy/image.h"

namespace fairlead::proxy::haproxy {

// `show servers state`; the proxy's own backends are left out.
std::map<std::string, std::vector<Server>> parse_servers(std::string_view answer);
// `show map FILE`. Of a key that is there twice the first counts, as for HAProxy; `twice` has the others.
struct FoundMap {
    MapEntries entries;
    std::vector<std::string> twice;
};
FoundMap parse_map(std::string_view answer);
// `show ssl crt-list -n FILE`: host -> file of its certificate.
std::map<std::string, std::string> parse_crt_list(std::string_view answer);
// A line "Name: value" of `show info`.
std::string_view info_field(std::string_view answer, std::string_view name);
// `show proc` of the master: process ids of workers that are leaving.
std::vector<int> parse_old_workers(std::string_view answer);

}  // namespace fairlead::proxy::haproxy
