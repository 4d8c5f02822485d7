#include "dns/query.h"

#include <algorithm>

#include "dns/bytes.h"
#include "dns/name.h"
#include "dns/wire.h"

namespace fairlead::dns {

std::optional<std::size_t> skip_name(std::string_view packet, std::size_t at, bool pointers) {
    const std::size_t start = at;
    while (at < packet.size()) {
        const unsigned size = get8(packet, at);
        if (size >= 0xc0) {
            if (!pointers || at + 2 > packet.size()) return std::nullopt;
            return at + 2;
        }
        if (size > max_label_bytes) return std::nullopt;
        at += 1 + size;
        if (at - start > max_name_bytes) return std::nullopt;
        if (size == 0) return at;
    }
    return std::nullopt;
}

namespace {

constexpr unsigned flag_checking_disabled = 0x0010;
constexpr unsigned option_server_id = 3;
constexpr unsigned option_subnet = 8;
constexpr std::uint16_t least_payload = 512;
constexpr unsigned flag_dnssec_ok = 0x8000;

bool read_subnet(std::string_view option, Query& query) {
    if (option.size() < 4 || query.subnet) return false;
    ClientSubnet subnet;
    subnet.family = static_cast<std::uint16_t>(get16(option, 0));
    subnet.source = static_cast<std::uint8_t>(get8(option, 2));
    const unsigned scope = get8(option, 3);
    const unsigned most = subnet.family == 1 ? 32 : subnet.family == 2 ? 128 : 0;
    if (most == 0 || subnet.source > most || scope != 0) return false;
    const auto address = option.substr(4);
    if (address.size() != (subnet.source + 7U) / 8) return false;
    std::copy(address.begin(), address.end(), subnet.address.begin());
    if (const unsigned rest = subnet.source % 8; rest != 0) {
        const unsigned last = subnet.address.at(address.size() - 1);
        if ((last & (0xffU >> rest)) != 0) return false;  // bits behind the prefix must be 0
    }
    query.subnet = subnet;
    return true;
}

bool read_options(std::string_view options, Query& query) {
    while (!options.empty()) {
        if (options.size() < 4) return false;
        const unsigned code = get16(options, 0);
        const unsigned size = get16(options, 2);
        if (options.size() < 4 + size) return false;
        if (code == option_server_id) query.server_id_asked = true;
        if (code == option_subnet && !read_subnet(options.substr(4, size), query)) return false;
        options.remove_prefix(4 + size);
    }
    return true;
}

// The OPT record of RFC 6891: what other records call class and TTL has other meanings.
bool read_edns(std::string_view packet, std::size_t name_at, std::size_t fixed_at, std::string_view data,
               Query& query) {
    if (query.edns || get8(packet, name_at) != 0) return false;
    query.edns = true;
    query.payload = std::max(least_payload, static_cast<std::uint16_t>(get16(packet, fixed_at + 2)));
    query.edns_version = static_cast<std::uint8_t>(get8(packet, fixed_at + 5));
    query.dnssec_ok = (get16(packet, fixed_at + 6) & flag_dnssec_ok) != 0;
    return read_options(data, query);
}

// Records behind the question; false if one is broken. Those of the additional section are looked at.
bool read_records(std::string_view packet, std::size_t before, std::size_t additional, Query& query) {
    std::size_t at = query.question_end;
    for (std::size_t i = 0; i < before + additional; ++i) {
        if (query.signature_at) return false;  // the signature is the last record
        const auto name_end = skip_name(packet, at, true);
        if (!name_end || *name_end + 10 > packet.size()) return false;
        const unsigned type = get16(packet, *name_end);
        const unsigned size = get16(packet, *name_end + 8);
        const std::size_t data_at = *name_end + 10;
        if (data_at + size > packet.size()) return false;
        const bool looked_at = i >= before;
        if (looked_at && type == type_opt && !read_edns(packet, at, *name_end, packet.substr(data_at, size), query)) {
            return false;
        }
        if (!looked_at && type == type_opt) return false;
        if (looked_at && type == type_tsig) query.signature_at = at;
        at = data_at + size;
    }
    return at == packet.size();
}

bool read_question(std::string_view packet, Query& query) {
    if (get16(packet, 4) != 1) return false;
    const auto name_end = skip_name(packet, header_bytes, false);
    if (!name_end || *name_end + 4 > packet.size()) return false;
    query.name = packet.substr(header_bytes, *name_end - header_bytes);
    query.type = static_cast<std::uint16_t>(get16(packet, *name_end));
    query.klass = static_cast<std::uint16_t>(get16(packet, *name_end + 2));
    query.question_end = *name_end + 4;
    return true;
}

}  // namespace

Verdict read_query(std::string_view packet, Query& query) {
    query = {};
    if (packet.size() < header_bytes) return Verdict::ignore;
    const unsigned flags = get16(packet, 2);
    if ((flags & flag_response) != 0) return Verdict::ignore;
    query.id = static_cast<std::uint16_t>(get16(packet, 0));
    query.opcode = (flags >> 11) & 0xf;
    query.recursion_desired = (flags & flag_recursion_desired) != 0;
    query.checking_disabled = (flags & flag_checking_disabled) != 0;
    query.question_end = header_bytes;
    const bool read = read_question(packet, query);
    if (query.opcode != 0) {
        if (read && read_records(packet, get16(packet, 6) + get16(packet, 8), get16(packet, 10), query)) {
            return Verdict::unsupported;
        }
        // Whatever its sections mean: only what could be read as a whole is given back.
        Query header;
        header.id = query.id;
        header.opcode = query.opcode;
        header.recursion_desired = query.recursion_desired;
        header.checking_disabled = query.checking_disabled;
        header.question_end = header_bytes;
        query = header;
        return Verdict::unsupported;
    }
    if (!read) return Verdict::malformed;
    const std::size_t answers = get16(packet, 6);
    const std::size_t authority = get16(packet, 8);
    // Only an incremental transfer has something to say before the additional section: the version it has.
    if (answers != 0 || authority > (query.type == type_ixfr ? 1U : 0U)) return Verdict::malformed;
    if (!read_records(packet, authority, get16(packet, 10), query)) return Verdict::malformed;
    return query.edns && query.edns_version != 0 ? Verdict::bad_version : Verdict::answer;
}

}  // namespace fairlead::dns
