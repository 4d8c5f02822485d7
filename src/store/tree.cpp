#include "store/tree.h"

#include <algorithm>
#include <atomic>
#include <optional>

namespace fairlead::store {
namespace {

// A leaf of 64 pointers is 8 cache lines: few enough to shift on insert, enough that the tree costs about 11 bytes an
// object and a million objects are four levels deep.
constexpr std::size_t fanout = 64;
constexpr std::size_t bulk_fill = 56;         // leaves room for inserts after loading
constexpr std::size_t thin = fanout / 4;      // below this a node looks for a neighbour to join
constexpr std::size_t join_to = fanout - 16;  // joined nodes keep room, so that they do not split again at once

}  // namespace

struct Tree::Node {
    explicit Node(bool is_leaf) : leaf(is_leaf) {}
    std::atomic<std::uint32_t> references{1};
    std::uint16_t count = 0;
    const bool leaf;
};

struct Tree::Leaf : Node {
    Leaf() : Node(true) {}
    std::array<ObjectRef, fanout> objects;
};

// lows[i] is a name <= every name below children[i] and > every name below children[i - 1]; lows[0] is never read.
// The lows are objects without a value, because those can be shared by copies of the node.
struct Tree::Inner : Node {
    Inner() : Node(false) {}
    std::array<ObjectRef, fanout> lows;
    std::array<NodeRef, fanout> children;
};

namespace {

using Node = Tree::Node;
using Leaf = Tree::Leaf;
using Inner = Tree::Inner;
using NodeRef = Tree::NodeRef;

Leaf& as_leaf(Node& node) { return static_cast<Leaf&>(node); }
Inner& as_inner(Node& node) { return static_cast<Inner&>(node); }
const Leaf& as_leaf(const Node& node) { return static_cast<const Leaf&>(node); }
const Inner& as_inner(const Node& node) { return static_cast<const Inner&>(node); }

std::size_t lower_bound(const Leaf& leaf, std::string_view name) {
    const auto* const begin = leaf.objects.data();
    const auto* const at = std::lower_bound(begin, begin + leaf.count, name,
                                            [](const ObjectRef& o, std::string_view n) { return o->name() < n; });
    return static_cast<std::size_t>(at - begin);
}

std::size_t child_of(const Inner& inner, std::string_view name) {
    const auto* const begin = inner.lows.data() + 1;
    const auto* const at = std::upper_bound(begin, inner.lows.data() + inner.count, name,
                                            [](std::string_view n, const ObjectRef& o) { return n < o->name(); });
    return static_cast<std::size_t>(at - begin);
}

template <class Array>
void open_gap(Array& array, std::size_t count, std::size_t at) {
    std::move_backward(array.begin() + at, array.begin() + count, array.begin() + count + 1);
}

template <class Array>
void close_gap(Array& array, std::size_t count, std::size_t at) {
    std::move(array.begin() + at + 1, array.begin() + count, array.begin() + at);
    array[count - 1] = {};
}

// The node behind `slot`, for changing: copied first if anyone else can see it. The slot's own node must be owned.
Node& own(NodeRef& slot) {
    Node* const node = slot.get();
    // Acquire: whoever let go of it last has finished reading.
    if (node->references.load(std::memory_order_acquire) == 1) return *node;
    if (node->leaf) {
        auto* copy = new Leaf();
        copy->count = node->count;
        std::copy_n(as_leaf(*node).objects.begin(), node->count, copy->objects.begin());
        slot = NodeRef(copy);
    } else {
        auto* copy = new Inner();
        copy->count = node->count;
        std::copy_n(as_inner(*node).lows.begin(), node->count, copy->lows.begin());
        std::copy_n(as_inner(*node).children.begin(), node->count, copy->children.begin());
        slot = NodeRef(copy);
    }
    return *slot.get();
}

ObjectRef low_of(std::string_view name) { return ObjectRef::make(name, {}, std::string_view::npos, 0, 0); }

// The right half of a node that was full.
struct Split {
    NodeRef right;
    ObjectRef low;
};

Split split_leaf(Leaf& left, std::size_t keep) {
    auto* right = new Leaf();
    std::move(left.objects.begin() + keep, left.objects.begin() + left.count, right->objects.begin());
    right->count = static_cast<std::uint16_t>(left.count - keep);
    left.count = static_cast<std::uint16_t>(keep);
    return {NodeRef(right), {}};
}

std::optional<Split> put_leaf(Leaf& leaf, ObjectRef& object) {
    const std::size_t at = lower_bound(leaf, object->name());
    if (at < leaf.count && leaf.objects[at]->name() == object->name()) {
        std::swap(leaf.objects[at], object);
        return std::nullopt;
    }
    std::optional<Split> split;
    Leaf* into = &leaf;
    std::size_t index = at;
    if (leaf.count == fanout) {
        // Names that only ever ascend leave full leaves behind; others are cut in the middle.
        split = split_leaf(leaf, at == fanout ? fanout : fanout / 2);
        if (at > leaf.count || leaf.count == fanout) {
            into = &as_leaf(*split->right.get());
            index = at - leaf.count;
        }
    }
    open_gap(into->objects, into->count, index);
    into->objects[index] = std::exchange(object, {});
    ++into->count;
    if (split) split->low = low_of(as_leaf(*split->right.get()).objects[0]->name());
    return split;
}

std::optional<Split> add_child(Inner& inner, std::size_t at, Split child) {
    std::optional<Split> split;
    Inner* into = &inner;
    std::size_t index = at;
    if (inner.count == fanout) {
        const std::size_t keep = at == fanout ? fanout - 1 : fanout / 2;
        auto* right = new Inner();
        std::move(inner.lows.begin() + keep, inner.lows.end(), right->lows.begin());
        std::move(inner.children.begin() + keep, inner.children.end(), right->children.begin());
        right->count = static_cast<std::uint16_t>(fanout - keep);
        inner.count = static_cast<std::uint16_t>(keep);
        split = Split{NodeRef(right), right->lows[0]};
        if (at > keep) {
            into = right;
            index = at - keep;
        }
    }
    open_gap(into->lows, into->count, index);
    open_gap(into->children, into->count, index);
    into->lows[index] = std::move(child.low);
    into->children[index] = std::move(child.right);
    ++into->count;
    return split;
}

// `object` goes in and comes out as what it replaced.
std::optional<Split> put_below(NodeRef& slot, ObjectRef& object) {
    Node& node = own(slot);
    if (node.leaf) return put_leaf(as_leaf(node), object);
    Inner& inner = as_inner(node);
    const std::size_t at = child_of(inner, object->name());
    auto split = put_below(inner.children[at], object);
    if (!split) return std::nullopt;
    return add_child(inner, at + 1, std::move(*split));
}

void erase_child(Inner& inner, std::size_t at) {
    close_gap(inner.lows, inner.count, at);
    close_gap(inner.children, inner.count, at);
    --inner.count;
}

// Moves everything of the child right of `at` into the child at `at`, if the two fit well into one node.
bool join(Inner& inner, std::size_t at) {
    if (at + 1 >= inner.count) return false;
    const Node& l = *inner.children[at].get();
    const Node& r = *inner.children[at + 1].get();
    if (std::size_t{l.count} + r.count > join_to) return false;
    Node& left = own(inner.children[at]);
    Node& right = own(inner.children[at + 1]);
    if (left.leaf) {
        std::move(as_leaf(right).objects.begin(), as_leaf(right).objects.begin() + right.count,
                  as_leaf(left).objects.begin() + left.count);
    } else {
        as_inner(right).lows[0] = inner.lows[at + 1];
        std::move(as_inner(right).lows.begin(), as_inner(right).lows.begin() + right.count,
                  as_inner(left).lows.begin() + left.count);
        std::move(as_inner(right).children.begin(), as_inner(right).children.begin() + right.count,
                  as_inner(left).children.begin() + left.count);
    }
    left.count = static_cast<std::uint16_t>(left.count + right.count);
    right.count = 0;
    erase_child(inner, at + 1);
    return true;
}

// The name must be there.
ObjectRef remove_below(NodeRef& slot, std::string_view name) {
    Node& node = own(slot);
    if (node.leaf) {
        Leaf& leaf = as_leaf(node);
        const std::size_t at = lower_bound(leaf, name);
        ObjectRef removed = std::move(leaf.objects[at]);
        close_gap(leaf.objects, leaf.count, at);
        --leaf.count;
        return removed;
    }
    Inner& inner = as_inner(node);
    const std::size_t at = child_of(inner, name);
    ObjectRef removed = remove_below(inner.children[at], name);
    const std::size_t left = inner.children[at].get()->count;
    if (left == 0) {
        erase_child(inner, at);
    } else if (left < thin && !join(inner, at) && at > 0) {
        join(inner, at - 1);
    }
    return removed;
}

}  // namespace

Tree::NodeRef::NodeRef(const NodeRef& other) : node_(other.node_) {
    if (node_ != nullptr) node_->references.fetch_add(1, std::memory_order_relaxed);
}

Tree::NodeRef::~NodeRef() {
    if (node_ == nullptr || node_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (node_->leaf) {
        delete static_cast<Leaf*>(node_);
    } else {
        delete static_cast<Inner*>(node_);
    }
}

Tree Tree::build(std::vector<ObjectRef> sorted) {
    Tree tree;
    tree.size_ = sorted.size();
    std::vector<NodeRef> level;
    std::vector<ObjectRef> lows;
    for (std::size_t begin = 0; begin < sorted.size(); begin += bulk_fill) {
        const std::size_t count = std::min(bulk_fill, sorted.size() - begin);
        auto* leaf = new Leaf();
        lows.push_back(low_of(sorted[begin]->name()));
        std::move(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                  sorted.begin() + static_cast<std::ptrdiff_t>(begin + count), leaf->objects.begin());
        leaf->count = static_cast<std::uint16_t>(count);
        level.emplace_back(leaf);
    }
    while (level.size() > 1) {
        std::vector<NodeRef> above;
        std::vector<ObjectRef> above_lows;
        for (std::size_t begin = 0; begin < level.size(); begin += bulk_fill) {
            const std::size_t count = std::min(bulk_fill, level.size() - begin);
            auto* inner = new Inner();
            above_lows.push_back(lows[begin]);
            for (std::size_t i = 0; i < count; ++i) {
                inner->lows[i] = std::move(lows[begin + i]);
                inner->children[i] = std::move(level[begin + i]);
            }
            inner->count = static_cast<std::uint16_t>(count);
            above.emplace_back(inner);
        }
        level = std::move(above);
        lows = std::move(above_lows);
    }
    if (!level.empty()) tree.root_ = std::move(level.front());
    return tree;
}

ObjectRef Tree::find(std::string_view name) const {
    const Node* node = root_.get();
    if (node == nullptr) return {};
    while (!node->leaf) {
        const Inner& inner = as_inner(*node);
        node = inner.children[child_of(inner, name)].get();
    }
    const Leaf& leaf = as_leaf(*node);
    const std::size_t at = lower_bound(leaf, name);
    if (at == leaf.count || leaf.objects[at]->name() != name) return {};
    return leaf.objects[at];
}

ObjectRef Tree::put(ObjectRef object) {
    if (root_.get() == nullptr) root_ = NodeRef(new Leaf());
    if (auto split = put_below(root_, object)) {
        auto* root = new Inner();
        root->children[0] = std::move(root_);
        root->children[1] = std::move(split->right);
        root->lows[1] = std::move(split->low);
        root->count = 2;
        root_ = NodeRef(root);
    }
    if (!object) ++size_;
    return object;
}

ObjectRef Tree::remove(std::string_view name) {
    if (!find(name)) return {};  // looked up first, so that nothing is copied in vain
    ObjectRef removed = remove_below(root_, name);
    --size_;
    while (root_.get() != nullptr) {
        Node& root = *root_.get();
        if (root.count == 0) {
            root_ = {};
        } else if (!root.leaf && root.count == 1) {
            NodeRef only = as_inner(root).children[0];
            root_ = std::move(only);
        } else {
            break;
        }
    }
    return removed;
}

Tree::Iterator Tree::seek(std::string_view from) const {
    Iterator iterator;
    const Node* node = root_.get();
    if (node == nullptr) return iterator;
    while (!node->leaf) {
        const Inner& inner = as_inner(*node);
        const std::size_t at = child_of(inner, from);
        iterator.path_[iterator.depth_++] = {&inner, at};
        node = inner.children[at].get();
    }
    iterator.leaf_ = static_cast<const Leaf*>(node);
    iterator.index_ = lower_bound(*iterator.leaf_, from);
    if (iterator.index_ == iterator.leaf_->count) {
        --iterator.index_;  // the first name >= from is then the first of the next leaf
        iterator.next();
    }
    return iterator;
}

const ObjectRef& Tree::Iterator::operator*() const { return leaf_->objects[index_]; }

void Tree::Iterator::descend(const Node* node) {
    while (!node->leaf) {
        const Inner& inner = as_inner(*node);
        path_[depth_++] = {&inner, 0};
        node = inner.children[0].get();
    }
    leaf_ = static_cast<const Leaf*>(node);
    index_ = 0;
}

void Tree::Iterator::next() {
    if (++index_ < leaf_->count) return;
    while (depth_ > 0) {
        Step& step = path_[depth_ - 1];
        if (++step.index < step.node->count) {
            descend(step.node->children[step.index].get());
            return;
        }
        --depth_;
    }
    leaf_ = nullptr;
}

}  // namespace fairlead::store
