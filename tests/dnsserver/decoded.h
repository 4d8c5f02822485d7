// A message taken apart into lines, for tests that compare what was sent with what was meant.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "dns/bytes.h"
#include "dns/name.h"
#include "dns/rdata.h"
#include "dns/record_type.h"

namespace fairlead::dnsserver {

struct Decoded {
    unsigned id = 0, flags = 0, rcode = 0;
    std::vector<std::string> questions;  // "example.com AXFR", types by number: "example.com TYPE252"
    std::vector<std::string> answer, authority, additional;  // "www.example.com 60 A 192.0.2.1"
    unsigned tsig_error = 0;
    std::size_t mac_bytes = 0;
    bool tsig = false, edns = false;
};

class Decoder {
public:
    explicit Decoder(std::string_view packet) : packet_(packet) {}
    Decoded decode() {
        Decoded result;
        result.id = dns::get16(packet_, 0);
        result.flags = dns::get16(packet_, 2);
        result.rcode = result.flags & 0xf;
        for (unsigned i = 0; i < dns::get16(packet_, 4); ++i) {
            const auto name = read_name(at_);
            result.questions.push_back(name.host() + " " + dns::type_text(static_cast<std::uint16_t>(take16())));
            take16();
        }
        read_records(dns::get16(packet_, 6), result.answer, result);
        read_records(dns::get16(packet_, 8), result.authority, result);
        read_records(dns::get16(packet_, 10), result.additional, result);
        EXPECT_EQ(at_, packet_.size()) << "bytes behind the last record";
        return result;
    }

private:
    unsigned take16() {
        at_ += 2;
        return dns::get16(packet_, at_ - 2);
    }
    dns::Name read_name(std::size_t& at) {
        std::string wire;
        std::size_t from = at;
        bool jumped = false;
        while (true) {
            const unsigned size = dns::get8(packet_, from);
            if (size >= 0xc0) {
                const std::size_t target = dns::get16(packet_, from) & 0x3fffU;
                EXPECT_LT(target, from) << "a pointer must point back";
                if (!jumped) at = from + 2;
                jumped = true;
                from = target;
                if (target >= packet_.size()) return {};
                continue;
            }
            wire += packet_.substr(from, 1 + size);
            from += 1 + size;
            if (size == 0) break;
        }
        if (!jumped) at = from;
        return dns::Name::from_wire(wire).value();
    }
    std::string plain_data(std::uint16_t type, std::size_t at, std::size_t size) {
        using dns::RecordType;
        const auto names_at = [&](std::size_t before, unsigned names) {
            std::string out(packet_.substr(at, before));
            std::size_t from = at + before;
            for (unsigned i = 0; i < names; ++i) out += read_name(from).wire();
            return out.append(packet_.substr(from, at + size - from));
        };
        switch (static_cast<RecordType>(type)) {
            case RecordType::ns:
            case RecordType::cname:
            case RecordType::ptr:
                return names_at(0, 1);
            case RecordType::mx:
                return names_at(2, 1);
            case RecordType::soa:
                return names_at(0, 2);
            default:
                return std::string(packet_.substr(at, size));
        }
    }
    void read_records(unsigned count, std::vector<std::string>& lines, Decoded& result) {
        for (unsigned i = 0; i < count; ++i) {
            const auto owner = read_name(at_);
            const auto type = static_cast<std::uint16_t>(take16());
            take16();
            const auto ttl = dns::get32(packet_, at_);
            at_ += 4;
            const std::size_t size = take16();
            if (type == 41) {
                result.edns = true;
            } else if (type == 250) {
                read_tsig(size, result);
            } else {
                const auto known = static_cast<dns::RecordType>(type);
                lines.push_back(fmt::format("{} {} {} {}", owner.host(), ttl, dns::type_text(type),
                                            dns::rdata_text(known, plain_data(type, at_, size))));
            }
            at_ += size;
        }
    }
    void read_tsig(std::size_t size, Decoded& result) {
        result.tsig = true;
        const auto data = packet_.substr(at_, size);
        const auto algorithm = dns::Name::from_wire(data);
        const std::size_t mac_at = algorithm->wire().size() + 8;
        result.mac_bytes = dns::get16(data, mac_at);
        result.tsig_error = dns::get16(data, mac_at + 2 + result.mac_bytes + 2);
    }

    std::string_view packet_;
    std::size_t at_ = 12;
};

inline Decoded decode(std::string_view packet) { return Decoder(packet).decode(); }

}  // namespace fairlead::dnsserver
