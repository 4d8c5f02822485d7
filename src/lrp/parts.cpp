#include "lrp/parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "dns/name.h"
#include "json/value.h"
#include "lrp/front.h"
#include "lrp/sharing.h"

namespace fairlead::lrp {

namespace {

constexpr std::size_t max_host_bytes = dns::max_name_bytes - 2;  // as text, without length and root

traffic::Balance balance_of(const std::string& options) {
    const traffic::Balance usual = traffic::Pool().balance;
    if (options.empty()) return usual;
    const auto parsed = json::parse(options);
    if (!parsed) return usual;
    const auto name = json::string_at(*parsed, "loadbalancing");
    if (name == "least-connection") return traffic::Balance::least_connections;
    return name == "round-robin" ? traffic::Balance::round_robin : usual;
}

traffic::Member member_of(const Endpoint& endpoint, const Desired& desired, const HttpRoute& route) {
    traffic::Member member;
    member.address = endpoint.address;
    // Where only TLS is taken there is no other port to name.
    member.port = endpoint.port != 0 ? endpoint.port : endpoint.tls_port;
    member.group = desired.key.guid;
    member.app = desired.app;
    member.instance = endpoint.instance_guid;
    member.index = endpoint.index;
    member.tls_port = endpoint.tls_port;
    member.http2 = route.http2;
    member.segment = route.segment;
    member.domain = desired.domain;
    return member;
}

std::vector<traffic::Member> members_of(const Book& book, const std::vector<Contribution>& list) {
    std::vector<traffic::Member> members;
    for (const auto& each : list) {
        const auto endpoints = book.endpoints(each.desired->key, each.route->port);
        if (!each.index && members.empty()) members.reserve(endpoints.size());
        for (const auto& endpoint : endpoints) {
            if (each.index && *each.index != endpoint.index) continue;
            members.push_back(member_of(endpoint, *each.desired, *each.route));
        }
    }
    if (members.size() < 2) return members;
    const auto before = [](const traffic::Member& a, const traffic::Member& b) {
        return std::tie(a.address, a.port) < std::tie(b.address, b.port);
    };
    std::stable_sort(members.begin(), members.end(), before);
    const auto same = [&](const traffic::Member& a, const traffic::Member& b) { return !before(a, b); };
    members.erase(std::unique(members.begin(), members.end(), same), members.end());
    return members;
}

bool has_name(const HttpRoute& route, std::string_view name) {
    return std::binary_search(route.names.begin(), route.names.end(), name, std::less<>());
}

// The index in "3.foo.com", as we would write it.
std::optional<std::int32_t> leading_index(std::string_view name, std::int32_t count) {
    const auto label = name.substr(0, name.find('.'));
    if (label.size() == name.size() || label.empty() || label.size() > 6) return std::nullopt;
    if (label.size() > 1 && label.front() == '0') return std::nullopt;
    const auto index = parse_int(label);
    if (!index || *index < 0 || *index >= count) return std::nullopt;
    return static_cast<std::int32_t>(*index);
}

}  // namespace

std::int32_t named_indices(const Desired& desired) {
    std::size_t hosts = 0;
    for (const auto& route : desired.routes.http) hosts += route.to_instances ? route.names.size() : 0;
    if (hosts == 0) return 0;
    return static_cast<std::int32_t>(
        std::min(max_instance_names / hosts, static_cast<std::size_t>(std::max(desired.instances, 0))));
}

std::optional<std::string> instance_name(std::string_view name, std::int32_t index) {
    if (name.starts_with("*.")) return std::nullopt;
    const auto host = std::min(name.find('/'), name.size());
    auto made = fmt::format("{}.{}", index, name);
    if (made.size() - (name.size() - host) > max_host_bytes) return std::nullopt;
    return made;
}

void for_each_name(const Desired& desired,
                   const std::function<void(std::string_view, const HttpRoute&, std::optional<std::int32_t>)>& visit) {
    const auto indices = named_indices(desired);
    for (const auto& route : desired.routes.http) {
        for (const auto& name : route.names) {
            visit(name, route, std::nullopt);
            for (std::int32_t index = 0; route.to_instances && index < indices; ++index) {
                if (const auto made = instance_name(name, index)) visit(*made, route, index);
            }
        }
    }
}

std::vector<std::string> limits_of(const Desired& desired) {
    std::vector<std::string> told;
    const auto indices = named_indices(desired);
    for (const auto& route : desired.routes.http) {
        if (!route.to_instances) continue;
        for (const auto& name : route.names) {
            if (name.starts_with("*.")) {
                told.push_back(fmt::format("{}: a wildcard has no names for single instances", name));
            } else if (indices > 0 && !instance_name(name, indices - 1)) {
                told.push_back(fmt::format("{}: is too long to have names for single instances", name));
            } else if (indices < desired.instances) {
                told.push_back(
                    fmt::format("{}: only the first {} instances have names of their own: {} for all routes "
                                "of a process",
                                name, indices, max_instance_names));
            }
        }
    }
    return told;
}

void contribute(const Desired& desired, std::string_view name, std::vector<Contribution>& list) {
    const auto index = leading_index(name, named_indices(desired));
    for (const auto& route : desired.routes.http) {
        if (has_name(route, name)) list.push_back({&desired, &route});
        if (!index || !route.to_instances) continue;
        const auto rest = name.substr(name.find('.') + 1);
        if (has_name(route, rest) && instance_name(rest, *index) == name) list.push_back({&desired, &route, index});
    }
}

Part part_of(const Book& book, const std::string& owner, const std::vector<Contribution>& list) {
    Part part{.rule = {.pool = owner, .owner = owner}, .pool = {}};
    auto made = wish_of(*list.front().route);
    for (const auto& each : std::span(list).subspan(1)) agree(made, wish_of(*each.route));
    if (made.ssl) {
        part.rule.plain = traffic::Plain::redirect;
        part.rule.tls = traffic::Tls::terminate;
    }
    part.pool.name = owner;
    part.pool.balance = balance_of(made.options);
    if (made.http2) part.pool.protocol = traffic::PoolProtocol::http2;
    part.rule.route_service = std::move(made.route_service);
    part.rule.options = std::move(made.options);
    part.pool.members = members_of(book, list);
    return part;
}

}  // namespace fairlead::lrp
