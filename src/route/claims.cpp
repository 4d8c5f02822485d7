#include "route/claims.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace fairlead::route {

namespace {

struct Older {
    bool operator()(const Claim* a, const Claim* b) const {
        if (a->system != b->system) return a->system;
        return std::tie(a->created, a->uid, a->key, a->host) < std::tie(b->created, b->uid, b->key, b->host);
    }
};
using ByAge = std::set<const Claim*, Older>;

bool strangers(const Claim& one, const Claim& other) {
    return one.namespace_ != other.namespace_ && !(one.shared && other.shared);
}

// What was admitted on one subject so far, the oldest first: enough to tell in a few looks who stands in the way.
class Taken {
public:
    // The first admitted one that this one excludes; null: none does.
    [[nodiscard]] const Claim* in_the_way_of(const Claim& claim) const {
        if (const auto* stranger = stranger_to(claim)) return stranger;
        if (const auto same = by_path_.find(claim.path); same != by_path_.end()) return same->second;
        if (claim.passthrough) return tls_;
        return claim.tls ? passthrough_ : nullptr;
    }
    // One of another namespace that does not share with this one.
    [[nodiscard]] const Claim* stranger_to(const Claim& claim) const {
        // Those that do not share are strangers to all; for one that does not share itself everybody is.
        for (const auto* first : claim.shared ? firm_ : first_) {
            if (strangers(*first, claim)) return first;
        }
        return nullptr;
    }
    void add(const Claim& claim) {
        by_path_.emplace(claim.path, &claim);
        note(first_, claim);
        if (!claim.shared) note(firm_, claim);
        if (claim.passthrough && passthrough_ == nullptr) passthrough_ = &claim;
        if (claim.tls && !claim.passthrough && tls_ == nullptr) tls_ = &claim;
    }

private:
    // Two namespaces are enough: one of them is not the asker's.
    static void note(std::vector<const Claim*>& list, const Claim& claim) {
        if (list.size() < 2 && (list.empty() || list.front()->namespace_ != claim.namespace_)) list.push_back(&claim);
    }

    std::map<std::string_view, const Claim*> by_path_;
    std::vector<const Claim*> first_, firm_;  // of the first two namespaces: any claim, one that does not share
    const Claim* passthrough_ = nullptr;
    const Claim* tls_ = nullptr;
};

Refusal refuse(const Claim& claim, const Claim& rival) {
    const auto subject = subject_of(claim);
    if (claim.namespace_ != rival.namespace_ && rival.system && !claim.system) {
        return {"HostAlreadyClaimed",
                fmt::format("{} is the name that the router gives to a route of another namespace", subject)};
    }
    if (claim.namespace_ != rival.namespace_) {
        return {"HostAlreadyClaimed", fmt::format("{} is claimed by an older route of another namespace{}", subject,
                                                  subject == subject_of(rival) ? ""
                                                  : rival.wildcard             ? ", with all hosts beside it"
                                                                               : " on one of its hosts")};
    }
    const auto name = rival.key.substr(rival.key.find('/') + 1);
    if (claim.path == rival.path) {
        return {"HostAlreadyClaimed", fmt::format("the older route {} has {}{}", name, subject, claim.path)};
    }
    return {"HostAlreadyClaimed",
            fmt::format("the older route {} has {} with TLS termination {}: one that ends at the router and one that "
                        "does not exclude each other on one host",
                        name, subject, rival.passthrough ? "passthrough" : "at the router")};
}

struct Decided {
    const Claim* claim = nullptr;
    const Claim* rival = nullptr;  // null: admitted
};

}  // namespace

std::string_view parent_of(std::string_view host) {
    const auto dot = host.find('.');
    return dot == std::string_view::npos ? std::string_view{} : host.substr(dot + 1);
}

std::string wildcard_above(std::string_view host) { return fmt::format("*.{}", parent_of(host)); }

std::string subject_of(const Claim& claim) { return claim.wildcard ? wildcard_above(claim.host) : claim.host; }

bool covers(std::string_view subject, std::string_view other) {
    if (subject == other) return true;
    return subject.starts_with("*.") && !other.starts_with("*.") && subject.substr(2) == parent_of(other);
}

bool excludes(const Claim& one, const Claim& other) {
    if (one.wildcard != other.wildcard) {
        return parent_of(one.host) == parent_of(other.host) && strangers(one, other);
    }
    if (subject_of(one) != subject_of(other)) return false;
    return strangers(one, other) || one.path == other.path || (one.passthrough && other.tls) ||
           (other.passthrough && one.tls);
}

struct ClaimBook::Impl {
    // What lies below one parent domain.
    struct Domain {
        ByAge wildcards;
        std::map<std::string, ByAge> exact;  // by namespace: its claims on exact hosts
        // Of the wildcards, in the order of their age.
        std::vector<Decided> decided;
        Taken taken;
    };

