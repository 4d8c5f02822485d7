// Writes one reply: sections, compression against the question and the chain that it led to, truncation by whole sets.
// Used by answer.cpp; no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "dns/wire.h"
#include "dnsserver/entry.h"
#include "dnsserver/lookup.h"

namespace fairlead::dnsserver {

using dns::header_bytes;

enum class Section { answer, authority, additional };

class ReplyWriter {
public:
    // Copies header and question as they came. `limit`: so many bytes at most, the rest of the buffer stays unused.
    ReplyWriter(std::span<char> out, std::size_t limit, std::string_view question) : out_(out.data()), limit_(limit) {
        std::memcpy(out_, question.data(), question.size());
        size_ = question.size();
        // Only a question that could be read is given back.
        out_[4] = 0;
        out_[5] = question.size() > header_bytes ? 1 : 0;
    }

    // The owner of what comes next is the question's name, whose labels are these.
    void own_question(const Labels& labels) {
        owner_labels_ = labels.count;
        for (unsigned i = 0; i < labels.count; ++i) {
            position_[labels.count - i] = static_cast<std::uint16_t>(header_bytes + labels.at[i]);
        }
    }
    // The owner is a name above the present one: the apex, a delegation.
    void own_suffix(unsigned labels) { owner_labels_ = labels; }

    // The records that are served of a set (entry.h). False: they did not fit, nothing was written, and the reply is
    // marked as truncated. `start` chooses which of several equal-sized records comes first.
    bool add(Section section, std::uint16_t type, const char* records, std::uint64_t start);
    // A record from its type on.
    bool add_raw(Section section, std::string_view record);
    // As add(), for an owner whose name was written at `position`.
    bool add_at(Section section, std::size_t position, std::uint16_t type, const char* records);

    // Where the data of the last records with names begins, in their order.
    [[nodiscard]] std::span<const std::uint16_t> data_positions() const { return {data_, data_count_}; }

    void put_bytes(std::string_view bytes) {
        std::memcpy(out_ + size_, bytes.data(), bytes.size());
        size_ += bytes.size();
    }
    void count_additional() { ++counts_[2]; }
    void clear_answer(std::size_t question_end) {
        size_ = question_end;
        counts_ = {};
        truncated_ = false;
    }
    void allow(std::size_t bytes) { limit_ += bytes; }
    [[nodiscard]] bool has_room(std::size_t bytes) const { return size_ + bytes <= limit_; }
    [[nodiscard]] bool truncated() const { return truncated_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    // Flags and counts. Returns the size of the whole.
    std::size_t finish(unsigned rcode, bool authoritative);

private:
    [[nodiscard]] bool fits(std::size_t bytes) {
        if (size_ + bytes <= limit_) return true;
        truncated_ = true;
        return false;
    }
    void put16(unsigned value) {
        out_[size_++] = static_cast<char>(value >> 8);
        out_[size_++] = static_cast<char>(value);
    }
    bool add_named(Section section, unsigned owner, std::uint16_t type, const RecordsHead& head, const char* at);
    bool add_finished(Section section, unsigned owner, std::uint16_t type, const RecordsHead& head, const char* at,
                      std::uint64_t start);
    [[nodiscard]] unsigned owner_pointer() const { return 0xc000U | position_[owner_labels_]; }

    static constexpr std::size_t max_data_positions = 32;  // servers of a delegation that get glue

    char* out_;
    std::size_t size_ = 0;
    std::size_t limit_;
    bool truncated_ = false;
    unsigned owner_labels_ = 0;
    std::array<std::uint16_t, 3> counts_{};
    std::size_t data_count_ = 0;
    std::uint16_t data_[max_data_positions];
    // Where the last n labels of the owner were written. Not cleared: only what was written is read.
    std::uint16_t position_[max_labels + 1];
};

}  // namespace fairlead::dnsserver
