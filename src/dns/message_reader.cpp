#include "dns/message_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "dns/bytes.h"
#include "dns/rdata.h"
#include "dns/soa.h"

namespace fairlead::dns {

namespace {

constexpr unsigned max_jumps = 16;  // of compressed names: honest ones need one or two
constexpr unsigned parameter_port = 3;

// Reads forward through the data of one record; names may point back into the packet.
class DataReader {
public:
    DataReader(std::string_view packet, std::size_t at, std::size_t size) : packet_(packet), at_(at), end_(at + size) {}

    bool fixed(std::size_t size) {
        if (size > end_ - at_) return false;
        out_ += packet_.substr(at_, size);
        at_ += size;
        return true;
    }
    bool name() {
        const auto name = read_name(packet_.substr(0, end_), at_);
        if (!name) return false;
        out_ += name->wire();
        return true;
    }
    // Of strings with their lengths, at least one.
    bool strings() {
        if (at_ == end_) return false;
        while (at_ < end_) {
            if (!fixed(1 + get8(packet_, at_))) return false;
        }
        return true;
    }
    bool rest() { return fixed(end_ - at_); }
    [[nodiscard]] bool ended() const { return at_ == end_; }
    // RFC 9460: keys rise, each has a value of the length that it says.
    bool parameters() {
        while (at_ < end_) {
            if (end_ - at_ < 4) return false;
            const auto key = get16(packet_, at_);
            const std::size_t size = get16(packet_, at_ + 2);
            if (key == parameter_port && size != 2) return false;
            if (!fixed(4 + size)) return false;
        }
        return true;
    }
    std::string take() { return std::move(out_); }

private:
    std::string_view packet_;
    std::size_t at_, end_;
    std::string out_;
};

bool read_data(RecordType type, DataReader& reader) {
    switch (type) {
        case RecordType::a:
            return reader.fixed(4);
        case RecordType::aaaa:
            return reader.fixed(16);
        case RecordType::ns:
        case RecordType::cname:
        case RecordType::ptr:
            return reader.name();
        case RecordType::mx:
            return reader.fixed(2) && reader.name();
        case RecordType::srv:
            return reader.fixed(6) && reader.name();
        case RecordType::soa:
            return reader.name() && reader.name() && reader.fixed(soa_numbers_bytes);
        case RecordType::txt:
            return reader.strings();
        case RecordType::tlsa:
            return reader.fixed(3) && reader.rest();
        case RecordType::caa:
            return reader.rest();
        case RecordType::svcb:
        case RecordType::https:
            return reader.fixed(2) && reader.name() && reader.parameters();
    }
    return false;
}

// Flags, a tag of at least one character, any value: what rdata_text can walk.
bool plausible_caa(std::string_view wire) {
    return wire.size() >= 2 && get8(wire, 1) >= 1 && 2U + get8(wire, 1) <= wire.size();
}

bool known_type(std::uint16_t number) { return !type_text(number).starts_with("TYPE"); }

std::optional<WireRecord> read_record(std::string_view packet, std::size_t& at) {
    auto name = read_name(packet, at);
    if (!name || at + record_fixed_bytes > packet.size()) return std::nullopt;
    WireRecord record;
    record.name = std::move(*name);
    record.type = static_cast<std::uint16_t>(get16(packet, at));
    record.klass = static_cast<std::uint16_t>(get16(packet, at + 2));
    record.ttl = get32(packet, at + 4);
    const std::size_t size = get16(packet, at + 8);
    at += record_fixed_bytes;
    if (at + size > packet.size()) return std::nullopt;
    if (known_type(record.type)) {
        if (auto data = read_rdata(static_cast<RecordType>(record.type), packet, at, size)) {
            record.data = std::move(*data);
            record.known = true;
        }
    }
    if (!record.known) record.data = packet.substr(at, size);
    at += size;
    return record;
}

bool read_section(std::string_view packet, unsigned count, std::size_t& at, std::vector<WireRecord>& records) {
    // The least record has 11 bytes: a count that promises more than that is no reason to reserve it.
    records.reserve(std::min<std::size_t>(count, (packet.size() - at) / (record_fixed_bytes + 1) + 1));
    for (unsigned i = 0; i < count; ++i) {
        auto record = read_record(packet, at);
        if (!record) return false;
        records.push_back(std::move(*record));
    }
    return true;
}

}  // namespace

std::optional<Name> read_name(std::string_view packet, std::size_t& at) {
    std::string wire;
    std::size_t from = at;
    bool jumped = false;
    for (unsigned jumps = 0; jumps <= max_jumps;) {
        if (from >= packet.size()) return std::nullopt;
        const unsigned size = get8(packet, from);
        if (size >= 0xc0) {
            if (from + 2 > packet.size()) return std::nullopt;
            if (!jumped) at = from + 2;
            jumped = true;
            ++jumps;
            from = get16(packet, from) & 0x3fffU;
            continue;
        }
        if (size > max_label_bytes || from + 1 + size > packet.size()) return std::nullopt;
        wire += packet.substr(from, 1 + size);
        if (wire.size() > max_name_bytes) return std::nullopt;
        from += 1 + size;
        if (size != 0) continue;
        if (!jumped) at = from;
        auto name = Name::from_wire(wire);
        if (!name) return std::nullopt;
        return std::move(*name);
    }
    return std::nullopt;
}

std::optional<std::string> read_rdata(RecordType type, std::string_view packet, std::size_t at, std::size_t size) {
    if (at > packet.size() || size > packet.size() - at) return std::nullopt;
    DataReader reader(packet, at, size);
    if (!read_data(type, reader) || !reader.ended()) return std::nullopt;
    auto wire = reader.take();
    if (type == RecordType::caa && !plausible_caa(wire)) return std::nullopt;
    if (type == RecordType::a || type == RecordType::aaaa || type == RecordType::txt) return wire;  // always do
    // Whoever reads the text must come to the same bytes: else we would change what we only show.
    const auto again = parse_rdata(type, rdata_text(type, wire));
    if (!again || *again != wire) return std::nullopt;
    return wire;
}

Result<Message> read_message(std::string_view packet) {
    if (packet.size() < header_bytes) {
        return fail(Errc::invalid, fmt::format("{} bytes are no DNS message", packet.size()));
    }
    Message message;
    message.id = static_cast<std::uint16_t>(get16(packet, 0));
    message.flags = get16(packet, 2);
    std::size_t at = header_bytes;
    for (unsigned i = 0; i < get16(packet, questions_at); ++i) {
        auto name = read_name(packet, at);
        if (!name || at + question_tail_bytes > packet.size()) {
            return fail(Errc::invalid, "the question of a DNS message is broken");
        }
        if (!message.question) {
            message.question = Message::Question{std::move(*name), static_cast<std::uint16_t>(get16(packet, at)),
                                                 static_cast<std::uint16_t>(get16(packet, at + 2))};
        }
        at += question_tail_bytes;
    }
    if (!read_section(packet, get16(packet, answers_at), at, message.answers)) {
        return fail(Errc::invalid, "the answer section of a DNS message is broken");
    }
    if (!read_section(packet, get16(packet, authority_at), at, message.authority)) {
        return fail(Errc::invalid, "the authority section of a DNS message is broken");
    }
    for (unsigned i = 0; i < get16(packet, additional_at); ++i) {
        if (!read_name(packet, at) || at + record_fixed_bytes > packet.size()) {
            return fail(Errc::invalid, "the additional section of a DNS message is broken");
        }
        at += record_fixed_bytes + get16(packet, at + 8);
        if (at > packet.size()) return fail(Errc::invalid, "the additional section of a DNS message is broken");
    }
    return message;
}

std::string rcode_text(unsigned rcode) {
    static constexpr std::array<std::string_view, 11> names{"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
                                                            "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
                                                            "NXRRSET", "NOTAUTH", "NOTZONE"};
    if (rcode < names.size()) return std::string(names.at(rcode));
    return fmt::format("RCODE {}", rcode);
}

}  // namespace fairlead::dns