    std::map<std::string, std::vector<std::unique_ptr<const Claim>>, std::less<>> by_key;
    std::map<std::string, ByAge, std::less<>> hosts;  // exact ones
    std::map<std::string, Domain, std::less<>> domains;
    std::size_t count = 0;

    void add(const Claim& claim);
    void remove(const Claim& claim);
    [[nodiscard]] std::vector<Decided> decide_host(std::string_view host) const;
    [[nodiscard]] const Claim* first_below(const Domain& domain, const Claim& wildcard) const;
    // True: other wildcards are admitted than before.
    bool decide_wildcards(std::string_view parent);
    [[nodiscard]] std::vector<Decided> decide(std::string_view subject) const;
};

ClaimBook::ClaimBook() : impl_(std::make_unique<Impl>()) {}
ClaimBook::~ClaimBook() = default;

void ClaimBook::Impl::add(const Claim& claim) {
    auto& domain = domains[std::string(parent_of(claim.host))];
    if (claim.wildcard) {
        domain.wildcards.insert(&claim);
    } else {
        domain.exact[claim.namespace_].insert(&claim);
        hosts[claim.host].insert(&claim);
    }
    ++count;
}

void ClaimBook::Impl::remove(const Claim& claim) {
    const auto domain = domains.find(parent_of(claim.host));
    if (claim.wildcard) {
        domain->second.wildcards.erase(&claim);
    } else {
        const auto mine = domain->second.exact.find(claim.namespace_);
        mine->second.erase(&claim);
        if (mine->second.empty()) domain->second.exact.erase(mine);
        const auto host = hosts.find(claim.host);
        host->second.erase(&claim);
        if (host->second.empty()) hosts.erase(host);
    }
    --count;
}

// The wildcards of its domain that are older than a claim are decided already.
std::vector<Decided> ClaimBook::Impl::decide_host(std::string_view host) const {
    std::vector<Decided> decided;
    const auto found = hosts.find(host);
    if (found == hosts.end()) return decided;
    const auto& domain = domains.find(parent_of(host))->second;
    decided.reserve(found->second.size());
    Taken taken;
    for (const auto* claim : found->second) {
        const auto* rival = taken.in_the_way_of(*claim);
        if (rival == nullptr) {
            const auto* above = domain.taken.stranger_to(*claim);
            if (above != nullptr && Older()(above, claim)) rival = above;
        }
        if (rival == nullptr) taken.add(*claim);
        decided.push_back({claim, rival});
    }
    return decided;
}

// An admitted exact host below the domain that is older than the wildcard and a stranger to it.
const Claim* ClaimBook::Impl::first_below(const Domain& domain, const Claim& wildcard) const {
    for (const auto& [namespace_, claims] : domain.exact) {
        if (namespace_ == wildcard.namespace_) continue;
        for (const auto* claim : claims) {
            if (!Older()(claim, &wildcard)) break;
            if (!strangers(*claim, wildcard)) continue;
            for (const auto& each : decide_host(claim->host)) {
                if (each.claim == claim && each.rival == nullptr) return claim;
            }
        }
    }
    return nullptr;
}

bool ClaimBook::Impl::decide_wildcards(std::string_view parent) {
    const auto found = domains.find(parent);
    if (found == domains.end()) return false;
    auto& domain = found->second;
    if (domain.wildcards.empty() && domain.decided.empty()) return false;
    const auto before = std::exchange(domain.decided, {});
    domain.taken = {};
    for (const auto* claim : domain.wildcards) {
        const auto* rival = domain.taken.in_the_way_of(*claim);
        if (rival == nullptr) rival = first_below(domain, *claim);
        if (rival == nullptr) domain.taken.add(*claim);
        domain.decided.push_back({claim, rival});
    }
    // Claims are new objects after a change, so that a wildcard that changed itself counts as well.
    const auto admitted = [](const std::vector<Decided>& list) {
        std::vector<const Claim*> claims;
        for (const auto& each : list) {
            if (each.rival == nullptr) claims.push_back(each.claim);
        }
        return claims;
    };
    return admitted(before) != admitted(domain.decided);
}

std::vector<Decided> ClaimBook::Impl::decide(std::string_view subject) const {
    if (!subject.starts_with("*.")) return decide_host(subject);
    const auto domain = domains.find(subject.substr(2));
    return domain == domains.end() ? std::vector<Decided>{} : domain->second.decided;
}

