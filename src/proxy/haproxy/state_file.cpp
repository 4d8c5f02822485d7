#include "proxy/haproxy/state_file.h"

#include <fmt/core.h>

#include "json/value.h"

namespace fairlead::proxy::haproxy {

namespace {

constexpr std::int64_t format = 1;

// Classes by number, in the order of the enums.
json::Object to_object(const PoolClass& one) {
    return {{"protocol", static_cast<int>(one.key.protocol)},
            {"balance", static_cast<int>(one.key.balance)},
            {"security", static_cast<int>(one.key.security)},
            {"cookie", one.key.cookie},
            {"sendProxy", one.key.send_proxy},
            {"size", one.size}};
}

Result<PoolClass> to_class(const json::Value& value) {
    const auto protocol = json::int_at(value, "protocol").value_or(-1);
    const auto balance = json::int_at(value, "balance").value_or(-1);
    const auto security = json::int_at(value, "security").value_or(-1);
    const auto size = json::int_at(value, "size").value_or(-1);
    const bool known = protocol == static_cast<int>(traffic::PoolProtocol::http) ||
                       protocol == static_cast<int>(traffic::PoolProtocol::tcp) ||
                       protocol == static_cast<int>(traffic::PoolProtocol::http2);
    if (!known || balance < 0 || balance > 3 || security < 0 || security > 2 || size < 0 ||
        size > static_cast<std::int64_t>(max_backends)) {
        return fail(Errc::corrupt, "classes", "a class is not one of ours");
    }
    return PoolClass{{.protocol = static_cast<traffic::PoolProtocol>(protocol),
                      .balance = static_cast<traffic::Balance>(balance),
                      .security = static_cast<MemberSecurity>(security),
                      .cookie = std::string(json::string_at(value, "cookie")),
                      .send_proxy = json::bool_at(value, "sendProxy")},
                     static_cast<std::size_t>(size)};
}

}  // namespace

std::string to_json(const State& state) {
    json::Array classes;
    for (const auto& one : state.classes) classes.emplace_back(to_object(one));
    json::Array sockets;
    for (const auto& address : state.sockets) sockets.emplace_back(address);
    const json::Object object{
        {"format", format},           {"version", state.version},      {"reloads", state.reloads},
        {"settings", state.settings}, {"sockets", std::move(sockets)}, {"classes", std::move(classes)}};
    return json::pretty(object) + "\n";
}

Result<State> parse_state(std::string_view text) {
    const auto value = json::parse(text);
    if (!value) return fail(Errc::corrupt, value.error().text());
    if (json::int_at(*value, "format") != format) return fail(Errc::unsupported, "format", "is not 1");
    State state{.settings = std::string(json::string_at(*value, "settings")),
                .version = static_cast<std::uint64_t>(json::int_at(*value, "version").value_or(0)),
                .reloads = static_cast<std::uint64_t>(json::int_at(*value, "reloads").value_or(0))};
    const auto* classes = json::find(*value, "classes");
    const auto* sockets = json::find(*value, "sockets");
    if (classes == nullptr || !classes->is_array() || sockets == nullptr || !sockets->is_array()) {
        return fail(Errc::corrupt, "classes or sockets are missing");
    }
    for (const auto& one : classes->get_array()) {
        auto parsed = to_class(one);
        if (!parsed) return fail(parsed.error());
        state.classes.push_back(std::move(*parsed));
    }
    for (const auto& one : sockets->get_array()) {
        if (!one.is_string()) return fail(Errc::corrupt, "sockets", "one is no string");
        state.sockets.emplace_back(json::view(one.get_string()));
    }
    return state;
}

}  // namespace fairlead::proxy::haproxy
