#include "dns/rdata.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "dns/bytes.h"
#include "dns/service_binding.h"
#include "dns/tokens.h"

namespace fairlead::dns {

namespace {

constexpr std::size_t max_string_bytes = 255;
constexpr std::size_t max_rdata_bytes = 65'535;
constexpr std::uint32_t any16 = 0xffff;
constexpr std::uint32_t any32 = 0xffffffff;

Result<std::string> parse_address(std::string_view text, int family, std::size_t size) {
    std::array<char, 16> bytes{};
    if (inet_pton(family, std::string(text).c_str(), bytes.data()) != 1) {
        return fail(Errc::invalid, fmt::format("\"{}\" is no {} address", text, family == AF_INET ? "IPv4" : "IPv6"));
    }
    return std::string(bytes.data(), size);
}

std::string address_text(std::string_view wire, int family) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(family, wire.data(), text.data(), text.size());
    return text.data();
}

Result<std::string> parse_name(std::string_view text) {
    auto name = parse_target(trim(text));
    if (!name) return fail(std::move(name.error()));
    return name->wire();
}

// A name at `at` of data that was checked; moves behind it.
std::string name_at(std::string_view wire, std::size_t& at) {
    const auto name = Name::from_wire(wire.substr(at));
    if (!name) return "?";
    at += name->wire().size();
    return name->text();
}

void put_string(std::string& out, std::string_view text) {
    put8(out, static_cast<unsigned>(text.size()));
    out += text;
}

Result<std::string> parse_txt(std::string_view text) {
    std::string wire;
    if (!trim(text).starts_with('"')) {
        for (std::size_t at = 0; at < text.size(); at += max_string_bytes) {
            put_string(wire, text.substr(at, max_string_bytes));
        }
        if (text.empty()) put_string(wire, "");
        return wire;
    }
    auto tokens = Tokens::split(text);
    if (!tokens) return fail(std::move(tokens.error()));
    while (!tokens->empty()) {
        const auto token = tokens->take("string");
        if (token->text.size() > max_string_bytes) {
            return fail(Errc::invalid, fmt::format("a string of {} octets is over 255; write it as several strings",
                                                   token->text.size()));
        }
        put_string(wire, token->text);
    }
    return wire;
}

std::string txt_text(std::string_view wire) {
    std::vector<std::string> strings;
    for (std::size_t at = 0; at < wire.size(); at += 1 + get8(wire, at)) {
        strings.push_back(quoted(wire.substr(at + 1, get8(wire, at))));
    }
    return join(strings, " ");
}

// What a record's text consists of, in order.
enum class Part { number8, number16, number32, name, hex, tag, text };
struct NamedPart {
    Part part;
    std::string_view what;
};
using Parts = std::vector<NamedPart>;

Parts parts_of(RecordType type) {
    switch (type) {
        case RecordType::mx:
            return {{Part::number16, "preference"}, {Part::name, "exchange"}};
        case RecordType::srv:
            return {{Part::number16, "priority"},
                    {Part::number16, "weight"},
                    {Part::number16, "port"},
                    {Part::name, "target"}};
        case RecordType::caa:
            return {{Part::number8, "flags"}, {Part::tag, "tag"}, {Part::text, "value"}};
        case RecordType::tlsa:
            return {{Part::number8, "usage"},
                    {Part::number8, "selector"},
                    {Part::number8, "matching type"},
                    {Part::hex, "certificate data"}};
        case RecordType::soa:
            return {{Part::name, "primary server"},  {Part::name, "mailbox"},   {Part::number32, "serial"},
                    {Part::number32, "refresh"},     {Part::number32, "retry"}, {Part::number32, "expire"},
                    {Part::number32, "negative TTL"}};
        case RecordType::a:
        case RecordType::aaaa:
        case RecordType::ns:
        case RecordType::cname:
        case RecordType::ptr:
        case RecordType::txt:
        case RecordType::svcb:
        case RecordType::https:
            return {};
    }
    return {};
}

Result<std::string> parse_hex(Tokens& tokens, std::string_view what) {
    std::string digits;
    while (!tokens.empty()) digits += tokens.take(what)->text;  // master files may break it into several words
    std::string bytes;
    for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
        unsigned value = 0;
        for (const char c : {digits[at], digits[at + 1]}) {
            const auto digit = std::string_view("0123456789abcdef").find(lower(std::string_view(&c, 1)));
            if (digit == std::string_view::npos) {
                return fail(Errc::invalid, fmt::format("{} \"{}\" is not hexadecimal", what, digits));
            }
            value = value * 16 + static_cast<unsigned>(digit);
        }
        put8(bytes, value);
    }
    if (digits.empty() || digits.size() % 2 != 0) {
        return fail(Errc::invalid, fmt::format("{} \"{}\" is no even number of hexadecimal digits", what, digits));
    }
    return bytes;
}

