#include "dnsserver/reply_writer.h"

namespace fairlead::dnsserver {

namespace {

constexpr unsigned pointer_to_question = 0xc00c;
using dns::class_internet;
constexpr std::size_t fixed_bytes = 12;  // owner as a pointer, type, class, TTL, length of the data
constexpr auto cname = static_cast<std::uint16_t>(dns::RecordType::cname);
constexpr auto ipv4 = static_cast<std::uint16_t>(dns::RecordType::a);
constexpr auto ipv6 = static_cast<std::uint16_t>(dns::RecordType::aaaa);

}  // namespace

bool ReplyWriter::add(Section section, std::uint16_t type, const char* records, std::uint64_t start) {
    const auto head = read_records_head(records);
    const char* at = records + records_head_bytes;
    if (ends_in_name(type)) return add_named(section, owner_pointer(), type, head, at);
    return add_finished(section, owner_pointer(), type, head, at, start);
}

bool ReplyWriter::add_at(Section section, std::size_t position, std::uint16_t type, const char* records) {
    const auto head = read_records_head(records);
    return add_finished(section, 0xc000U | static_cast<unsigned>(position), type, head, records + records_head_bytes,
                        0);
}

bool ReplyWriter::add_finished(Section section, unsigned owner, std::uint16_t type, const RecordsHead& head,
                               const char* at, std::uint64_t start) {
    if (!fits(head.served_bytes)) return false;
    char* begin = out_ + size_;
    const unsigned served = head.served();
    if (served > 1 && (type == ipv4 || type == ipv6)) {
        // All are equally long: any of them may come first, so that clients which take the first one spread out.
        const std::size_t each = head.served_bytes / served;
        const std::size_t first = start % served * each;
        std::memcpy(begin, at + first, head.served_bytes - first);
        std::memcpy(begin + head.served_bytes - first, at, first);
    } else {
        std::memcpy(begin, at, head.served_bytes);
    }
    size_ += head.served_bytes;
    counts_[static_cast<std::size_t>(section)] =
        static_cast<std::uint16_t>(counts_[static_cast<std::size_t>(section)] + served);
    if (owner == pointer_to_question) return true;
    for (char* record = begin; record < out_ + size_;) {
        record[0] = static_cast<char>(owner >> 8);
        record[1] = static_cast<char>(owner);
        const unsigned data = static_cast<unsigned char>(record[10]) << 8 | static_cast<unsigned char>(record[11]);
        record += fixed_bytes + data;
    }
    return true;
}

bool ReplyWriter::add_named(Section section, unsigned owner, std::uint16_t type, const RecordsHead& head,
                            const char* at) {
    // The compressed size is known only record by record; the uncompressed one is an upper bound that nearly always
    // fits.
    const unsigned served = head.served();
    if (size_ + head.served_bytes > limit_) {
        std::size_t needed = 0;
        const char* each = at;
        for (unsigned i = 0; i < served; ++i) {
            const auto record = read_record_head(each);
            needed += fixed_bytes + record.keep + (record.shared != 0 ? 2U : 0U);
            each += record_head_bytes + record.size;
        }
        if (!fits(needed)) return false;
    }
    data_count_ = 0;
    for (unsigned i = 0; i < served; ++i) {
        const auto record = read_record_head(at);
        at += record_head_bytes;
        put16(owner);
        put16(type);
        put16(class_internet);
        put16(head.ttl >> 16);
        put16(head.ttl & 0xffffU);
        put16(record.keep + (record.shared != 0 ? 2U : 0U));
        const std::size_t data_at = size_;
        if (data_count_ < max_data_positions) data_[data_count_++] = static_cast<std::uint16_t>(data_at);
        put_bytes({at, record.keep});
        if (record.shared != 0) put16(0xc000U | position_[record.shared]);
        if (type == cname) {
            // What follows belongs to the target: its first labels stand here, the rest where they stood before.
            const Labels target({at, record.size});
            for (unsigned n = 0; n < target.count - record.shared; ++n) {
                position_[target.count - n] = static_cast<std::uint16_t>(data_at + target.at[n]);
            }
            owner_labels_ = target.count;
        }
        at += record.size;
    }
    counts_[static_cast<std::size_t>(section)] =
        static_cast<std::uint16_t>(counts_[static_cast<std::size_t>(section)] + served);
    return true;
}

bool ReplyWriter::add_raw(Section section, std::string_view record) {
    if (!fits(2 + record.size())) return false;
    put16(owner_pointer());
    put_bytes(record);
    ++counts_[static_cast<std::size_t>(section)];
    return true;
}

std::size_t ReplyWriter::finish(unsigned rcode, bool authoritative) {
    // Of the query's flags opcode, "recursion desired" and "checking disabled" stay.
    out_[2] = static_cast<char>((static_cast<unsigned char>(out_[2]) & 0x79U) | 0x80U | (authoritative ? 0x04U : 0U) |
                                (truncated_ ? 0x02U : 0U));
    out_[3] = static_cast<char>((static_cast<unsigned char>(out_[3]) & 0x10U) | (rcode & 0xfU));
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        out_[6 + 2 * i] = static_cast<char>(counts_[i] >> 8);
        out_[7 + 2 * i] = static_cast<char>(counts_[i]);
    }
    return size_;
}

}  // namespace fairlead::dnsserver
