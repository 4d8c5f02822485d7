#include "dns/service_binding.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>
#include <map>

#include "base/text.h"
#include "dns/bytes.h"
#include "dns/tokens.h"

namespace fairlead::dns {

namespace {

constexpr unsigned key_mandatory = 0;
constexpr unsigned key_alpn = 1;
constexpr unsigned key_no_default_alpn = 2;
constexpr unsigned key_port = 3;
constexpr unsigned key_ipv4hint = 4;
constexpr unsigned key_ech = 5;
constexpr unsigned key_ipv6hint = 6;
constexpr std::array<std::string_view, 7> key_names = {"mandatory", "alpn", "no-default-alpn", "port",
                                                       "ipv4hint",  "ech",  "ipv6hint"};
constexpr unsigned reserved_key = 65'535;

std::optional<unsigned> key_number(std::string_view text) {
    for (unsigned i = 0; i < key_names.size(); ++i) {
        if (key_names.at(i) == text) return i;
    }
    if (!text.starts_with("key")) return std::nullopt;
    const auto number = parse_int(text.substr(3));
    if (!number || *number < 0 || *number >= static_cast<std::int64_t>(reserved_key)) return std::nullopt;
    if (std::to_string(*number) != text.substr(3)) return std::nullopt;  // no leading zeros
    return static_cast<unsigned>(*number);
}

std::string key_text(unsigned key) {
    return key < key_names.size() ? std::string(key_names.at(key)) : fmt::format("key{}", key);
}

Result<std::string> parse_hints(std::string_view value, int family, std::size_t size) {
    std::string wire;
    for (const auto part : split(value, ',')) {
        std::array<char, 16> bytes{};
        if (inet_pton(family, std::string(part).c_str(), bytes.data()) != 1) {
            return fail(Errc::invalid, fmt::format("\"{}\" is no address for this hint", part));
        }
        wire.append(bytes.data(), size);
    }
    return wire;
}

Result<std::string> parse_alpn(std::string_view value) {
    std::string wire;
    for (const auto id : split(value, ',')) {
        if (id.empty() || id.size() > 255) return fail(Errc::invalid, "alpn is a list of names like h2,h3");
        put8(wire, static_cast<unsigned>(id.size()));
        wire += id;
    }
    return wire;
}

Result<std::string> parse_mandatory(std::string_view value) {
    std::map<unsigned, int> keys;  // sorted, as the wire wants them
    for (const auto part : split(value, ',')) {
        const auto key = key_number(part);
        if (!key || *key == key_mandatory || keys.contains(*key)) {
            return fail(Errc::invalid, fmt::format("mandatory lists other parameters, once each; \"{}\" is not", part));
        }
        keys[*key] = 1;
    }
    std::string wire;
    for (const auto& [key, once] : keys) put16(wire, key);
    return wire;
}

Result<std::string> parse_value(unsigned key, std::string_view value) {
    switch (key) {
        case key_mandatory:
            return parse_mandatory(value);
        case key_alpn:
            return parse_alpn(value);
        case key_no_default_alpn:
            if (!value.empty()) return fail(Errc::invalid, "no-default-alpn has no value");
            return std::string();
        case key_port: {
            const auto port = parse_int(value);
            if (!port || *port < 0 || *port > 65'535) {
                return fail(Errc::invalid, fmt::format("port \"{}\" is no number from 0 to 65535", value));
            }
            std::string wire;
            put16(wire, static_cast<unsigned>(*port));
            return wire;
        }
        case key_ipv4hint:
            return parse_hints(value, AF_INET, 4);
        case key_ipv6hint:
            return parse_hints(value, AF_INET6, 16);
        case key_ech: {
            const auto bytes = from_base64(value);
            if (!bytes || bytes->empty()) return fail(Errc::invalid, "ech is not base64");
            return *bytes;
        }
        default:
            return std::string(value);
    }
}

Result<void> check_parameters(const std::map<unsigned, std::string>& parameters) {
    const auto mandatory = parameters.find(key_mandatory);
    if (mandatory != parameters.end()) {
        for (std::size_t at = 0; at < mandatory->second.size(); at += 2) {
            const auto key = get16(mandatory->second, at);
            if (!parameters.contains(key)) {
                return fail(Errc::invalid, fmt::format("mandatory names {}, which is not given", key_text(key)));
            }
        }
    }
    if (parameters.contains(key_no_default_alpn) && !parameters.contains(key_alpn)) {
        return fail(Errc::invalid, "no-default-alpn needs alpn");
    }
    return {};
}

std::string addresses_text(std::string_view value, int family, std::size_t size) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at + size <= value.size(); at += size) {
        std::array<char, INET6_ADDRSTRLEN> text{};
        inet_ntop(family, value.data() + at, text.data(), text.size());
        all.emplace_back(text.data());
    }
    return join(all, ",");
}

