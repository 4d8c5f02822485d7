// The parts below the contract: checksum, object, tree, history.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <random>

#include "store/checksum.h"
#include "store/history.h"
#include "store/object.h"
#include "store/tree.h"

namespace fairlead::store {
namespace {

TEST(Checksum, IsXxh64) {
    const struct {
        std::string text;
        std::uint64_t want;
    } rows[] = {
        {"", 0xEF46DB3751D8E999ULL},
        {"a", 0xD24EC4F1A98C6E5BULL},
        {"abc", 0x44BC2CF5AD770999ULL},
        {"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1ULL},  // long enough for the main loop
    };
    for (const auto& row : rows) EXPECT_EQ(xxh64(row.text, 0), row.want) << row.text;
    EXPECT_NE(xxh64("abc", 1), xxh64("abc", 0)) << "the seed counts";
}

TEST(Object, CarriesItsRevisionWhereAsked) {
    const struct {
        std::string name;
        std::string value;
        std::size_t at;
        std::string want;
    } rows[] = {
        {"in the middle", R"({"v":""})", 6, R"({"v":"1234"})"},
        {"at the start", "x", 0, "1234x"},
        {"at the end", "x", 1, "x1234"},
        {"nowhere", "x", std::string::npos, "x"},
        {"empty", "", 0, "1234"},
        {"empty, nowhere", "", std::string::npos, ""},
    };
    for (const auto& row : rows) {
        const auto object = ObjectRef::make("ns/n", row.value, row.at, 7, 1234, 3);
        EXPECT_EQ(object->value(), row.want) << row.name;
        EXPECT_EQ(object->name(), "ns/n") << row.name;
        EXPECT_EQ(object->created(), 7U) << row.name;
        EXPECT_EQ(object->modified(), 1234U) << row.name;
        EXPECT_EQ(object->place(), 3U) << row.name;
    }
}

ObjectRef object(const std::string& name, std::string_view text = "") {
    return ObjectRef::make(name, text, std::string::npos, 1, 1);
}

using Model = std::map<std::string, std::string>;

Model contents(const Tree& tree, std::string_view from = "") {
    Model all;
    bool in_order = true;
    for (auto at = tree.seek(from); at.valid(); at.next()) {
        in_order &= all.empty() || (*at)->name() > all.rbegin()->first;
        all.emplace_hint(all.end(), (*at)->name(), (*at)->value());
    }
    EXPECT_TRUE(in_order);
    return all;
}

// Numbers are names: few enough that they meet, enough that there are three levels.
TEST(Tree, AgreesWithAMapAndCopiesDoNotChange) {
    const bool holds = rc::check([](std::uint32_t seed) {
        std::minstd_rand random(seed);
        const int range = 1 + static_cast<int>(random() % 5000);
        Tree tree;
        Model model;
        std::vector<std::pair<Tree, Model>> copies;
        if (random() % 2 == 0) {
            std::vector<ObjectRef> sorted;
            for (int i = 0; i < range; i += 2) model[std::to_string(100000 + i)] = "built";
            for (const auto& [name, text] : model) sorted.push_back(object(name, text));
            tree = Tree::build(std::move(sorted));
        }
        const bool ascending = random() % 3 == 0;
        const int removals = static_cast<int>(random() % 10);  // in ten
        for (int step = 0; step < 1500; ++step) {
            const auto pick = ascending ? step % range : static_cast<int>(random() % static_cast<unsigned>(range));
            const std::string name = std::to_string(100000 + pick);
            const auto before = model.find(name);
            const std::string want = before == model.end() ? "none" : before->second;
            ObjectRef old;
            if (static_cast<int>(random() % 10) < removals) {
                old = tree.remove(name);
                model.erase(name);
            } else {
                const std::string text = std::to_string(step);
                old = tree.put(object(name, text));
                model[name] = text;
            }
            RC_ASSERT((old ? std::string(old->value()) : "none") == want);
            if (random() % 500 == 0) copies.emplace_back(tree, model);
        }
        copies.emplace_back(tree, model);
        for (const auto& [copy, as_it_was] : copies) {
            RC_ASSERT(copy.size() == as_it_was.size());
            RC_ASSERT(contents(copy) == as_it_was);
        }
        for (int i = 0; i < 5; ++i) {
            const std::string from = std::to_string(100000 + random() % static_cast<unsigned>(range + 10));
            RC_ASSERT(contents(tree, from) == Model(model.lower_bound(from), model.end()));
            const auto found = tree.find(from);
            RC_ASSERT(static_cast<bool>(found) == (model.count(from) == 1));
        }
        while (!model.empty()) {  // down to nothing, in an order of its own
            const auto first = random() % 2 == 0 ? model.begin() : std::prev(model.end());
            RC_ASSERT(static_cast<bool>(tree.remove(first->first)));
            model.erase(first);
        }
        RC_ASSERT(tree.size() == 0U);
        RC_ASSERT(!tree.seek("").valid());
        RC_ASSERT(contents(copies.back().first) == copies.back().second);
    });
    EXPECT_TRUE(holds);
}

Event event(Revision revision, std::size_t superseded_bytes = 0) {
    Event made{.revision = revision, .removed = false, .object = object("n"), .previous = {}};
    if (superseded_bytes > 0) made.previous = object("n", std::string(superseded_bytes, 'x'));
    return made;
}

TEST(History, IsBoundedByEventsAndByBytes) {
    const struct {
        std::string name;
        HistoryLimits limits;
        std::size_t bytes_each;
        std::size_t most, least;  // kept of 1000
    } rows[] = {
        {"room for all", {.events = 1000, .bytes = 1 << 20}, 0, 1000, 1000},
        {"events", {.events = 640, .bytes = 1 << 20}, 0, 640, 630},
        {"one event", {.events = 1, .bytes = 1 << 20}, 0, 1, 1},
        {"no events", {.events = 0, .bytes = 1 << 20}, 0, 0, 0},
        {"bytes", {.events = 1000, .bytes = 655'360}, 1024 - 33, 640, 620},
        {"one larger than all bytes", {.events = 1000, .bytes = 1000}, 4000, 0, 0},
    };
    for (const auto& row : rows) {
        History history(row.limits, 0);
        std::vector<std::shared_ptr<const History::Chunk>> dropped;
        for (Revision revision = 1; revision <= 1000; ++revision) {
            history.append(event(revision, row.bytes_each), dropped);
            EXPECT_LE(history.end() - history.begin(), row.limits.events) << row.name;
        }
        const std::size_t kept = history.end() - history.begin();
        EXPECT_LE(kept, row.most) << row.name;
        EXPECT_GE(kept, row.least) << row.name;
        EXPECT_EQ(history.floor(), 1000 - kept) << row.name << ": the floor is the newest revision given up";
        EXPECT_EQ(history.view(history.begin(), 5000).size(), kept) << row.name;
        EXPECT_EQ(history.first_after(999), history.end() - (kept > 0 ? 1 : 0)) << row.name;
        EXPECT_EQ(history.first_after(0), history.begin()) << row.name;
    }
}

TEST(History, AViewOutlivesWhatItShows) {
    History history({.events = 4, .bytes = 1 << 20}, 0);
    std::vector<std::shared_ptr<const History::Chunk>> dropped;
    for (Revision revision = 1; revision <= 4; ++revision) history.append(event(revision), dropped);
    const auto view = history.view(history.first_after(1), 2);
    for (Revision revision = 5; revision <= 50; ++revision) history.append(event(revision), dropped);
    dropped.clear();
    std::vector<Revision> seen;
    view.for_each([&](const Event& e) { seen.push_back(e.revision); });
    EXPECT_EQ(seen, (std::vector<Revision>{2, 3}));
}

}  // namespace
}  // namespace fairlead::store
