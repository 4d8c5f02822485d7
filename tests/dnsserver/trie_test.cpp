#include "dnsserver/trie.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <set>

namespace fairlead::dnsserver {
namespace {

struct Leaf {
    std::uint64_t hash_value = 0;
    int key = 0;
    int value = 0;
    [[nodiscard]] std::uint64_t hash() const { return hash_value; }
    [[nodiscard]] bool same_name(const Leaf& other) const { return key == other.key; }
};
using LeafTrie = Trie<Leaf>;

// Few bits at several heights, so that paths are shared for long and whole hashes collide.
std::uint64_t poor_hash(int key) {
    const auto n = static_cast<std::uint64_t>(key);
    return (n % 3) | (n / 3 % 3) << 30 | (n / 9 % 2) << 62;
}

struct World {
    std::vector<std::unique_ptr<Leaf>> leaves;
    std::map<int, int> model;
    LeafTrie::Slot root = 0;
    TrieEdit edit;

    const Leaf* find(LeafTrie::Slot at, int key) const {
        return LeafTrie::find(at, poor_hash(key), [&](const Leaf& leaf) { return leaf.key == key; });
    }
    void set(int key, int value) {
        leaves.push_back(std::make_unique<Leaf>(Leaf{poor_hash(key), key, value}));
        const Leaf* replaced = nullptr;
        root = LeafTrie::insert(root, leaves.back().get(), edit, replaced);
        RC_ASSERT((replaced != nullptr) == model.contains(key));
        model[key] = value;
    }
    void erase(int key) {
        const auto* leaf = find(root, key);
        RC_ASSERT((leaf != nullptr) == model.contains(key));
        if (leaf == nullptr) return;
        root = LeafTrie::erase(root, leaf, edit);
        model.erase(key);
    }
};

std::map<int, int> content(LeafTrie::Slot root) {
    std::map<int, int> result;
    LeafTrie::Walk walk(root);
    while (const auto* leaf = walk.next()) result[leaf->key] = leaf->value;
    return result;
}

RC_GTEST_PROP(Trie, HoldsWhatWasPutAndOldRootsStay, ()) {
    World world;
    std::vector<std::pair<LeafTrie::Slot, std::map<int, int>>> published;
    const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 40), rc::gen::inRange(0, 12)));
    for (const auto& [key, action] : steps) {
        if (action < 7) world.set(key, action);
        if (action >= 7 && action < 11) world.erase(key);
        if (action == 11) {
            published.emplace_back(world.root, world.model);
            ++world.edit.stamp;
        }
        for (const auto& [root, model] : published) RC_ASSERT(content(root) == model);
        RC_ASSERT(content(world.root) == world.model);
        for (int each = 0; each < 40; ++each) {
            const auto* leaf = world.find(world.root, each);
            RC_ASSERT((leaf != nullptr) == world.model.contains(each));
            if (leaf != nullptr) RC_ASSERT(leaf->value == world.model.at(each));
        }
    }
    LeafTrie::destroy(world.root, [](const Leaf*) {});
    for (auto* node : world.edit.retired) ::operator delete(node);
}

}  // namespace
}  // namespace fairlead::dnsserver
