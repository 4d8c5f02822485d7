// A DNS message from somebody else, taken apart: replies to queries and updates, the messages of a transfer. Names come
// out without compression; data of the types that we know is checked, so that rdata_text may show it. Every packet,
// however broken, gets a verdict. Pure; off the hot path (queries are read by query.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/name.h"
#include "dns/record_type.h"
#include "dns/wire.h"

namespace fairlead::dns {

// The name at `at`, which may be compressed; moves `at` behind it.
std::optional<Name> read_name(std::string_view packet, std::size_t& at);

struct WireRecord {
    Name name;
    std::uint16_t type = 0;  // may be none of RecordType
    std::uint16_t klass = class_internet;
    std::uint32_t ttl = 0;
    std::string data;    // without compression if `known`; else as it stands
    bool known = false;  // one of RecordType with data that can be written as text and read back
    bool operator==(const WireRecord&) const = default;
};

struct Message {
    std::uint16_t id = 0;
    unsigned flags = 0;  // all 16 bits
    struct Question {
        Name name;
        std::uint16_t type = 0, klass = class_internet;
        bool operator==(const Question&) const = default;
    };
    std::optional<Question> question;  // the first; transfers have none behind their first message
    std::vector<WireRecord> answers, authority;
    [[nodiscard]] unsigned rcode() const { return flags & rcode_mask; }
    bool operator==(const Message&) const = default;
};

// Errors: invalid, saying what is broken. The additional section is walked over.
Result<Message> read_message(std::string_view packet);

// Data of a type as it stands in `packet`, with names written out; nothing if it is no such data.
std::optional<std::string> read_rdata(RecordType type, std::string_view packet, std::size_t at, std::size_t size);

// "NXRRSET"; "RCODE 11" of numbers that have no name here.
std::string rcode_text(unsigned rcode);

}  // namespace fairlead::dns
