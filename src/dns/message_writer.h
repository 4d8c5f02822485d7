// One DNS message, record by record, with names compressed. For messages off the hot path: transfers, NOTIFY, updates,
// replies to signed requests that are errors. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dns/name.h"
#include "dns/record_type.h"
#include "dns/wire.h"

namespace fairlead::dns {

enum class Section { answer, authority };  // additional holds OPT and signatures alone

class MessageWriter {
public:
    MessageWriter(std::uint16_t id, unsigned flags);

    // Name, type and class as they were sent; before all records.
    void question(std::string_view bytes);
    void question(const Name& name, std::uint16_t type);
    // False, and nothing changes, when the message might become longer than `limit`. Sections in their order.
    bool add(Section section, const Name& owner, RecordType type, std::uint32_t ttl, std::string_view data,
             std::size_t limit);
    // Of any class, with or without data, as updates have them (RFC 2136 sections 2.4 and 2.5).
    bool add(Section section, const Name& owner, std::uint16_t type, std::uint16_t klass, std::uint32_t ttl,
             std::string_view data, std::size_t limit);
    // The OPT record, behind all others.
    void edns(std::uint16_t payload);

    [[nodiscard]] bool has_records() const { return records_ != 0; }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    void name(std::string_view wire);
    void data(RecordType type, std::string_view wire);
    void remember(std::string_view wire, std::size_t at);
    void count(std::size_t at);

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::string bytes_;
    std::unordered_map<std::string, std::uint16_t, Hash, std::equal_to<>> known_;  // names and where they stand
    std::size_t records_ = 0;
};

}  // namespace fairlead::dns
