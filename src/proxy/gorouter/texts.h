// Texts, each kept once with a count of who holds it. One thread; private to Index.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/text.h"
#include "proxy/gorouter/ids.h"

namespace fairlead::proxy::gorouter {

class Texts {
public:
    // Held once more: to be dropped.
    Id take(std::string_view text) {
        const auto known = find(text);
        if (known != no_id) {
            ++texts_[known].holds;
            return known;
        }
        auto bytes = std::make_unique<char[]>(text.size());
        std::copy(text.begin(), text.end(), bytes.get());
        const auto id = texts_.add({std::move(bytes), static_cast<std::uint32_t>(text.size()), 1});
        by_hash_.insert(hash(text), id);
        return id;
    }
    // no_id: nobody holds it.
    [[nodiscard]] Id find(std::string_view text) const {
        auto found = no_id;
        by_hash_.for_each(hash(text), [&](Id id) {
            if ((*this)[id] == text) found = id;
            return found == no_id;
        });
        return found;
    }
    void hold(Id id) { ++texts_[id].holds; }
    void drop(Id id) {
        if (--texts_[id].holds > 0) return;
        by_hash_.erase(hash((*this)[id]), id);
        texts_.remove(id);
    }
    [[nodiscard]] std::size_t size() const { return texts_.size(); }
    std::string_view operator[](Id id) const { return {texts_[id].bytes.get(), texts_[id].size}; }

private:
    struct Text {
        std::unique_ptr<char[]> bytes;
        std::uint32_t size = 0, holds = 0;
    };
    static std::uint32_t hash(std::string_view text) {
        const auto wide = fnv1a(text);
        return static_cast<std::uint32_t>(wide ^ (wide >> 32));
    }

    Slots<Text> texts_;
    IdTable by_hash_;
};

}  // namespace fairlead::proxy::gorouter
