// The texts of ownership records, by the names that they are about. Holds views of the sets that it was made of, which
// must stay where they are. Built once per reading, then only read. Private to the registry.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dns/endpoint.h"
#include "plan/names.h"
#include "plan/owner_names.h"
#include "plan/owner_text.h"

namespace fairlead::plan {

enum class TextForm : std::uint8_t { shared, typed, legacy };

// One text of one set, about one name.
struct IndexedText {
    std::string_view name;    // that it is about; of the typed and legacy forms with the wildcard as it is replaced
    std::string_view plain;   // all that it says, decrypted
    std::string_view owner;   // may be empty: says that nobody owns it
    std::string_view detail;  // see below
    std::uint32_t set = 0, target = 0;  // where it stands
    std::uint32_t next = 0;             // of the same hash; one more than its index, 0: none
    TextForm form = TextForm::shared;
    bool encrypted = false;
    bool first = false;  // of its name
    [[nodiscard]] std::string_view type() const { return form == TextForm::typed ? detail : std::string_view(); }
    [[nodiscard]] std::string_view records() const { return form == TextForm::shared ? detail : std::string_view(); }
};

class OwnerIndex {
public:
    enum class Lookup { none, by_name };  // none: for texts() alone
    OwnerIndex(std::span<const dns::Endpoint> sets, std::span<const Affix> affixes, std::string_view encryption_key,
               Lookup lookup = Lookup::by_name);

    // What the data of a TXT record says, as far as it can be told without its place.
    static bool is_owner_text(std::string_view target, std::string_view encryption_key);

    [[nodiscard]] const std::vector<IndexedText>& texts() const { return texts_; }
    [[nodiscard]] const dns::Endpoint& set(const IndexedText& text) const { return sets_[text.set]; }

    // Calls `f(index of the text)` for each text about a name, in the order of the sets. `hint` is where one may be:
    // what providers list is mostly in one order, so the next text is about the next record, and nothing has to be
    // looked up.
    template <class F>
    void each(std::string_view name, std::uint32_t& hint, F&& f) const {
        auto index = hint < texts_.size() && texts_[hint].first && texts_[hint].name == name ? hint + 1 : find(name);
        if (index != 0) hint = index;
        for (; index != 0; index = texts_[index - 1].next) f(index - 1);
    }
    template <class F>
    void each(std::string_view name, F&& f) const {
        std::uint32_t hint = 0;
        each(name, hint, std::forward<F>(f));
    }

private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t first = 0, last = 0;  // one more than the index; 0: none
    };
    void add_target(std::uint32_t set, std::uint32_t target, std::span<const Affix> affixes, std::string_view key);
    void link_all();
    // One more than the index of the first text about the name; 0: none.
    [[nodiscard]] std::uint32_t find(std::string_view name) const;

    std::span<const dns::Endpoint> sets_;
    std::vector<IndexedText> texts_;
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::deque<std::string> made_;  // texts that had to be put together or decrypted
    NormalNames normal_;
    OwnerFields fields_;
};

}  // namespace fairlead::plan
