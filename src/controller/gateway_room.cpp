#include "controller/gateway_room.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "controller/cluster_report.h"

namespace fairlead::controller {
namespace {

// Names of members, quotes and so on, in the object and in managedFields; somewhat more than they are.
constexpr std::size_t address_frame = 32;
constexpr std::size_t listener_frame = 160;
constexpr std::size_t kind_frame = 32;
constexpr std::size_t condition_frame = 270;
constexpr std::size_t escaped_control = 6;  // a control character as \u001f

std::size_t text_bytes(std::string_view text) {
    std::size_t bytes = 0;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        bytes += code < 0x20 ? escaped_control : (c == '"' || c == '\\' ? 2 : 1);
    }
    return bytes;
}

std::size_t bytes_of(const resource::GatewayAddress& address) {
    return address_frame + text_bytes(address.type) + text_bytes(address.value);
}

std::size_t bytes_of(const resource::ListenerStatus& listener) {
    auto bytes = listener_frame + 2 * text_bytes(listener.name);
    for (const auto& kind : listener.supported_kinds) {
        bytes += kind_frame + text_bytes(kind.group.value_or("")) + text_bytes(kind.kind);
    }
    for (const auto& each : listener.conditions) {
        bytes += condition_frame + 2 * text_bytes(each.type) + text_bytes(each.status) + text_bytes(each.reason) +
                 text_bytes(each.message) + text_bytes(each.last_transition_time);
    }
    return bytes;
}

Fitting fit(const std::map<std::string, Candidate>& candidates, GatewayRoom room, bool all_shortened) {
    std::vector<std::tuple<bool, std::string_view, std::string_view>> order;
    order.reserve(candidates.size());
    for (const auto& [name, each] : candidates) order.emplace_back(!each.present, each.created, name);
    std::sort(order.begin(), order.end());
    Fitting out;
    out.shortened = all_shortened;
    for (const auto& [absent, created, name] : order) {
        const auto& report = *candidates.at(std::string(name)).report;
        auto listeners = report.listeners;
        if (all_shortened) {
            for (auto& listener : listeners) listener = shortened(listener);
        }
        (room.take(report.addresses, listeners) ? out.fit : out.left_out).emplace_back(name);
    }
    std::sort(out.fit.begin(), out.fit.end());
    std::sort(out.left_out.begin(), out.left_out.end());
    return out;
}

}  // namespace

bool GatewayRoom::take(const std::vector<resource::GatewayAddress>& of_addresses,
                       const std::vector<resource::ListenerStatus>& of_listeners) {
    if (of_addresses.size() > addresses || of_listeners.size() > listeners) return false;
    std::size_t needed = 0;
    for (const auto& each : of_addresses) needed += bytes_of(each);
    for (const auto& each : of_listeners) needed += bytes_of(each);
    if (needed > bytes) return false;
    addresses -= of_addresses.size();
    listeners -= of_listeners.size();
    bytes -= needed;
    return true;
}

resource::ListenerStatus shortened(const resource::ListenerStatus& listener) {
    resource::ListenerStatus out;
    out.name = listener.name;
    out.attached_routes = listener.attached_routes;
    for (const auto& each : listener.conditions) {
        if (each.type != "Programmed") continue;
        out.conditions.push_back(each);
        out.conditions.back().message.clear();
    }
    return out;
}

Fitting fitting(const std::map<std::string, Candidate>& candidates, const GatewayRoom& room) {
    auto whole = fit(candidates, room, false);
    return whole.left_out.empty() ? whole : fit(candidates, room, true);
}

}  // namespace fairlead::controller
