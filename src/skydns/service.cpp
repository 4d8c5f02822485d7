#include "skydns/service.h"

#include <fmt/core.h>

#include <map>
#include <optional>

#include "base/text.h"
#include "dns/name.h"

namespace fairlead::skydns {

namespace {

constexpr std::size_t mark_digits = 10;  // 40 bits: among 10,000 at one host and index a clash is one in 20,000
constexpr std::string_view widest_index = "2147483647";

std::string mark_of(const lrp::ProcessKey& process, std::uint16_t port, std::size_t nth, std::string_view beside = "") {
    return sha256_hex(fmt::format("{}\n{}\n{}\n{}{}", process.scope, process.guid, port, nth, beside))
        .substr(0, mark_digits);
}

}  // namespace

std::string Service::name() const { return fmt::format("{}.{}.{}", mark, index, host); }

std::string path_of(std::string_view name) {
    std::string path;
    path.reserve(name.size() + 1);
    while (!name.empty()) {
        const auto dot = name.rfind('.');
        path += name.substr(dot == std::string_view::npos ? 0 : dot + 1);
        path += '/';
        name = dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
    }
    return path;
}

std::string_view above(std::string_view name) {
    const auto dot = name.find('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

bool has_room_below(std::string_view host) {
    const auto name = dns::Name::parse(host);
    return name && !name->is_wildcard() &&
           name->wire().size() + 1 + mark_digits + 1 + widest_index.size() <= dns::max_name_bytes;
}

std::vector<Service> services_of(const lrp::Desired& process, const EndpointsOf& endpoints) {
    std::vector<Service> services;
    std::map<std::pair<std::string, std::uint16_t>, std::size_t> nth;
    for (const auto& route : process.routes.sky) {
        const auto place = nth[{route.host, route.port}]++;
        if (!has_room_below(route.host)) continue;
        const auto mark = mark_of(process.key, route.port, place);
        const auto mark_beside = mark_of(process.key, route.port, place, "\nevacuating");
        std::optional<std::int32_t> before;
        for (const auto& endpoint : endpoints(route.port)) {
            Service service;
            service.host = route.host;
            service.index = endpoint.index;
            service.mark = before == endpoint.index ? mark_beside : mark;
            before = endpoint.index;
            service.address = endpoint.address;
            service.port = endpoint.port != 0 ? endpoint.port : endpoint.tls_port;
            service.priority = route.priority;
            if (route.weight.value_or(0) != 0) service.weight = *route.weight;
            service.ttl = route.ttl.value_or(default_ttl);
            services.push_back(std::move(service));
        }
    }
    return services;
}

}  // namespace fairlead::skydns