std::set<std::string> ClaimBook::set(const std::string& key, std::vector<Claim> claims) {
    std::set<std::string> touched;
    auto present = impl_->by_key.find(key);
    if (present == impl_->by_key.end()) {
        if (claims.empty()) return touched;
        present = impl_->by_key.emplace(key, std::vector<std::unique_ptr<const Claim>>{}).first;
    }
    auto& mine = present->second;
    const bool same = std::equal(mine.begin(), mine.end(), claims.begin(), claims.end(),
                                 [](const auto& before, const Claim& after) { return *before == after; });
    if (same) return touched;

    std::set<std::string> parents;
    const auto touch = [&](const Claim& claim) {
        touched.insert(subject_of(claim));
        parents.emplace(parent_of(claim.host));
    };
    const auto gone = std::exchange(mine, {});  // alive until the wildcards are decided again
    for (const auto& claim : gone) {
        touch(*claim);
        impl_->remove(*claim);
    }
    mine.reserve(claims.size());
    for (auto& claim : claims) {
        touch(claim);
        impl_->add(*mine.emplace_back(std::make_unique<const Claim>(std::move(claim))));
    }
    if (mine.empty()) impl_->by_key.erase(present);
    for (const auto& parent : parents) {
        const bool changed = impl_->decide_wildcards(parent);
        const auto domain = impl_->domains.find(parent);
        if (!domain->second.wildcards.empty()) touched.insert("*." + parent);
        if (changed) {
            for (const auto& [namespace_, exact] : domain->second.exact) {
                for (const auto* claim : exact) touched.insert(claim->host);
            }
        }
        if (domain->second.wildcards.empty() && domain->second.exact.empty()) impl_->domains.erase(domain);
    }
    return touched;
}

const std::vector<std::unique_ptr<const Claim>>& ClaimBook::of(const std::string& key) const {
    static const std::vector<std::unique_ptr<const Claim>> none;
    const auto found = impl_->by_key.find(key);
    return found == impl_->by_key.end() ? none : found->second;
}

std::vector<std::string> ClaimBook::claimants(const std::string& subject) const {
    std::vector<std::string> keys;
    const auto add = [&](const ByAge& claims) {
        for (const auto* claim : claims) keys.push_back(claim->key);
    };
    if (subject.starts_with("*.")) {
        const auto domain = impl_->domains.find(std::string_view(subject).substr(2));
        if (domain != impl_->domains.end()) add(domain->second.wildcards);
    } else if (const auto host = impl_->hosts.find(subject); host != impl_->hosts.end()) {
        add(host->second);
    }
    return keys;
}

std::vector<ClaimBook::Verdict> ClaimBook::verdicts(const std::string& subject) const {
    std::vector<Verdict> verdicts;
    const auto decided = impl_->decide(subject);
    verdicts.reserve(decided.size());
    for (const auto& each : decided) {
        auto& verdict = verdicts.emplace_back();
        verdict.claim = each.claim;
        verdict.rival = each.rival;
        if (each.rival != nullptr) verdict.refusal = refuse(*each.claim, *each.rival);
    }
    return verdicts;
}

std::optional<Refusal> ClaimBook::refusal(const std::string& key, const std::string& subject) const {
    for (const auto& each : impl_->decide(subject)) {
        if (each.claim->key != key) continue;
        if (each.rival == nullptr) return std::nullopt;
        return refuse(*each.claim, *each.rival);
    }
    return Refusal{"RouteNotAdmitted", fmt::format("the route does not claim {}", subject)};
}

std::vector<const Claim*> ClaimBook::rivals(const Claim& claim) const {
    std::vector<const Claim*> rivals;
    const auto add = [&](const ByAge& claims) {
        for (const auto* other : claims) {
            if (other->key != claim.key && excludes(claim, *other)) rivals.push_back(other);
        }
    };
    const auto domain = impl_->domains.find(parent_of(claim.host));
    if (domain == impl_->domains.end()) return rivals;
    add(domain->second.wildcards);
    if (claim.wildcard) {
        for (const auto& [namespace_, exact] : domain->second.exact) {
            if (namespace_ != claim.namespace_) add(exact);
        }
    } else if (const auto host = impl_->hosts.find(claim.host); host != impl_->hosts.end()) {
        add(host->second);
    }
    return rivals;
}

std::size_t ClaimBook::size() const { return impl_->count; }

std::map<std::string, Refusal> refused(std::vector<Claim> claims, Ownership ownership) {
    ClaimBook book;
    std::set<std::string> subjects;
    for (auto& claim : claims) {
        claim.shared = ownership == Ownership::inter_namespace;
        subjects.insert(subject_of(claim));
        const auto key = claim.key;
        (void)book.set(key, {std::move(claim)});
    }
    std::map<std::string, Refusal> refused;
    for (const auto& subject : subjects) {
        for (auto& verdict : book.verdicts(subject)) {
            if (verdict.refusal) refused.emplace(verdict.claim->key, std::move(*verdict.refusal));
        }
    }
    return refused;
}

}  // namespace fairlead::route
