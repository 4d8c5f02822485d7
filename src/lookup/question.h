// One question to a resolver and what its reply says. Pure: the fuzzer drives it too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dns/name.h"
#include "dns/record_type.h"

namespace fairlead::lookup {

struct Question {
    std::uint16_t id = 0;
    dns::Name name;
    dns::RecordType type = dns::RecordType::a;  // or aaaa
};

std::string question_message(const Question& question);

struct Reply {
    unsigned rcode = 0;
    bool truncated = false;              // ask again over TCP
    std::vector<std::string> addresses;  // at the end of the chain of CNAMEs, in the order they came
    std::uint32_t ttl = 0;               // the smallest on the way; 0 without addresses
};

// Nothing: this is no reply to the question (another id, another name, garbage), and whoever sent it is ignored.
std::optional<Reply> read_reply(const Question& question, std::string_view packet);

}  // namespace fairlead::lookup
