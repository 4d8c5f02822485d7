// A persistent hash trie: a change makes a new root, copies the few nodes on the way to the change and shares the rest,
// so that readers of the old root see nothing of it. Nodes that the running change has made itself are changed in
// place, which makes loading many leaves cheap. 64 ways per node, kept dense by a bitmap: a million leaves are four
// levels deep.
//
// Leaf has `std::uint64_t hash() const` and `bool same_name(const Leaf&) const`; the trie does not own leaves.
// Threads: published roots are read by any thread; a change belongs to one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace fairlead::dnsserver {

// What one change has made and left behind.
struct TrieEdit {
    std::uint64_t stamp = 1;     // differs from that of every change before
    std::vector<void*> retired;  // nodes that readers of older roots may still use
};

template <class Leaf>
class Trie {
public:
    // 0: nothing. Lowest bit set: a node. Else a leaf.
    using Slot = std::uintptr_t;

    template <class Same>
    static const Leaf* find(Slot slot, std::uint64_t hash, const Same& same) {
        for (std::uint64_t rest = hash; slot != 0; rest >>= bits) {
            if (!is_node(slot)) {
                const auto* leaf = leaf_of(slot);
                return leaf->hash() == hash && same(*leaf) ? leaf : nullptr;
            }
            const auto* node = node_of(slot);
            if (node->bitmap == 0) return find_in_bucket(*node, same);
            const std::uint64_t bit = bit_of(rest);
            if ((node->bitmap & bit) == 0) return nullptr;
            slot = node->children()[index_of(*node, bit)];
        }
        return nullptr;
    }

    // The new root. `replaced` becomes the leaf of the same name that was there.
    static Slot insert(Slot root, const Leaf* leaf, TrieEdit& edit, const Leaf*& replaced) {
        replaced = nullptr;
        return insert_at(root, 0, leaf, edit, replaced);
    }
    // The new root without the leaf; the leaf is in the trie.
    static Slot erase(Slot root, const Leaf* leaf, TrieEdit& edit) { return erase_at(root, 0, leaf, edit); }

    // Frees all nodes; leaves are given to `release`.
    template <class Release>
    static void destroy(Slot slot, const Release& release) {  // NOLINT(misc-no-recursion): twelve levels at most
        if (slot == 0) return;
        if (!is_node(slot)) return release(leaf_of(slot));
        auto* node = node_of(slot);
        for (std::uint32_t i = 0; i < node->count; ++i) destroy(node->children()[i], release);
        ::operator delete(node);
    }
    // Everything but the leaves, for a root that readers may still use.
    template <class Release>
    static void retire(Slot slot, TrieEdit& edit, const Release& release) {  // NOLINT(misc-no-recursion)
        if (slot == 0) return;
        if (!is_node(slot)) return release(leaf_of(slot));
        auto* node = node_of(slot);
        for (std::uint32_t i = 0; i < node->count; ++i) retire(node->children()[i], edit, release);
        edit.retired.push_back(node);
    }

    // One leaf after the other, in no order that means anything. The root stays alive meanwhile.
    class Walk {
    public:
        explicit Walk(Slot root) {
            if (root != 0) pending_.push_back(root);
        }
        const Leaf* next() {
            while (!pending_.empty()) {
                const Slot slot = pending_.back();
                pending_.pop_back();
                if (!is_node(slot)) return leaf_of(slot);
                const auto* node = node_of(slot);
                pending_.insert(pending_.end(), node->children(), node->children() + node->count);
            }
            return nullptr;
        }

    private:
        std::vector<Slot> pending_;
    };

private:
    static constexpr unsigned bits = 6;
    static constexpr unsigned hash_bits = 64;

    struct Node {
        std::uint64_t bitmap;      // which of the 64 ways are there; 0: a bucket of leaves whose hashes are equal
        std::uint64_t stamp : 48;  // at 10,000 changes a second they come again after 900 years
        std::uint64_t count : 16;
        Slot* children() { return reinterpret_cast<Slot*>(this + 1); }
        [[nodiscard]] const Slot* children() const { return reinterpret_cast<const Slot*>(this + 1); }
    };

    static bool is_node(Slot slot) { return (slot & 1U) != 0; }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the tag in the lowest bit is the point of a Slot
    static Node* node_of(Slot slot) { return reinterpret_cast<Node*>(slot - 1); }
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    static const Leaf* leaf_of(Slot slot) { return reinterpret_cast<const Leaf*>(slot); }
    static Slot slot_of(const Node* node) { return reinterpret_cast<Slot>(node) | 1U; }
    static Slot slot_of(const Leaf* leaf) { return reinterpret_cast<Slot>(leaf); }
    static std::uint64_t bit_of(std::uint64_t rest) { return std::uint64_t{1} << (rest & 63U); }
    static unsigned index_of(const Node& node, std::uint64_t bit) {
        return static_cast<unsigned>(std::popcount(node.bitmap & (bit - 1)));
    }

    template <class Same>
    static const Leaf* find_in_bucket(const Node& node, const Same& same) {
        for (std::uint32_t i = 0; i < node.count; ++i) {
            if (const auto* leaf = leaf_of(node.children()[i]); same(*leaf)) return leaf;
        }
        return nullptr;
    }

