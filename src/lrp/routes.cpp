#include "lrp/routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "lrp/entry.h"
#include "lrp/names.h"

namespace fairlead::lrp {

namespace {

using Ports = std::span<const std::uint16_t>;

// The 128 KiB that a DesiredLRP may have hold 5,000 of the shortest; each is compared with those before it.
constexpr std::size_t max_entries = 8192;

template <class T>
void add_once(std::vector<T>& list, T item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
}

// A wrong one is told (its place in the list, text) and the others stay.
template <class Tell>
void read_names(const json::Array& list, std::vector<std::string>& names, Tell tell) {
    for (std::size_t at = 0; at < list.size(); ++at) {
        const auto& value = list[at];
        if (!value.is_string()) {
            tell(at, fmt::format("{} is not a name such as \"foo.com/path\"", shown(value)));
        } else if (auto name = read_name(json::view(value.get_string()))) {
            names.push_back(std::move(*name));
        } else {
            tell(at, fmt::format("{} leads nowhere: {}", shown(value), name.error().message));
        }
    }
}

void read_names(Entry& entry, std::string_view field, std::vector<std::string>& names) {
    const auto* list = entry.find(field);
    if (list == nullptr) return;
    if (!list->is_array()) {
        entry.refuse(field, fmt::format("{} is not a list of names", shown(*list)));
        return;
    }
    read_names(list->get_array(), names,
               [&](std::size_t at, std::string_view text) { entry.tell(fmt::format("{}[{}]", field, at), text); });
}

// Without it requests would pass by what checks them, so that an entry with a wrong one is refused whole.
std::string read_route_service(Entry& entry) {
    auto url = entry.text("route_service_url");
    constexpr std::string_view scheme = "https://";
    if (url.empty()) return url;
    const auto rest = std::string_view(url).substr(std::min(scheme.size(), url.size()));
    const bool clean = std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (!url.starts_with(scheme) || !clean || rest.empty() || rest.front() == '/') {
        entry.refuse("route_service_url", fmt::format("{} is not a URL that begins with https://host",
                                                      shown(*entry.find("route_service_url"))));
    }
    return url;
}

// How to balance is not worth losing the route for.
std::string read_options(Entry& entry) {
    const auto* options = entry.find("options");
    if (options == nullptr) return {};
    if (!options->is_object()) {
        entry.tell("options", fmt::format("{} is not an object, and left out", shown(*options)));
        return {};
    }
    if (options->get_object().empty()) return {};
    const auto* balancing = options->get_object().if_contains("loadbalancing");
    if (balancing != nullptr) {
        const auto name = balancing->is_string() ? json::view(balancing->get_string()) : std::string_view{};
        if (name != "round-robin" && name != "least-connection" && name != "hash") {
            entry.tell("options.loadbalancing",
                       fmt::format("{} is none of round-robin, least-connection, hash; options are left out",
                                   shown(*balancing)));
            return {};
        }
    }
    return json::serialize(*options);
}

bool same_but_names(const HttpRoute& a, const HttpRoute& b) {
    const auto rest = [](const HttpRoute& route) {
        return std::tie(route.port, route.to_instances, route.ssl, route.http2, route.route_service, route.options,
                        route.segment);
    };
    return rest(a) == rest(b);
}

void add_http(Routes& routes, HttpRoute route) {
    const auto same = std::find_if(routes.http.begin(), routes.http.end(),
                                   [&](const HttpRoute& other) { return same_but_names(other, route); });
    if (same == routes.http.end()) {
        routes.http.push_back(std::move(route));
    } else {
        same->names.insert(same->names.end(), route.names.begin(), route.names.end());
    }
}

// Each name once, in the order of the names: as quick for ten thousand as for two.
void sort_names(Routes& routes) {
    for (auto& route : routes.http) {
        std::sort(route.names.begin(), route.names.end());
        route.names.erase(std::unique(route.names.begin(), route.names.end()), route.names.end());
    }
}

void read_http(Entry& entry, std::string_view protocol, std::uint16_t port, Routes& routes) {
    HttpRoute route;
    route.port = port;
    route.http2 = protocol == "http2";
    route.to_instances = entry.flag("route_to_instances");
    route.ssl = entry.flag("ssl");
    route.route_service = read_route_service(entry);
    route.options = read_options(entry);
    route.segment = entry.text("isolation_segment");
    if (!entry.has("routes") && !entry.has("hostnames")) {
        entry.refuse("routes", "is missing: an http route needs names, as routes or as hostnames");
    }
    read_names(entry, "routes", route.names);
    read_names(entry, "hostnames", route.names);
    if (entry.has("incoming_port")) entry.tell("incoming_port", "only protocols tcp and udp have one; left out");
    if (!entry.refused() && !route.names.empty()) add_http(routes, std::move(route));
}

void add_port(Entry& entry, std::string_view field, PortRoute route, Routes& routes) {
    for (const auto& other : routes.ports) {
        if (other == route) return;
        const auto place = [](const PortRoute& each) { return std::tie(each.transport, each.incoming, each.group); };
        if (route.incoming != 0 && other.provider == route.provider && place(other) == place(route)) {
            entry.refuse(field,
                         fmt::format("{} leads to port {} of the container already", route.incoming, other.port));
            return;
        }
    }
    routes.ports.push_back(std::move(route));
}

void read_port(Entry& entry, std::string_view protocol, std::uint16_t port, Routes& routes) {
    PortRoute route;
    route.provider = cf_router;
    route.transport = protocol == "udp" ? Transport::udp : Transport::tcp;
    route.port = port;
    route.incoming = static_cast<std::uint16_t>(entry.number("incoming_port", 0, 65535).value_or(0));
    route.group = entry.text("router_group");
    route.proxy_protocol = entry.flag("proxy_protocol");
    for (const auto* field : {"routes", "hostnames", "route_to_instances", "ssl", "route_service_url"}) {
        if (entry.has(field)) entry.tell(field, fmt::format("means nothing for protocol {}; left out", protocol));
    }
    if (route.proxy_protocol && route.transport == Transport::udp) {
        entry.tell("proxy_protocol", "there is none for protocol udp; left out");
        route.proxy_protocol = false;
    }
    if (!entry.refused()) add_port(entry, "incoming_port", std::move(route), routes);
}

void read_cf(Entry& entry, Ports opened, Routes& routes) {
    const auto port = entry.container_port("port", opened);
    auto protocol = entry.text("protocol");
    if (protocol.empty()) protocol = "http1";
    if (protocol == "http1" || protocol == "http2") {
        read_http(entry, protocol, port, routes);
    } else if (protocol == "tcp" || protocol == "udp") {
        read_port(entry, protocol, port, routes);
    } else {
        entry.refuse("protocol", fmt::format("{} is none of http1, http2, tcp, udp", shown(*entry.find("protocol"))));
    }
}

void read_tcp(Entry& entry, Ports opened, Routes& routes) {
    PortRoute route;
    route.provider = tcp_router;
    route.port = entry.container_port("container_port", opened);
    route.incoming = static_cast<std::uint16_t>(entry.number("external_port", 0, 65535).value_or(0));
    route.group = entry.text("router_group_guid");
    route.proxy_protocol = entry.flag("proxy_protocol");
    // One owner has the whole port, whatever name its clients ask for.
    (void)entry.text("backend_sni_hostname");
    // Bytes pass as they are: an instance that expects them decrypted would not understand any.
    for (const auto* field : {"terminate_frontend_tls", "enable_backend_mtls"}) {
        if (entry.flag(field)) entry.refuse(field, "true leads nowhere: TLS of a port ends at the container");
    }
    if (!entry.refused()) add_port(entry, "external_port", std::move(route), routes);
}

void read_sky(Entry& entry, Ports opened, Routes& routes) {
    SkyRoute route;
    route.port = entry.container_port("port", opened);
    if (!entry.has("host")) entry.refuse("host", "is missing: it is the name of the record");
    const auto text = entry.text("host");
    auto host = read_host(text);
    if (host) {
        route.host = std::move(*host);
    } else if (!entry.refused()) {
        entry.refuse("host", fmt::format("{} leads nowhere: {}", shown(*entry.find("host")), host.error().message));
    }
    route.priority = static_cast<std::uint16_t>(entry.number("priority", 0, 65535).value_or(route.priority));
    if (const auto weight = entry.number("weight", 0, 65535)) route.weight = static_cast<std::uint16_t>(*weight);
    // RFC 2181 section 8
    if (const auto ttl = entry.number("ttl", 0, 2'147'483'647)) route.ttl = static_cast<std::uint32_t>(*ttl);
    if (!entry.refused()) add_once(routes.sky, std::move(route));
}

// As it was before there were providers: names of the first port.
void read_old(const json::Array& names, Ports opened, Problems& problems, Routes& routes) {
    HttpRoute route;
    if (!names.empty() && opened.empty()) {
        problems.tell("", "names lead to the first port of the container, which opens no port");
    } else if (!names.empty()) {
        route.port = opened.front();
        read_names(names, route.names,
                   [&](std::size_t at, std::string_view text) { problems.tell(fmt::format("[{}]", at), text); });
    }
    if (!route.names.empty()) routes.http.push_back(std::move(route));
}

// Whether a list is of names; one that has objects too is of entries, and the names in it are wrong.
bool is_old(const json::Array& list) {
    return std::any_of(list.begin(), list.end(), [](const json::Value& item) { return item.is_string(); }) &&
           std::none_of(list.begin(), list.end(), [](const json::Value& item) { return item.is_object(); });
}

using ReadEntry = void (*)(Entry&, Ports, Routes&);
constexpr std::pair<std::string_view, ReadEntry> readers[] = {
    {cf_router, read_cf}, {skydns, read_sky}, {tcp_router, read_tcp}};

void read_list(const json::Value& value, ReadEntry read, Ports opened, Problems& problems, Routes& routes) {
    if (value.is_null()) return;
    if (!value.is_array()) {
        problems.tell("", fmt::format("{} is not a list of routes", shown(value)));
        return;
    }
    if (read == read_cf && is_old(value.get_array())) return read_old(value.get_array(), opened, problems, routes);
    std::size_t number = 0;
    for (const auto& item : value.get_array()) {
        if (number == max_entries) {
            problems.tell(fmt::format("[{}]", number), fmt::format("more than {} routes; left out", max_entries));
            return;
        }
        if (item.is_object()) {
            Entry entry(item.get_object(), number, problems);
            read(entry, opened, routes);
        } else {
            problems.tell(fmt::format("[{}]", number), fmt::format("{} is not an object", shown(item)));
        }
        ++number;
    }
}

void read_value(const json::Value& value, ReadEntry read, Ports opened, Problems& problems, Routes& routes) {
    if (!value.is_string()) return read_list(value, read, opened, problems, routes);
    const auto parsed = json::parse(json::view(value.get_string()), json::max_sent_values);
    if (!parsed) {
        problems.tell("", fmt::format("the text is not JSON: {}", parsed.error().message));
        return;
    }
    read_list(*parsed, read, opened, problems, routes);
}

void keep(std::string_view provider, Problems& problems, Routes& routes) {
    routes.providers.emplace_back(provider);
    if (auto told = problems.take(); !told.empty()) routes.problems.emplace(provider, std::move(told));
}

}  // namespace

Routes read_routes(const json::Value& routes, std::span<const std::uint16_t> ports) {
    Routes read;
    if (routes.is_array()) {
        Problems problems("routes");
        read_old(routes.get_array(), ports, problems, read);
        keep(cf_router, problems, read);
    } else if (routes.is_object()) {
        for (const auto& [provider, read_entry] : readers) {
            const auto* value = routes.get_object().if_contains(provider);
            if (value == nullptr) continue;
            Problems problems(provider);
            read_value(*value, read_entry, ports, problems, read);
            keep(provider, problems, read);
        }
    } else if (!routes.is_null()) {
        Problems problems("routes");
        problems.tell(
            "", fmt::format("{} is neither an object from provider to routes nor a list of names", shown(routes)));
        keep(cf_router, problems, read);
    }
    sort_names(read);
    return read;
}

}  // namespace fairlead::lrp
