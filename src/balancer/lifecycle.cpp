#include "balancer/lifecycle.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "balancer/provision.h"
#include "base/text.h"
#include "resource/kinds/rules.h"

namespace fairlead::balancer {

namespace {

using resource::ClaimReference;
using resource::Condition;
using resource::LoadBalancer;

std::string name_of(const ClaimReference& reference) {
    return fmt::format("{} {}/{}", reference.kind, reference.namespace_, reference.name);
}

std::vector<ClaimReference> without_shares(std::vector<ClaimReference> references) {
    for (auto& each : references) each.resources.clear();
    return references;
}

Condition condition(std::string type, bool is_true, std::string reason, std::string message, const LoadBalancer& of) {
    return {std::move(type),       is_true ? "True" : "False", std::move(reason), std::move(message), "",
            of.metadata.generation};
}

class Decision {
public:
    explicit Decision(const LifecycleFacts& facts)
        : facts_(facts),
          balancer_(facts.balancer),
          deleting_(!balancer_.metadata.deletion_timestamp.empty()),
          used_(!facts.named_by.empty()),
          released_(!facts.tenants.empty() && none_is(Tenant::present) && !used_),
          // What goes as a whole need not be cleaned before.
          clean_(released_ && none_is(Tenant::holding) &&
                 (none_is(Tenant::leaving) || balancer_.spec.reclaim_policy == "Delete")) {}

    Lifecycle make() {
        decide_references();
        decide_finalizers();
        decide_phase();
        decide_conditions();
        return std::move(made_);
    }

private:
    [[nodiscard]] bool none_is(Tenant state) const {
        return std::none_of(facts_.tenants.begin(), facts_.tenants.end(),
                            [&](const auto each) { return each == state; });
    }

    // Who is gone is taken off; the last one as the policy says. On a balancer that is being deleted the last ones no
    // longer matter, and stay for people to see.
    void decide_references() {
        const auto& all = balancer_.spec.claim_refs;
        made_.remove_object = !deleting_ && all.empty() && is_given_up(balancer_);
        // Who has moved is never kept: it is bound elsewhere by a reference of its own.
        std::vector<ClaimReference> kept, last;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto state = facts_.tenants[i];
            if (state == Tenant::moved) continue;
            made_.references.push_back(all[i]);
            // While all are leaving, the order in which they are confirmed must not decide who is the last.
            if (state != Tenant::gone || released_) kept.push_back(all[i]);
            last = {all[i]};
        }
        if (deleting_ && clean_) return;
        if (!clean_) {
            // What becomes of it when those who name it themselves have left it is decided by its last claimant, whose
            // share is free meanwhile.
            if (kept.empty() && used_ && balancer_.spec.reclaim_policy != "Recycle") kept = without_shares(last);
            made_.references = std::move(kept);
        } else if (balancer_.spec.reclaim_policy == "Delete") {
            made_.remove_object = true;
        } else if (balancer_.spec.reclaim_policy == "Recycle") {
            made_.references.clear();
        } else {
            made_.references = std::move(last);
        }
    }

    void decide_finalizers() {
        const bool cloud = is_cloud(balancer_);
        const bool in_use = used_ || (!made_.references.empty() && !(deleting_ && clean_));
        const bool last_step = deleting_ && !in_use;
        made_.remove_at_cloud = last_step && cloud && removed_with_object(balancer_);
        made_.serve = !last_step;
        const bool at_cloud = cloud && !(last_step && (facts_.report.removed || !made_.remove_at_cloud));
        const auto& present = balancer_.metadata.finalizers;
        made_.finalizers = present;
        const auto set = [&](const char* finalizer, bool wanted) {
            const auto at = std::find(made_.finalizers.begin(), made_.finalizers.end(), finalizer);
            if (!wanted && at != made_.finalizers.end()) made_.finalizers.erase(at);
            // None can be added to what is being deleted.
            if (wanted && at == made_.finalizers.end() && !deleting_) made_.finalizers.emplace_back(finalizer);
        };
        set(in_use_finalizer, in_use);
        set(at_provider_finalizer, at_cloud);
    }