Result<void> append_tag(Tokens& tokens, std::string_view what, std::string& wire) {
    const auto token = tokens.take(what);
    if (!token) return fail(token.error());
    const auto tag = lower(token->text);
    const bool plain = tag.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
    if (tag.empty() || tag.size() > 15 || !plain) {
        return fail(Errc::invalid, fmt::format("{} \"{}\" is not 1 to 15 letters and digits", what, token->text));
    }
    put_string(wire, tag);
    return {};
}

Result<void> append_part(const NamedPart& part, Tokens& tokens, std::string& wire) {
    const auto number = [&](std::uint32_t most, auto put) -> Result<void> {
        const auto value = tokens.number(part.what, most);
        if (!value) return fail(value.error());
        put(wire, *value);
        return {};
    };
    switch (part.part) {
        case Part::number8:
            return number(0xff, put8);
        case Part::number16:
            return number(any16, put16);
        case Part::number32:
            return number(any32, put32);
        case Part::name: {
            const auto name = tokens.name(part.what);
            if (!name) return fail(name.error());
            wire += name->wire();
            return {};
        }
        case Part::hex: {
            const auto bytes = parse_hex(tokens, part.what);
            if (!bytes) return fail(bytes.error());
            wire += *bytes;
            return {};
        }
        case Part::tag:
            return append_tag(tokens, part.what, wire);
        case Part::text: {
            const auto token = tokens.take(part.what);
            if (!token) return fail(token.error());
            wire += token->text;
            return {};
        }
    }
    return {};
}

std::string part_text(Part part, std::string_view wire, std::size_t& at) {
    const auto move = [&](std::size_t size) { return std::exchange(at, at + size); };
    switch (part) {
        case Part::number8:
            return std::to_string(get8(wire, move(1)));
        case Part::number16:
            return std::to_string(get16(wire, move(2)));
        case Part::number32:
            return std::to_string(get32(wire, move(4)));
        case Part::name:
            return name_at(wire, at);
        case Part::hex:
            return hex(wire.substr(move(wire.size() - at)));
        case Part::tag: {
            const auto size = get8(wire, at);
            return std::string(wire.substr(move(1 + size) + 1, size));
        }
        case Part::text:
            return quoted(wire.substr(move(wire.size() - at)));
    }
    return {};
}

Result<std::string> parse_parts(RecordType type, std::string_view text) {
    auto tokens = Tokens::split(text);
    if (!tokens) return fail(std::move(tokens.error()));
    std::string wire;
    for (const auto& part : parts_of(type)) {
        if (auto ok = append_part(part, *tokens, wire); !ok) return fail(std::move(ok.error()));
    }
    if (auto ok = tokens->end(); !ok) return fail(std::move(ok.error()));
    return wire;
}

Result<std::string> parse_any(RecordType type, std::string_view text) {
    switch (type) {
        case RecordType::a:
            return parse_address(trim(text), AF_INET, 4);
        case RecordType::aaaa:
            return parse_address(trim(text), AF_INET6, 16);
        case RecordType::ns:
        case RecordType::cname:
        case RecordType::ptr:
            return parse_name(text);
        case RecordType::txt:
            return parse_txt(text);
        case RecordType::svcb:
        case RecordType::https:
            return parse_service_binding(text);
        case RecordType::mx:
        case RecordType::srv:
        case RecordType::caa:
        case RecordType::tlsa:
        case RecordType::soa:
            return parse_parts(type, text);
    }
    return fail(Errc::unsupported, "no such type");
}

}  // namespace

Result<std::string> parse_rdata(RecordType type, std::string_view text) {
    auto wire = parse_any(type, text);
    if (!wire) return fail(wire.error().code, {}, fmt::format("{} record: {}", type_text(type), wire.error().text()));
    if (wire->size() > max_rdata_bytes) {
        return fail(Errc::invalid,
                    fmt::format("{} record: {} octets are over {}", type_text(type), wire->size(), max_rdata_bytes));
    }
    return wire;
}

std::string rdata_text(RecordType type, std::string_view wire) {
    std::size_t at = 0;
    switch (type) {
        case RecordType::a:
            return address_text(wire, AF_INET);
        case RecordType::aaaa:
            return address_text(wire, AF_INET6);
        case RecordType::ns:
        case RecordType::cname:
        case RecordType::ptr:
            return name_at(wire, at);
        case RecordType::txt:
            return txt_text(wire);
        case RecordType::svcb:
        case RecordType::https:
            return service_binding_text(wire);
        case RecordType::mx:
        case RecordType::srv:
        case RecordType::caa:
        case RecordType::tlsa:
        case RecordType::soa:
            break;
    }
    std::vector<std::string> words;
    for (const auto& part : parts_of(type)) words.push_back(part_text(part.part, wire, at));
    return join(words, " ");
}

}  // namespace fairlead::dns
