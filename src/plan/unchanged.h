// Tells the names where all that is there is ours and wanted just so from the others: most names, most of the time,
// and nothing has to be said about them. One pass over each list; of what is there it keeps short copies, so that it
// hardly matters in which order wishes come. Pure; private to src/plan.
//
// Names are told apart by their hash here. Two names that share one are taken for one, which is harmless: either all
// their sets have a wish with the same bytes, names included, or all of them are left to others.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/names.h"
#include "plan/plan.h"
#include "plan/set_bytes.h"

namespace fairlead::plan {

class Unchanged {
public:
    // Whether a record that is there is ours to judge and ours; `name` is its normal one.
    using Ours = std::function<bool(std::string_view name, const dns::Endpoint& endpoint)>;
    Unchanged(std::span<const dns::Endpoint> present, std::span<const Desired> desired, const Ours& ours);

    [[nodiscard]] std::size_t owned() const { return owned_; }  // how many are ours
    // Leaves a name to others whatever is there.
    void leave(std::string_view normal_name);
    // What is left to others, in the order of the lists.
    [[nodiscard]] std::vector<const dns::Endpoint*> other_present() const;
    [[nodiscard]] std::vector<const Desired*> other_desired() const;

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    // One record that is there. Those of one name are a list, whose first speaks for all.
    struct There {
        std::uint32_t tag = 0;      // of the hash
        std::uint32_t next = none;  // of the same name
        std::uint32_t first = 0;
        std::uint32_t bytes = 0;  // where they begin in bytes_
        std::uint8_t size = 0;
        std::uint8_t count = 1;  // of the name, by the first
        bool taken = false;      // some wish is the same
        bool other = false;      // the name is left to others, by the first
    };
    struct Sought;

    std::uint32_t add_present(const Sought& sought, const Ours& ours);
    std::uint32_t add_desired(const Sought& sought);
    template <class Item, class Add>
    void each(std::span<const Item> items, const Add& add);
    [[nodiscard]] std::string_view bytes_of(const There& there) const {
        return std::string_view(bytes_).substr(there.bytes, there.size);
    }
    std::uint32_t& slot(std::uint64_t hash);
    bool get_along(const dns::Endpoint& endpoint, std::uint32_t first) const;

    std::span<const dns::Endpoint> present_;
    std::span<const Desired> desired_;
    NormalNames names_;
    SetBytes set_bytes_;
    std::string bytes_;  // of all that is there, one behind the other
    std::vector<There> there_;
    std::vector<std::uint32_t> first_of_wish_;
    std::vector<std::uint32_t> slots_;  // a power of two, at most two thirds full
    std::size_t owned_ = 0;
};

}  // namespace fairlead::plan