    void decide_phase() {
        auto& status = made_.status;
        status = balancer_.status;
        status.conditions.clear();
        status.ingresses = static_cast<std::int32_t>(facts_.ingresses);
        const auto& report = facts_.report;
        const bool leaving = !none_is(Tenant::leaving) || !none_is(Tenant::holding);
        if (made_.remove_at_cloud && !report.removal_error.empty()) {
            status.phase = "Failed";
            status.message = "cannot be removed at the provider: " + report.removal_error;
        } else if (leaving && !report.rules_error.empty()) {
            status.phase = "Failed";
            status.message = "rules of who is gone cannot be removed: " + report.rules_error;
        } else if (report.plane == Plane::failed) {
            status.phase = "Failed";
            status.message = report.message;
        } else {
            status.phase = report.plane == Plane::running ? "Running" : "Pending";
            status.message = !report.rules_error.empty() && report.plane == Plane::running
                                 ? "rules cannot be brought in force: " + report.rules_error
                                 : report.message;
        }
        status.ingress.clear();
        for (const auto& address : report.addresses) {
            resource::IngressPoint point;
            (resource::is_ip(address) ? point.ip : point.hostname) = address;
            status.ingress.push_back(std::move(point));
        }
    }

    void decide_conditions() {
        auto& conditions = made_.status.conditions;
        const auto& phase = made_.status.phase;
        // Of what will be there once the references are written.
        const bool released = released_ && !made_.references.empty();
        if (deleting_) {
            conditions.push_back(condition("Available", false, "Deleting", deleting_text(), balancer_));
        } else if (released) {
            conditions.push_back(condition("Available", false, "Released", "its last claimant is gone", balancer_));
        } else if (phase != "Running") {
            const auto* why = phase == "Failed" ? "Failed" : facts_.report.failing ? provider_failing : "NotRunning";
            conditions.push_back(condition("Available", false, why, made_.status.message, balancer_));
        } else if (!facts_.report.rules_error.empty()) {
            conditions.push_back(condition("Available", false, "RulesFailing", made_.status.message, balancer_));
        } else {
            conditions.push_back(condition("Available", true, "Offered", "claims can be bound to it", balancer_));
        }
        conditions.push_back(released_condition(released));
        if (facts_.ingresses == 0) return;
        conditions.push_back(programmed_condition());
    }

    // One that does what it can is programmed, though it refuses some: what is wrong is said to those.
    [[nodiscard]] Condition programmed_condition() const {
        const auto& report = facts_.report;
        if (is_silent()) {
            return condition("Programmed", false, "NotRunning",
                             fmt::format("nobody serves its Ingresses: {}", report.message), balancer_);
        }
        if (!report.programmed || !report.rules_error.empty()) {
            return condition(
                "Programmed", false, "Pending",
                report.rules_error.empty() ? "rules of its Ingresses are on their way" : report.rules_error, balancer_);
        }
        if (facts_.refused == 0) {
            return condition("Programmed", true, "InForce", "it does what its Ingresses say", balancer_);
        }
        const auto served = facts_.ingresses - std::min(facts_.refused, facts_.ingresses);
        const auto others = facts_.refused - 1;
        return condition(
            "Programmed", served > 0, served > 0 ? "PartlyRefused" : "Refused",
            fmt::format("{} of {} Ingresses are served as they say; refused, or not served whole: {}{}", served,
                        facts_.ingresses, facts_.first_refused, others > 0 ? fmt::format(" and {} more", others) : ""),
            balancer_);
    }

    // On machines of one's own nobody serves what nobody reports of; a cloud may, whatever its API says.
    [[nodiscard]] bool is_silent() const { return !is_cloud(balancer_) && facts_.report.plane != Plane::running; }

    // As it will be once that is written.
    [[nodiscard]] std::string deleting_text() const {
        LoadBalancer then;
        then.spec.claim_refs = made_.references;
        then.metadata.finalizers = made_.finalizers;
        auto whom = holders_text(then);
        if (used_) {
            whom += fmt::format("{}Ingress {}, which names it", whom.empty() ? "" : ", ", facts_.named_by.front());
            if (facts_.named_by.size() > 1) whom += fmt::format(", and {} more such", facts_.named_by.size() - 1);
        }
        return whom.empty() ? "it is being deleted" : fmt::format("it is being deleted; waits for {}", whom);
    }