std::string value_text(unsigned key, std::string_view value) {
    std::vector<std::string> parts;
    switch (key) {
        case key_mandatory:
            for (std::size_t at = 0; at + 2 <= value.size(); at += 2) parts.push_back(key_text(get16(value, at)));
            return join(parts, ",");
        case key_alpn:
            for (std::size_t at = 0; at < value.size(); at += 1 + get8(value, at)) {
                parts.emplace_back(value.substr(at + 1, get8(value, at)));
            }
            return quoted(join(parts, ","));
        case key_no_default_alpn:
            return {};
        case key_port:
            return std::to_string(get16(value, 0));
        case key_ipv4hint:
            return addresses_text(value, AF_INET, 4);
        case key_ipv6hint:
            return addresses_text(value, AF_INET6, 16);
        case key_ech:
            return base64(value);
        default:
            return quoted(value);
    }
}

}  // namespace

Result<std::string> parse_service_binding(std::string_view text) {
    auto tokens = Tokens::split(text);
    if (!tokens) return fail(std::move(tokens.error()));
    const auto priority = tokens->number("priority", 0xffff);
    if (!priority) return fail(priority.error());
    const auto target = tokens->name("target");
    if (!target) return fail(target.error());
    std::map<unsigned, std::string> parameters;
    while (!tokens->empty()) {
        const auto token = tokens->take("parameter");
        const auto equals = token->text.find('=');
        const auto name = token->text.substr(0, equals);
        const auto key = key_number(name);
        if (!key) return fail(Errc::invalid, fmt::format("there is no parameter \"{}\"", name));
        if (parameters.contains(*key)) return fail(Errc::invalid, fmt::format("{} is given twice", name));
        auto value = parse_value(*key, equals == std::string::npos ? "" : token->text.substr(equals + 1));
        if (!value) return fail(std::move(value.error()));
        parameters[*key] = std::move(*value);
    }
    if (*priority == 0 && !parameters.empty()) {
        return fail(Errc::invalid, "priority 0 makes an alias, which has no parameters");
    }
    if (auto ok = check_parameters(parameters); !ok) return fail(std::move(ok.error()));
    std::string wire;
    put16(wire, *priority);
    wire += target->wire();
    for (const auto& [key, value] : parameters) {
        put16(wire, key);
        put16(wire, static_cast<unsigned>(value.size()));
        wire += value;
    }
    return wire;
}

std::string service_binding_text(std::string_view wire) {
    std::string out = std::to_string(get16(wire, 0));
    const auto target = Name::from_wire(wire.substr(2));
    if (!target) return out + " ?";
    out += ' ' + target->text();
    for (std::size_t at = 2 + target->wire().size(); at + 4 <= wire.size();) {
        const auto key = get16(wire, at);
        const auto size = get16(wire, at + 2);
        const auto value = value_text(key, wire.substr(at + 4, size));
        out += ' ' + key_text(key);
        if (!value.empty()) out += '=' + value;
        at += 4 + size;
    }
    return out;
}

}  // namespace fairlead::dns