    static Node* make(std::uint64_t bitmap, std::uint32_t count, const TrieEdit& edit) {
        auto* node = static_cast<Node*>(::operator new(sizeof(Node) + count * sizeof(Slot)));
        node->bitmap = bitmap;
        node->stamp = edit.stamp;
        node->count = count;
        return node;
    }
    static void drop(Node* node, TrieEdit& edit) {
        if (node->stamp == edit.stamp) return ::operator delete(node);
        edit.retired.push_back(node);
    }
    // One that may be changed.
    static Node* own(Node* node, TrieEdit& edit) {
        if (node->stamp == edit.stamp) return node;
        auto* copy = make(node->bitmap, node->count, edit);
        std::copy_n(node->children(), node->count, copy->children());
        drop(node, edit);
        return copy;
    }
    static Node* with_child(Node* node, std::uint64_t bitmap, unsigned at, Slot child, TrieEdit& edit) {
        auto* grown = make(bitmap, node->count + 1, edit);
        std::copy_n(node->children(), at, grown->children());
        grown->children()[at] = child;
        std::copy_n(node->children() + at, node->count - at, grown->children() + at + 1);
        drop(node, edit);
        return grown;
    }
    static Node* without_child(Node* node, std::uint64_t bitmap, unsigned at, TrieEdit& edit) {
        auto* shrunk = make(bitmap, node->count - 1, edit);
        std::copy_n(node->children(), at, shrunk->children());
        std::copy_n(node->children() + at + 1, node->count - at - 1, shrunk->children() + at);
        drop(node, edit);
        return shrunk;
    }

    static Slot join(const Leaf* a, const Leaf* b, unsigned shift, TrieEdit& edit) {  // NOLINT(misc-no-recursion)
        if (shift >= hash_bits) {
            auto* bucket = make(0, 2, edit);
            bucket->children()[0] = slot_of(a);
            bucket->children()[1] = slot_of(b);
            return slot_of(bucket);
        }
        const auto bit_a = bit_of(a->hash() >> shift);
        const auto bit_b = bit_of(b->hash() >> shift);
        if (bit_a == bit_b) {
            const Slot below = join(a, b, shift + bits, edit);
            auto* node = make(bit_a, 1, edit);
            node->children()[0] = below;
            return slot_of(node);
        }
        auto* node = make(bit_a | bit_b, 2, edit);
        node->children()[0] = slot_of(bit_a < bit_b ? a : b);
        node->children()[1] = slot_of(bit_a < bit_b ? b : a);
        return slot_of(node);
    }

    static Slot insert_at(Slot slot, unsigned shift, const Leaf* leaf, TrieEdit& edit,  // NOLINT(misc-no-recursion)
                          const Leaf*& replaced) {
        if (slot == 0) return slot_of(leaf);
        if (!is_node(slot)) {
            const auto* other = leaf_of(slot);
            if (other->hash() != leaf->hash() || !other->same_name(*leaf)) return join(other, leaf, shift, edit);
            replaced = other;
            return slot_of(leaf);
        }
        auto* node = node_of(slot);
        if (node->bitmap == 0) return slot_of(insert_in_bucket(node, leaf, edit, replaced));
        const auto bit = bit_of(leaf->hash() >> shift);
        const auto at = index_of(*node, bit);
        if ((node->bitmap & bit) == 0) return slot_of(with_child(node, node->bitmap | bit, at, slot_of(leaf), edit));
        const Slot below = insert_at(node->children()[at], shift + bits, leaf, edit, replaced);
        node = own(node, edit);
        node->children()[at] = below;
        return slot_of(node);
    }
    static Node* insert_in_bucket(Node* node, const Leaf* leaf, TrieEdit& edit, const Leaf*& replaced) {
        for (std::uint32_t i = 0; i < node->count; ++i) {
            const auto* other = leaf_of(node->children()[i]);
            if (!other->same_name(*leaf)) continue;
            replaced = other;
            node = own(node, edit);
            node->children()[i] = slot_of(leaf);
            return node;
        }
        return with_child(node, 0, node->count, slot_of(leaf), edit);
    }

    static Slot erase_at(Slot slot, unsigned shift, const Leaf* leaf, TrieEdit& edit) {  // NOLINT(misc-no-recursion)
        if (!is_node(slot)) return 0;
        auto* node = node_of(slot);
        unsigned at = 0;
        std::uint64_t bitmap = 0;
        if (node->bitmap == 0) {
            const auto* end = node->children() + node->count;
            at = static_cast<unsigned>(std::find(node->children(), const_cast<Slot*>(end), slot_of(leaf)) -
                                       node->children());
        } else {
            const auto bit = bit_of(leaf->hash() >> shift);
            at = index_of(*node, bit);
            const Slot below = erase_at(node->children()[at], shift + bits, leaf, edit);
            if (below != 0) {
                if (node->count == 1 && !is_node(below)) {  // a leaf needs no node of its own
                    drop(node, edit);
                    return below;
                }
                node = own(node, edit);
                node->children()[at] = below;
                return slot_of(node);
            }
            bitmap = node->bitmap & ~bit;
        }
        if (node->count == 1) {
            drop(node, edit);
            return 0;
        }
        if (node->count == 2 && !is_node(node->children()[1 - at])) {
            const Slot other = node->children()[1 - at];
            drop(node, edit);
            return other;
        }
        return slot_of(without_child(node, bitmap, at, edit));
    }
};

}  // namespace fairlead::dnsserver
