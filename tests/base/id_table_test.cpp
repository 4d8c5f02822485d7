// Ids by hash, against the obvious.
#include "base/id_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace fairlead {
namespace {

RC_GTEST_PROP(IdTable, IsAMultimap, ()) {
    IdTable table;
    std::multiset<std::pair<std::uint32_t, std::uint32_t>> model;
    const auto steps = *rc::gen::inRange(0, 400);
    for (int i = 0; i < steps; ++i) {
        // Neighbouring hashes, so that they push each other from their places, also around the end.
        const std::uint32_t hash = *rc::gen::inRange<std::uint32_t>(0, 24) * 5 + 4'294'967'200U;
        const std::uint32_t id = *rc::gen::inRange<std::uint32_t>(0, 6);
        if (*rc::gen::inRange(0, 3) > 0) {
            table.insert(hash, id);
            model.emplace(hash, id);
        } else {
            table.erase(hash, id);
            if (const auto at = model.find({hash, id}); at != model.end()) model.erase(at);
        }
    }
    RC_ASSERT(table.size() == model.size());
    std::multiset<std::pair<std::uint32_t, std::uint32_t>> found;
    for (std::uint32_t i = 0; i < 24; ++i) {
        const std::uint32_t hash = i * 5 + 4'294'967'200U;
        table.for_each(hash, [&](std::uint32_t id) {
            found.emplace(hash, id);
            return true;
        });
    }
    RC_ASSERT(found == model);
}

}  // namespace
}  // namespace fairlead
