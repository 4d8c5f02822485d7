// A zone as the messages of a full transfer (RFC 5936), one at a time, so that a zone of any size takes the memory of
// one message. Who may ask for one is decided here too. No socket, clock or lock; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "dns/message_writer.h"
#include "dns/query.h"
#include "dns/sets.h"
#include "dnsserver/transfer_policy.h"

namespace fairlead::dnsserver {

using dns::MessageWriter;
using dns::type_axfr;
using dns::type_ixfr;
// A pointer of compressed names reaches 16 KiB: longer messages gain nothing.
inline constexpr std::size_t transfer_message_bytes = 16 * 1024U;
inline constexpr std::size_t edns_bytes = 11;

// Whether a peer of the zone has this address, and wants no key or this one.
bool may_copy(const TransferPolicy& policy, const dns::Name& apex, const dns::Address& address,
              const std::optional<dns::Name>& key);

// The serial that the asker of an incremental transfer has; nothing if it does not say.
std::optional<std::uint32_t> known_serial(std::string_view packet, const dns::Query& query);
// RFC 1982: `a` is the same as `b` or came after it.
bool same_or_newer(std::uint32_t a, std::uint32_t b);

// Gives the next name of the zone with its sets, in any order, the apex included; false: that was all.
using ZoneWalk = std::function<bool(dns::Name& name, dns::Sets& sets)>;

struct TransferRequest {
    std::uint16_t id = 0;
    bool recursion_desired = false;
    std::string question;       // as it was sent
    std::uint16_t edns = 0;     // the payload to say in the first message; 0: the asker has no EDNS
    std::size_t signature = 0;  // bytes to leave free in each message
};

class TransferStream {
public:
    // `soa`: of the apex, one record.
    TransferStream(TransferRequest request, dns::Name apex, dns::Variant soa, ZoneWalk walk);

    enum class Step {
        message,  // there may be more
        last,
        too_large,  // a record does not fit into any message: the transfer cannot go on, and the asker is told
    };
    Step next(std::string& message);
    // The message that tells the asker that the transfer ends here, without its rest.
    [[nodiscard]] std::string abort() const;

    [[nodiscard]] std::uint64_t records() const { return records_; }
    // The record that was too large: "NAME TYPE".
    [[nodiscard]] std::string culprit() const;

private:
    [[nodiscard]] unsigned flags() const;
    bool fill(MessageWriter& writer);
    bool add(MessageWriter& writer, const dns::Name& owner, dns::RecordType type, const dns::Variant& variant,
             const std::string& data);
    bool advance();

    TransferRequest request_;
    dns::Name apex_;
    dns::Variant soa_;
    ZoneWalk walk_;
    dns::Name name_;
    dns::Sets sets_;        // of name_, flat; what was sent is taken out
    std::size_t sent_ = 0;  // so many data of the first set
    enum class Stage { opening, body, closing } stage_ = Stage::opening;
    bool first_message_ = true;
    std::uint64_t records_ = 0;
};

}  // namespace fairlead::dnsserver
