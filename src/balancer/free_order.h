// Balancers in order of what is free of some resources: by the first, among equals by the next, then by name. Finds
// those that have enough of each without stepping over the others. Used by Ledger. A value; used by one thread.
//
// A tree in which every node knows the most that is free below it, so that branches in which something is short are
// passed by. It is balanced by chance: priorities are hashes of the names, and so the same in every run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "balancer/amount.h"

namespace fairlead::balancer {

class FreeOrder {
public:
    FreeOrder();
    ~FreeOrder();
    FreeOrder(FreeOrder&&) noexcept;
    FreeOrder& operator=(FreeOrder&&) noexcept;

    // Names outlive their place here. All have amounts of the same resources, in the same order.
    void insert(std::vector<Amount> free, std::string_view name);
    // With what it was inserted with.
    void erase(const std::vector<Amount>& free, std::string_view name);
    // The first one that has at least `wanted` of each, and that `fits` takes. Empty: there is none.
    [[nodiscard]] std::string_view first(const std::vector<Amount>& wanted,
                                         const std::function<bool(std::string_view)>& fits) const;
    [[nodiscard]] bool empty() const { return root_ == nullptr; }

private:
    struct Node;
    using Tree = std::unique_ptr<Node>;
    static void measure(Node& node);
    static Tree join(Tree left, Tree right);
    // Those before the key, and the others.
    static std::pair<Tree, Tree> split(Tree tree, const std::vector<Amount>& free, std::string_view name);
    static void erase_from(Tree& tree, const std::vector<Amount>& free, std::string_view name);
    static const Node* find(const Tree& tree, const std::vector<Amount>& wanted,
                            const std::function<bool(std::string_view)>& fits);

    Tree root_;
};

}  // namespace fairlead::balancer
