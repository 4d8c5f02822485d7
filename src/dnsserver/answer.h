// One packet in, one reply out: the whole of answering, without a socket, a clock, a lock or an allocation. Each worker
// has its own Answerer. Agrees with dns::resolve, which says what is right.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dns/address.h"
#include "dns/wire.h"
#include "dnsserver/fast_random.h"
#include "dnsserver/fwd.h"
#include "dnsserver/pick.h"
#include "geo/fwd.h"

namespace fairlead::dnsserver {

using dns::max_message_bytes;                                // over TCP; also the length of the buffer for a reply
inline constexpr std::uint16_t default_udp_payload = 1'232;  // DNS flag day 2020: passes every path unfragmented

struct AnswerSettings {
    std::string version;   // CH TXT version.bind and version.server; empty: REFUSED
    std::string identity;  // CH TXT id.server and hostname.bind, NSID; empty: REFUSED
    std::uint16_t udp_payload = default_udp_payload;
};

struct Asker {
    dns::Address address;
    bool stream = false;  // TCP: up to max_message_bytes, and no truncation before
};

struct Reply {
    enum class Kind {
        message,  // `size` bytes are to be sent
        silence,  // no answer is due: not a query
        special,  // signed, or a transfer: Correspondent (correspondent.h) answers, off the hot path
    } kind = Kind::silence;
    std::size_t size = 0;
};

class Answerer {
public:
    // `settings` and `tally` outlive it.
    Answerer(const AnswerSettings& settings, FastRandom random, Tally& tally)
        : settings_(settings), random_(random), tally_(tally) {}

    // `places` may be null: then all clients are at a place that is not known. `out` holds max_message_bytes.
    Reply answer(const Snapshot& zones, const geo::Table* places, std::string_view packet, const Asker& asker,
                 std::span<char> out);
    // The reply as if the query were not signed, leaving `reserve` bytes of the asker's payload free for a signature.
    Reply answer_unsigned(const Snapshot& zones, const geo::Table* places, std::string_view packet, const Asker& asker,
                          std::size_t reserve, std::span<char> out);

private:
    friend class Answering;
    Reply answer_query(const Snapshot& zones, const geo::Table* places, std::string_view packet, const Asker& asker,
                       std::optional<std::size_t> signature, std::span<char> out);
    const AnswerSettings& settings_;
    FastRandom random_;
    Tally& tally_;
    HealthMarks marks_;
};

}  // namespace fairlead::dnsserver
