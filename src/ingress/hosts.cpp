#include "ingress/hosts.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "ingress/settings.h"

namespace fairlead::ingress {

namespace {

constexpr std::size_t hosts_shown = 3;  // in a message

std::string key_of(const resource::Ingress& ingress) {
    return fmt::format("{}/{}", ingress.metadata.namespace_, ingress.metadata.name);
}

// As rules are about them: "shop.test", "*.acme.test", "" for all that nobody names.
std::set<std::string> named_by(const resource::Ingress& ingress) {
    std::set<std::string> hosts;
    for (const auto& rule : ingress.spec.rules) hosts.insert(lower(rule.host));
    std::vector<route::Problem> said_elsewhere;
    const bool by_port = settings_of(ingress, said_elsewhere).tcp_port.has_value();
    if (ingress.spec.default_backend && !by_port) hosts.insert("");
    if (!hosts.contains("")) return hosts;
    // They are given what is for any host, with a certificate.
    for (const auto& tls : ingress.spec.tls) {
        for (const auto& host : tls.hosts) hosts.insert(lower(host));
    }
    return hosts;
}

std::vector<route::Claim> claims_of(const std::string& key, const resource::Ingress& ingress) {
    std::vector<route::Claim> claims;
    for (const auto& host : named_by(ingress)) {
        route::Claim claim;
        claim.key = key;
        claim.namespace_ = ingress.metadata.namespace_;
        claim.created = ingress.metadata.creation_timestamp;  // then by key: names decide within a second
        claim.host = host;
        claim.wildcard = host.starts_with("*.");
        claim.path = key;  // paths of one namespace live together: the table says who has which
        claims.push_back(std::move(claim));
    }
    return claims;
}

std::string subject_of(const traffic::RuleKey& key) { return key.wildcard ? "*." + key.host : key.host; }

std::string text_of(const std::string& subject, const route::Claim& rival) {
    const auto other = route::subject_of(rival);
    return fmt::format("{} on this balancer {} of namespace {}: its older Ingress {} has {}",
                       subject.empty() ? "hosts that no Ingress names" : subject, subject.empty() ? "are" : "is",
                       rival.namespace_, rival.key, other == subject ? (subject.empty() ? "them" : "it") : other);
}

void erase_host(route::Part& part, const std::string& subject) {
    std::erase_if(part.table.rules, [&](const auto& each) { return subject_of(each.first) == subject; });
    part.table.certificates.erase(subject);
}

void erase_unused_pools(route::Part& part) {
    std::set<std::string> used;
    for (const auto& [key, rule] : part.table.rules) used.insert(rule.pool);
    for (const auto& [key, rule] : part.table.ports) used.insert(rule.pool);
    std::erase_if(part.table.pools, [&](const auto& each) { return !used.contains(each.first); });
}

}  // namespace

std::string Hosts::holder(const std::string& subject) const {
    std::string in_the_way;
    for (const auto& verdict : book_.verdicts(subject)) {
        if (verdict.rival == nullptr) return verdict.claim->key;
        if (in_the_way.empty()) in_the_way = verdict.rival->key;
    }
    return in_the_way;
}

const route::Claim* Hosts::rival(const std::string& key, const std::string& subject) const {
    for (const auto& verdict : book_.verdicts(subject)) {
        if (verdict.claim->key == key) return verdict.rival;
    }
    return nullptr;
}

std::set<std::string> Hosts::set(const std::string& key, const resource::Ingress* ingress) {
    std::set<std::string> others;
    const auto touched = book_.set(key, ingress != nullptr ? claims_of(key, *ingress) : std::vector<route::Claim>{});
    for (const auto& subject : touched) {
        auto now = holder(subject);
        const auto before = holders_.find(subject);
        if (before != holders_.end() ? before->second == now : now.empty()) continue;
        for (const auto& claimant : book_.claimants(subject)) {
            if (claimant != key) others.insert(claimant);
        }
        if (now.empty()) {
            holders_.erase(subject);
        } else {
            holders_[subject] = std::move(now);
        }
    }
    return others;
}

void Hosts::keep_own(const resource::Ingress& ingress, route::Part& part) const {
    const auto key = key_of(ingress);
    const auto hosts = named_by(ingress);
    std::vector<std::string> texts;
    for (const auto& subject : hosts) {
        const auto* other = rival(key, subject);
        if (other == nullptr) continue;
        erase_host(part, subject);
        // A default backend is for the hosts of its Ingress, first of all: that it gets no others is nothing to mend.
        const bool wished = !subject.empty() || hosts.size() == 1 ||
                            std::any_of(ingress.spec.rules.begin(), ingress.spec.rules.end(),
                                        [](const auto& rule) { return rule.host.empty(); });
        if (wished) texts.push_back(text_of(subject, *other));
    }
    erase_unused_pools(part);
    if (texts.empty()) return;
    const auto all = texts.size();
    texts.resize(std::min(all, hosts_shown));
    part.problems.push_back(
        {"HostAlreadyClaimed",
         join(texts, "; ") + (all > hosts_shown ? fmt::format(" and {} more hosts", all - hosts_shown) : "")});
}

}  // namespace fairlead::ingress