    // "LoadBalancerClaim shop/a, LoadBalancerClaim shop/b (still has Ingresses) and 3 more"
    [[nodiscard]] std::string leaving_names() const {
        constexpr std::size_t shown = 20;
        std::vector<std::string> names;
        for (std::size_t i = 0; i < facts_.tenants.size(); ++i) {
            const auto state = facts_.tenants[i];
            if (state != Tenant::leaving && state != Tenant::holding) continue;
            names.push_back(name_of(balancer_.spec.claim_refs[i]) +
                            (state == Tenant::holding ? " (still has Ingresses)" : ""));
        }
        const auto all = names.size();
        if (all > shown) names.resize(shown);
        return join(names, ", ") + (all > shown ? fmt::format(" and {} more", all - shown) : "");
    }

    // "rules of LoadBalancerClaim shop/a are being removed; instance edge-1 does not report: it is waited for"
    [[nodiscard]] std::string cleaning_text() const {
        auto text = fmt::format("rules of {} are being removed", leaving_names());
        if (facts_.cut_off.empty() || none_is(Tenant::leaving)) return text;
        const bool one = facts_.cut_off.size() == 1;
        return text + fmt::format("; {} {} not report and may still serve them: {} waited for",
                                  (one ? "instance " : "instances ") + join(facts_.cut_off, ", "), one ? "does" : "do",
                                  one ? "it is" : "they are");
    }

    [[nodiscard]] Condition released_condition(bool released) const {
        if (!released) {
            // Says who is leaving, so that there is a version of the balancer from which on that was known.
            const auto who = leaving_names();
            if (who.empty() && used_) {
                return condition("Released", false, "InUse",
                                 fmt::format("Ingress {} names it", facts_.named_by.front()), balancer_);
            }
            if (!who.empty()) return condition("Released", false, "Cleaning", cleaning_text(), balancer_);
            return made_.references.empty()
                       ? condition("Released", false, "Unclaimed", "nobody has a share of it", balancer_)
                       : condition("Released", false, "InUse", "its claimants are there", balancer_);
        }
        const auto who = name_of(made_.references.back());
        if (!clean_) {
            return condition("Released", true, "Cleaning", cleaning_text(), balancer_);
        }
        if (made_.remove_object || deleting_) {
            return condition("Released", true, "Removing", fmt::format("{} is gone; it is being removed", who),
                             balancer_);
        }
        return condition("Released", true, "Retained",
                         fmt::format("{} is gone and nothing of it is left; the balancer is offered again when its "
                                     "reference is removed from spec.claimRefs",
                                     who),
                         balancer_);
    }

    const LifecycleFacts& facts_;
    const LoadBalancer& balancer_;
    bool deleting_, used_, released_, clean_;
    Lifecycle made_;
};

}  // namespace

bool removed_with_object(const LoadBalancer& balancer) {
    return is_provisioned(balancer) || balancer.spec.reclaim_policy == "Delete";
}

std::string holders_text(const LoadBalancer& balancer) {
    constexpr std::size_t shown = 20;
    const auto& finalizers = balancer.metadata.finalizers;
    const auto has = [&](const char* finalizer) {
        return std::find(finalizers.begin(), finalizers.end(), finalizer) != finalizers.end();
    };
    if (!has(in_use_finalizer)) return has(at_provider_finalizer) ? "its removal at the provider" : "";
    std::vector<std::string> parts;
    for (const auto& [kind, title] : {std::pair{resource::claim_reference_claim, "claims"},
                                      std::pair{resource::claim_reference_ingress, "Ingresses"}}) {
        std::vector<std::string> names;
        for (const auto& each : balancer.spec.claim_refs) {
            if (each.kind == kind) names.push_back(fmt::format("{}/{}", each.namespace_, each.name));
        }
        const auto all = names.size();
        if (all > shown) names.resize(shown);
        const auto rest = all > shown ? fmt::format(" and {} more", all - shown) : "";
        if (all > 0) parts.push_back(fmt::format("{} {}{}", title, join(names, ", "), rest));
    }
    return join(parts, ", ");
}

bool is_of_backend(std::string_view reason) {
    constexpr std::array<std::string_view, 6> reasons{"NoService",    "NoEndpoints",      "NoSuchPort",
                                                      "ExternalName", "AllEndpointsFail", "CertificateExpired"};
    return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

Lifecycle decide(const LifecycleFacts& facts) { return Decision(facts).make(); }

}  // namespace fairlead::balancer
