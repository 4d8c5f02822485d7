// Reads replies in tests: a second, straightforward reading of the wire format, with every check that a careful
// resolver makes.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dns/bytes.h"
#include "dns/name.h"
#include "dns/rdata.h"
#include "dns/resolve.h"

namespace fairlead::dnsserver {

struct Message {
    unsigned id = 0, flags = 0, rcode = 0;
    bool authoritative = false, truncated = false;
    std::string question;  // as sent, name only
    std::vector<dns::Record> answer, authority, additional;
    bool edns = false;
    unsigned payload = 0, extended_rcode = 0;
    std::string options;
};

class MessageReader {
public:
    explicit MessageReader(std::string_view bytes) : bytes_(bytes) {}

    Message read() {
        Message message;
        EXPECT_GE(bytes_.size(), 12U);
        message.id = dns::get16(bytes_, 0);
        message.flags = dns::get16(bytes_, 2);
        EXPECT_NE(message.flags & 0x8000U, 0U) << "not a reply";
        message.rcode = message.flags & 0xfU;
        message.authoritative = (message.flags & 0x0400U) != 0;
        message.truncated = (message.flags & 0x0200U) != 0;
        at_ = 12;
        for (unsigned i = 0; i < dns::get16(bytes_, 4); ++i) {
            const auto begin = at_;
            name();
            message.question = bytes_.substr(begin, at_ - begin);
            at_ += 4;
        }
        read_section(message, dns::get16(bytes_, 6), message.answer);
        read_section(message, dns::get16(bytes_, 8), message.authority);
        read_section(message, dns::get16(bytes_, 10), message.additional);
        EXPECT_EQ(at_, bytes_.size()) << "bytes behind the last record";
        return message;
    }

private:
    dns::Name name() {
        std::string wire;
        std::size_t at = at_;
        bool jumped = false;
        for (int steps = 0; steps < 200 && at < bytes_.size(); ++steps) {
            const unsigned size = dns::get8(bytes_, at);
            if (size >= 0xc0) {
                const std::size_t target = dns::get16(bytes_, at) & 0x3fffU;
                EXPECT_LT(target, at) << "a pointer forwards";
                if (!jumped) at_ = at + 2;
                jumped = true;
                at = target;
                continue;
            }
            wire += bytes_.substr(at, 1 + size);
            at += 1 + size;
            if (size == 0) {
                if (!jumped) at_ = at;
                const auto result = dns::Name::from_wire(wire);
                EXPECT_TRUE(result);
                return result.value_or(dns::Name());
            }
        }
        ADD_FAILURE() << "a name without end";
        at_ = bytes_.size();
        return {};
    }
    void read_section(Message& message, unsigned count, std::vector<dns::Record>& out) {
        for (unsigned i = 0; i < count && at_ < bytes_.size(); ++i) {
            dns::Record record;
            record.owner = name();
            const auto type = dns::get16(bytes_, at_);
            const auto klass = dns::get16(bytes_, at_ + 2);
            record.type = static_cast<dns::RecordType>(type);
            record.ttl = dns::get32(bytes_, at_ + 4);
            const auto size = dns::get16(bytes_, at_ + 8);
            at_ += 10;
            const auto end = at_ + size;
            ASSERT_LE(end, bytes_.size());
            if (type == 41) {
                message.edns = true;
                message.payload = klass;
                message.extended_rcode = (record.ttl >> 24) << 4 | message.rcode;
                message.options = bytes_.substr(at_, size);
                at_ = end;
                continue;
            }
            if (type == 15) {
                record.data = bytes_.substr(at_, 2);
                at_ += 2;
            }
            if (type == 2 || type == 5 || type == 12 || type == 15) {
                record.data += name().wire();
                EXPECT_EQ(at_, end) << "the data's length is wrong";
            } else {
                record.data = bytes_.substr(at_, size);
            }
            at_ = end;
            out.push_back(std::move(record));
        }
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
};

inline Message read_message(std::string_view bytes) { return MessageReader(bytes).read(); }

struct QueryOptions {
    std::optional<unsigned> payload;  // EDNS
    std::string options;              // EDNS options
    unsigned version = 0;
    unsigned klass = 1;
    unsigned flags = 0x0100;
};

// A query in wire form; the name keeps its case.
inline std::string make_query(std::string_view name, unsigned type, const QueryOptions& how = {}) {
    std::string out;
    dns::put16(out, 0x1234);
    dns::put16(out, how.flags);
    dns::put16(out, 1);
    dns::put32(out, 0);
    dns::put16(out, how.payload ? 1 : 0);
    for (std::size_t at = 0; at < name.size();) {
        const auto dot = std::min(name.find('.', at), name.size());
        dns::put8(out, static_cast<unsigned>(dot - at));
        out += name.substr(at, dot - at);
        at = dot + 1;
    }
    dns::put8(out, 0);
    dns::put16(out, type);
    dns::put16(out, how.klass);
    if (how.payload) {
        dns::put8(out, 0);
        dns::put16(out, 41);
        dns::put16(out, *how.payload);
        dns::put8(out, 0);
        dns::put8(out, how.version);
        dns::put16(out, 0);
        dns::put16(out, static_cast<unsigned>(how.options.size()));
        out += how.options;
    }
    return out;
}

// The option of RFC 7871, from "192.0.2.0" and a length.
std::string subnet_option(std::string_view address, unsigned length);

}  // namespace fairlead::dnsserver
