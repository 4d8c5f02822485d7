#include "lookup/question.h"

#include <algorithm>

#include "dns/message_reader.h"
#include "dns/message_writer.h"
#include "dns/rdata.h"

namespace fairlead::lookup {
namespace {

using dns::RecordType;

constexpr int max_hops = 16;  // what resolvers themselves follow

std::uint32_t ttl_of(const dns::WireRecord& record) {
    // RFC 2181 section 8: with the highest bit set it is 0.
    return (record.ttl & 0x80000000U) != 0 ? 0 : record.ttl;
}

bool is(const dns::WireRecord& record, const dns::Name& name, RecordType type) {
    return record.known && record.klass == dns::class_internet && record.type == static_cast<std::uint16_t>(type) &&
           record.name == name;
}

// The CNAME of the name in the answer.
const dns::WireRecord* alias_of(const dns::Message& message, const dns::Name& name) {
    const auto found = std::find_if(message.answers.begin(), message.answers.end(),
                                    [&](const dns::WireRecord& record) { return is(record, name, RecordType::cname); });
    return found == message.answers.end() ? nullptr : &*found;
}

}  // namespace

std::string question_message(const Question& question) {
    dns::MessageWriter writer(question.id, dns::flag_recursion_desired);
    writer.question(question.name, static_cast<std::uint16_t>(question.type));
    return writer.take();
}

std::optional<Reply> read_reply(const Question& question, std::string_view packet) {
    const auto message = dns::read_message(packet);
    if (!message || message->id != question.id || (message->flags & dns::flag_response) == 0 ||
        (message->flags & dns::opcode_mask) != 0) {
        return std::nullopt;
    }
    const dns::Message::Question asked{question.name, static_cast<std::uint16_t>(question.type), dns::class_internet};
    if (message->question != asked) return std::nullopt;

    Reply reply;
    reply.rcode = message->rcode();
    reply.truncated = (message->flags & dns::flag_truncated) != 0;
    if (reply.rcode != dns::rcode_noerror || reply.truncated) return reply;
    auto name = question.name;
    std::uint32_t ttl = 0xffffffff;
    for (int hops = 0; hops < max_hops; ++hops) {
        const auto* alias = alias_of(*message, name);
        if (alias == nullptr) break;
        auto target = dns::Name::from_wire(alias->data);
        if (!target) break;
        ttl = std::min(ttl, ttl_of(*alias));
        name = std::move(*target);
    }
    for (const auto& record : message->answers) {
        if (!is(record, name, question.type)) continue;
        reply.addresses.push_back(dns::rdata_text(question.type, record.data));
        ttl = std::min(ttl, ttl_of(record));
    }
    if (!reply.addresses.empty()) reply.ttl = ttl;
    return reply;
}

}  // namespace fairlead::lookup
