#include "dns/message_writer.h"

#include "dns/bytes.h"
#include "dns/soa.h"

namespace fairlead::dns {

namespace {

constexpr std::size_t max_pointer = 0x3fff;  // RFC 1035 section 4.1.4

}  // namespace

MessageWriter::MessageWriter(std::uint16_t id, unsigned flags) {
    put16(bytes_, id);
    put16(bytes_, flags);
    bytes_.append(8, '\0');
}

void MessageWriter::count(std::size_t at) {
    const unsigned value = get16(bytes_, at) + 1;
    bytes_[at] = static_cast<char>(value >> 8);
    bytes_[at + 1] = static_cast<char>(value & 0xff);
}

// Every name that ends `wire`, which was just written at `at`.
void MessageWriter::remember(std::string_view wire, std::size_t at) {
    for (std::size_t from = 0; from < wire.size() && wire[from] != '\0' && at + from <= max_pointer;
         from += 1 + static_cast<unsigned char>(wire[from])) {
        if (!known_.try_emplace(std::string(wire.substr(from)), static_cast<std::uint16_t>(at + from)).second) return;
    }
}

void MessageWriter::question(std::string_view bytes) {
    if (bytes.size() > question_tail_bytes) {
        const auto name = Name::from_wire(bytes);  // in lower case, as all others
        if (name) remember(name->wire(), bytes_.size());
    }
    bytes_ += bytes;
    count(questions_at);
}

void MessageWriter::question(const Name& name, std::uint16_t type) {
    std::string bytes = name.wire();
    put16(bytes, type);
    put16(bytes, class_internet);
    question(bytes);
}

void MessageWriter::name(std::string_view wire) {
    const std::size_t at = bytes_.size();
    for (std::size_t from = 0; wire[from] != '\0'; from += 1 + static_cast<unsigned char>(wire[from])) {
        const auto found = known_.find(wire.substr(from));
        if (found == known_.end()) continue;
        bytes_ += wire.substr(0, from);
        put16(bytes_, 0xc000U | found->second);
        remember(wire, at);
        return;
    }
    bytes_ += wire;
    remember(wire, at);
}

// RFC 3597 section 4: only the types of RFC 1035 may have compressed names in their data.
void MessageWriter::data(RecordType type, std::string_view wire) {
    switch (type) {
        case RecordType::ns:
        case RecordType::cname:
        case RecordType::ptr:
            return name(wire);
        case RecordType::mx:
            bytes_ += wire.substr(0, 2);
            return name(wire.substr(2));
        case RecordType::soa: {
            const auto numbers = wire.size() - soa_numbers_bytes;
            std::size_t second = 0;
            while (wire[second] != '\0') second += 1 + static_cast<unsigned char>(wire[second]);
            ++second;
            name(wire.substr(0, second));
            name(wire.substr(second, numbers - second));
            bytes_ += wire.substr(numbers);
            return;
        }
        case RecordType::a:
        case RecordType::txt:
        case RecordType::aaaa:
        case RecordType::srv:
        case RecordType::tlsa:
        case RecordType::svcb:
        case RecordType::https:
        case RecordType::caa:
            break;
    }
    bytes_ += wire;
}

bool MessageWriter::add(Section section, const Name& owner, RecordType type, std::uint32_t ttl, std::string_view wire,
                        std::size_t limit) {
    return add(section, owner, static_cast<std::uint16_t>(type), class_internet, ttl, wire, limit);
}

bool MessageWriter::add(Section section, const Name& owner, std::uint16_t type, std::uint16_t klass, std::uint32_t ttl,
                        std::string_view wire, std::size_t limit) {
    if (bytes_.size() + owner.wire().size() + record_fixed_bytes + wire.size() > limit) return false;
    name(owner.wire());
    put16(bytes_, type);
    put16(bytes_, klass);
    put32(bytes_, ttl);
    const std::size_t length_at = bytes_.size();
    put16(bytes_, 0);
    // RFC 2136 has records without data.
    if (!wire.empty()) data(static_cast<RecordType>(type), wire);
    const std::size_t length = bytes_.size() - length_at - 2;
    bytes_[length_at] = static_cast<char>(length >> 8);
    bytes_[length_at + 1] = static_cast<char>(length & 0xff);
    count(section == Section::answer ? answers_at : authority_at);
    ++records_;
    return true;
}

void MessageWriter::edns(std::uint16_t payload) {
    bytes_ += '\0';
    put16(bytes_, type_opt);
    put16(bytes_, payload);
    put32(bytes_, 0);
    put16(bytes_, 0);
    count(additional_at);
}

}  // namespace fairlead::dns
