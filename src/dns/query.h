// A query as it comes from the wire. Reading one allocates nothing and keeps the bytes of the question as they were
// sent; every packet, however broken, gets a verdict. Pure; used by the server's hot path and by its fuzzer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::dns {

// RFC 7871: the network that the resolver asks for.
struct ClientSubnet {
    std::uint16_t family = 0;                 // 1: IPv4, 2: IPv6
    std::uint8_t source = 0;                  // length of the prefix
    std::array<unsigned char, 16> address{};  // the bits behind the prefix are 0
    bool operator==(const ClientSubnet&) const = default;
};

struct Query {
    std::uint16_t id = 0;
    unsigned opcode = 0;
    bool recursion_desired = false;
    bool checking_disabled = false;
    std::string_view name;  // wire form, its case kept; points into the packet
    std::uint16_t type = 0;
    std::uint16_t klass = 0;
    std::size_t question_end = 0;  // where in the packet the question ends
    bool edns = false;
    std::uint8_t edns_version = 0;
    std::uint16_t payload = 512;  // what the asker can take over UDP; never below 512
    bool dnssec_ok = false;
    bool server_id_asked = false;  // RFC 5001
    std::optional<ClientSubnet> subnet;
    std::optional<std::size_t> signature_at;  // where the TSIG record begins
};

enum class Verdict {
    answer,       // all of `Query` is filled in
    ignore,       // no query: too short, or itself an answer; any reply might be an attack's tool
    malformed,    // FORMERR. id, opcode and recursion_desired are filled in; of the question what could be read
    unsupported,  // NOTIMP: another opcode. The same members are filled in; question and EDNS if all could be read
    bad_version,  // BADVERS: an EDNS version that we do not speak. All of `Query` is filled in
};

Verdict read_query(std::string_view packet, Query& query);

// Where the name at `at` ends; nothing if it does not. A pointer, where they are allowed, ends a name where it stands.
std::optional<std::size_t> skip_name(std::string_view packet, std::size_t at, bool pointers);

}  // namespace fairlead::dns
