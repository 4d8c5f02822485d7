// Texts that many things share, each kept once while somebody has it: addresses of cells. Inside this layer; one
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_table.h"

namespace fairlead::lrp {

class Interned {
public:
    using Id = std::uint32_t;

    Id take(std::string_view text) {
        const auto hash = hash_of(text);
        auto found = no_id;
        table_.for_each(hash, [&](Id id) {
            if (entries_[id].text == text) found = id;
            return found == no_id;
        });
        if (found == no_id) {
            if (free_.empty()) {
                found = static_cast<Id>(entries_.size());
                entries_.emplace_back();
            } else {
                found = free_.back();
                free_.pop_back();
            }
            entries_[found].text = text;
            table_.insert(hash, found);
        }
        ++entries_[found].users;
        return found;
    }
    void release(Id id) {
        if (--entries_[id].users > 0) return;
        table_.erase(hash_of(entries_[id].text), id);
        entries_[id].text.clear();
        free_.push_back(id);
    }
    [[nodiscard]] const std::string& text(Id id) const { return entries_[id].text; }

private:
    struct Entry {
        std::string text;
        std::size_t users = 0;
    };
    static std::uint32_t hash_of(std::string_view text) {
        return static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
    }
    std::vector<Entry> entries_;
    std::vector<Id> free_;
    IdTable table_;
};

}  // namespace fairlead::lrp
