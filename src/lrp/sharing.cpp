#include "lrp/sharing.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace fairlead::lrp {

namespace {

constexpr std::size_t max_told = 20;  // names of one process; the first ones say it all

std::string_view namespace_of(std::string_view lrp) { return lrp.substr(0, lrp.find('/')); }

Wish together(const Sharing::Names& sharers) {
    std::vector<const Sharing::Names::value_type*> all;
    all.reserve(sharers.size());
    for (const auto& each : sharers) all.push_back(&each);
    std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
        return std::pair(namespace_of(a->first), std::string_view(a->second.guid)) <
               std::pair(namespace_of(b->first), std::string_view(b->second.guid));
    });
    std::optional<Wish> made;
    for (const auto* each : all) {
        for (const auto& wish : each->second.wishes) made ? agree(*made, wish) : void(made = wish);
    }
    return made.value_or(Wish{});
}

// All about the name that matters to who has it.
struct Standing {
    Wish made{};
    std::set<std::string, std::less<>> namespaces{};
    bool operator==(const Standing&) const = default;
};

Standing standing_of(const Sharing::Names& sharers) {
    Standing standing{.made = together(sharers)};
    for (const auto& [lrp, sharer] : sharers) {
        if (!standing.namespaces.contains(namespace_of(lrp))) standing.namespaces.emplace(namespace_of(lrp));
    }
    return standing;
}

bool differ(const Sharing::Names& sharers) {
    const auto& first = sharers.begin()->second.wishes.front();
    return std::any_of(sharers.begin(), sharers.end(), [&](const auto& each) {
        const auto& wishes = each.second.wishes;
        return std::any_of(wishes.begin(), wishes.end(), [&](const Wish& wish) { return !(wish == first); });
    });
}

}  // namespace

Wish wish_of(const HttpRoute& route) {
    return {.ssl = route.ssl, .http2 = route.http2, .route_service = route.route_service, .options = route.options};
}

void agree(Wish& made, const Wish& next) {
    made.ssl = made.ssl || next.ssl;
    made.http2 = made.http2 && next.http2;
    if (made.route_service.empty()) made.route_service = next.route_service;
    if (made.options.empty()) made.options = next.options;
}

std::string overruled(const Wish& wanted, const Wish& made) {
    if (!wanted.ssl && made.ssl) return "answers on TLS only: another route wants ssl";
    if (wanted.route_service != made.route_service) {
        return fmt::format("goes through the route service {}, which another route wants", made.route_service);
    }
    if (wanted.options != made.options) return fmt::format("has the options {} of another route", made.options);
    if (wanted.http2 && !made.http2) return "is asked by HTTP/1.1 but by gorouters: another route does not say http2";
    return {};
}

std::set<std::string> Sharing::put(const std::string& lrp, const Desired* desired) {
    std::map<std::string, Sharer> wanted;  // by name
    if (desired != nullptr) {
        for (const auto& route : desired->routes.http) {
            for (const auto& name : route.names) {
                auto& sharer = wanted.try_emplace(name, Sharer{.guid = desired->key.guid}).first->second;
                sharer.wishes.push_back(wish_of(route));
            }
        }
    }
    auto& held = lrps_[lrp];
    const bool moved = desired != nullptr && held.labels != desired->labels;
    std::set<std::string> others;
    const auto ask_all = [&](const Names& sharers) {
        for (const auto& [other, sharer] : sharers) {
            if (other != lrp) others.insert(other);
        }
    };
    const auto change = [&](const std::string& name, Sharer* now) {
        const auto at = by_name_.try_emplace(name).first;
        auto& sharers = at->second;
        const auto was = sharers.find(lrp);
        if (now != nullptr && was != sharers.end() && was->second == *now) {
            if (moved && differ(sharers)) ask_all(sharers);
            return;
        }
        const bool shared = sharers.size() > (was != sharers.end() ? 1U : 0U);
        const auto before = shared ? standing_of(sharers) : Standing{};
        if (now == nullptr) {
            sharers.erase(lrp);
        } else {
            sharers.insert_or_assign(lrp, std::move(*now));
        }
        if (shared && !(standing_of(sharers) == before)) ask_all(sharers);
        if (sharers.empty()) by_name_.erase(at);
    };
    for (const auto& name : held.names) {
        if (!wanted.contains(name)) change(name, nullptr);
    }
    held.names.clear();
    held.names.reserve(wanted.size());
    for (auto& [name, sharer] : wanted) {
        held.names.push_back(name);
        change(name, &sharer);
    }
    if (held.names.empty()) {
        lrps_.erase(lrp);
    } else {
        held.labels = desired->labels;
    }
    return others;
}

const Sharing::Names& Sharing::sharers(std::string_view name) const {
    static const Names nobody;
    const auto found = by_name_.find(name);
    return found != by_name_.end() ? found->second : nobody;
}

std::set<std::string> Sharing::at_odds() const {
    std::set<std::string> lrps;
    for (const auto& [name, sharers] : by_name_) {
        if (!differ(sharers)) continue;
        for (const auto& [lrp, sharer] : sharers) lrps.insert(lrp);
    }
    return lrps;
}

std::vector<std::string> Sharing::problems(const std::string& lrp, const With& with) const {
    std::vector<std::string> told;
    const auto found = lrps_.find(lrp);
    if (found == lrps_.end()) return told;
    for (const auto& name : found->second.names) {
        const auto& all = sharers(name);
        if (!differ(all)) continue;  // as nearly always: nobody need be asked who is with whom
        Names near;
        for (const auto& [other, sharer] : all) {
            if (other == lrp || with(other)) near.emplace(other, sharer);
        }
        const auto made = together(near);
        for (const auto& wish : all.find(lrp)->second.wishes) {
            const auto text = overruled(wish, made);
            if (text.empty()) continue;
            told.push_back(fmt::format("{}: {}", name, text));
            break;
        }
        if (told.size() == max_told) break;
    }
    return told;
}

}  // namespace fairlead::lrp
