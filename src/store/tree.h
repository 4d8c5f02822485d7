// A copy-on-write B+tree from names to objects, in order. Copying a Tree is O(1) and shares all nodes; a change copies
// only the nodes on its path that somebody else still holds, and works in place otherwise.
//
// Threads: one Tree value belongs to one thread at a time (or is guarded by its owner's lock). Different Tree values
// that share nodes may be used, changed and destroyed on different threads at once.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "store/object.h"

namespace fairlead::store {

class Tree {
public:
    struct Node;
    struct Leaf;
    struct Inner;

    // Shared ownership of a node, counted inside the node.
    class NodeRef {
    public:
        NodeRef() = default;
        explicit NodeRef(Node* adopted) : node_(adopted) {}
        NodeRef(const NodeRef& other);
        NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
        NodeRef& operator=(NodeRef other) noexcept {
            std::swap(node_, other.node_);
            return *this;
        }
        ~NodeRef();
        [[nodiscard]] Node* get() const { return node_; }

    private:
        Node* node_ = nullptr;
    };

    // Walks a tree in order. Valid as long as the Tree it came from is neither changed nor destroyed.
    class Iterator {
    public:
        [[nodiscard]] bool valid() const { return leaf_ != nullptr; }
        const ObjectRef& operator*() const;
        void next();

    private:
        friend class Tree;
        void descend(const Node* node);
        // 16 levels of at least 2 would hold 65,536 nodes; in practice nodes hold dozens and 5 levels hold everything.
        static constexpr std::size_t max_height = 16;
        struct Step {
            const Inner* node = nullptr;
            std::size_t index = 0;
        };
        std::array<Step, max_height> path_;
        std::size_t depth_ = 0;
        const Leaf* leaf_ = nullptr;
        std::size_t index_ = 0;
    };

    // From objects in strictly ascending order of name.
    static Tree build(std::vector<ObjectRef> sorted);

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] ObjectRef find(std::string_view name) const;
    // At the first name >= `from`.
    [[nodiscard]] Iterator seek(std::string_view from) const;

    // Both return what was there before, empty if nothing was.
    ObjectRef put(ObjectRef object);
    ObjectRef remove(std::string_view name);

private:
    NodeRef root_;
    std::size_t size_ = 0;
};

}  // namespace fairlead::store
