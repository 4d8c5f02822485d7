#include "balancer/free_order.h"

#include <algorithm>
#include <tuple>

namespace fairlead::balancer {

namespace {

// FNV-1a, and a last stir: names differ in their last digits.
std::uint64_t priority_of(std::string_view name) {
    std::uint64_t hash = 14'695'981'039'346'656'037U;
    for (const auto c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
    hash ^= hash >> 31U;
    hash *= 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29U);
}

bool is_enough(const std::vector<Amount>& free, const std::vector<Amount>& wanted) {
    return std::equal(free.begin(), free.end(), wanted.begin(), wanted.end(),
                      [](const auto& has, const auto& wants) { return has >= wants; });
}

}  // namespace

struct FreeOrder::Node {
    std::vector<Amount> free, most;  // of itself, and of all below
    std::string_view name;
    std::uint64_t priority = 0;
    Tree left, right;

    [[nodiscard]] bool before(const std::vector<Amount>& other, std::string_view other_name) const {
        return std::tie(free, name) < std::tie(other, other_name);
    }
};

FreeOrder::FreeOrder() = default;
FreeOrder::~FreeOrder() = default;
FreeOrder::FreeOrder(FreeOrder&&) noexcept = default;
FreeOrder& FreeOrder::operator=(FreeOrder&&) noexcept = default;

void FreeOrder::measure(Node& node) {
    node.most = node.free;
    for (const auto* below : {node.left.get(), node.right.get()}) {
        if (below == nullptr) continue;
        for (std::size_t i = 0; i < node.most.size(); ++i) node.most[i] = std::max(node.most[i], below->most[i]);
    }
}

FreeOrder::Tree FreeOrder::join(Tree left, Tree right) {
    if (!left) return right;
    if (!right) return left;
    if (left->priority > right->priority) {
        left->right = join(std::move(left->right), std::move(right));
        measure(*left);
        return left;
    }
    right->left = join(std::move(left), std::move(right->left));
    measure(*right);
    return right;
}

std::pair<FreeOrder::Tree, FreeOrder::Tree> FreeOrder::split(Tree tree, const std::vector<Amount>& free,
                                                             std::string_view name) {
    if (!tree) return {};
    if (tree->before(free, name)) {
        auto [left, right] = split(std::move(tree->right), free, name);
        tree->right = std::move(left);
        measure(*tree);
        return {std::move(tree), std::move(right)};
    }
    auto [left, right] = split(std::move(tree->left), free, name);
    tree->left = std::move(right);
    measure(*tree);
    return {std::move(left), std::move(tree)};
}

void FreeOrder::insert(std::vector<Amount> free, std::string_view name) {
    auto [left, right] = split(std::move(root_), free, name);
    auto node = std::make_unique<Node>();
    node->most = free;
    node->free = std::move(free);
    node->name = name;
    node->priority = priority_of(name);
    root_ = join(join(std::move(left), std::move(node)), std::move(right));
}

void FreeOrder::erase_from(Tree& tree, const std::vector<Amount>& free, std::string_view name) {
    if (!tree) return;
    if (tree->name == name && tree->free == free) {
        auto below = join(std::move(tree->left), std::move(tree->right));
        tree = std::move(below);
        return;
    }
    erase_from(tree->before(free, name) ? tree->right : tree->left, free, name);
    measure(*tree);
}

void FreeOrder::erase(const std::vector<Amount>& free, std::string_view name) { erase_from(root_, free, name); }

const FreeOrder::Node* FreeOrder::find(const Tree& tree, const std::vector<Amount>& wanted,
                                       const std::function<bool(std::string_view)>& fits) {
    if (!tree || !is_enough(tree->most, wanted)) return nullptr;
    if (const auto* found = find(tree->left, wanted, fits)) return found;
    if (is_enough(tree->free, wanted) && fits(tree->name)) return tree.get();
    return find(tree->right, wanted, fits);
}

std::string_view FreeOrder::first(const std::vector<Amount>& wanted,
                                  const std::function<bool(std::string_view)>& fits) const {
    const auto* found = find(root_, wanted, fits);
    return found == nullptr ? std::string_view() : found->name;
}

}  // namespace fairlead::balancer
