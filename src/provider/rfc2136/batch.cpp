#include "provider/rfc2136/batch.h"

#include <fmt/core.h>

#include <set>

#include "dns/message_reader.h"

namespace fairlead::provider::rfc2136 {

namespace {

using State = Outcome::State;

std::string explanation(unsigned rcode) {
    switch (rcode) {
        case dns::rcode_nxrrset:
            return "records that were read are not there any more, or changed";
        case dns::rcode_yxrrset:
            return "records that were not there have been made by somebody else";
        case dns::rcode_yxdomain:
            return "the name is in use by somebody else";
        case dns::rcode_nxdomain:
            return "the name is not there any more";
        case dns::rcode_refused:
            return "the server does not let this key change it, or a check of its own fails: its log says which";
        case dns::rcode_notauth:
            return "the server is not authoritative for the zone";
        case dns::rcode_notzone:
            return "the name is not in the server's zone";
        case dns::rcode_notimp:
            return "the server takes no updates";
        case dns::rcode_servfail:
            return "the server could not do it";
        default:
            return "the server does not take the update";
    }
}

State state_of(unsigned rcode) {
    switch (rcode) {
        case dns::rcode_noerror:
            return State::applied;
        case dns::rcode_nxrrset:
        case dns::rcode_yxrrset:
        case dns::rcode_yxdomain:
        case dns::rcode_nxdomain:
            return State::conflict;
        case dns::rcode_servfail:
        case dns::rcode_notauth:
        case dns::rcode_notimp:
            return State::unavailable;
        default:
            return State::refused;
    }
}

// What says nothing about any of the groups: halving would not help.
bool about_the_server(unsigned rcode) { return rcode == dns::rcode_notauth || rcode == dns::rcode_notimp; }

}  // namespace

Outcome outcome_of(const Sent& sent, std::string_view name) {
    Outcome outcome;
    outcome.state = state_of(sent.rcode);
    if (outcome.state == State::applied) return outcome;
    outcome.message =
        fmt::format("{}: {}: {}: {}", sent.server, name, dns::rcode_text(sent.rcode), explanation(sent.rcode));
    return outcome;
}

std::vector<std::vector<const Planned*>> batches_of(const std::vector<Planned>& planned, std::size_t most,
                                                    std::size_t room) {
    std::vector<std::vector<const Planned*>> batches;
    std::set<dns::Name> names;
    std::size_t bytes = 0;
    for (const auto& each : planned) {
        const auto size = update_bytes(each.changes);
        std::set<dns::Name> own;
        for (const auto& [key, change] : each.changes) own.insert(key.first);
        const bool shared =
            std::any_of(own.begin(), own.end(), [&](const dns::Name& name) { return names.contains(name); });
        if (batches.empty() || shared || bytes + size > room || batches.back().size() >= most) {
            batches.emplace_back();
            names.clear();
            bytes = 0;
        }
        batches.back().push_back(&each);
        names.merge(own);
        bytes += size;
    }
    return batches;
}

void settle_batch(const std::vector<const Planned*>& batch, const Send& send, std::span<Outcome> outcomes) {
    std::vector<std::vector<const Planned*>> waiting{batch};  // the next is the last
    std::size_t refusals = 0;
    const auto settle = [&](const std::vector<const Planned*>& part, const Sent& sent) {
        for (const auto* each : part) outcomes[each->group] = outcome_of(sent, each->name);
    };
    while (!waiting.empty()) {
        const auto part = std::move(waiting.back());
        waiting.pop_back();
        const auto sent = send(part);
        if (!sent) {
            for (const auto* each : part) outcomes[each->group] = {State::unavailable, {}, sent.error().text()};
            // Whoever did not answer this will not answer the rest.
            for (const auto& rest : waiting) {
                for (const auto* each : rest) outcomes[each->group] = {State::unavailable, {}, sent.error().text()};
            }
            return;
        }
        const bool applied = sent->rcode == dns::rcode_noerror;
        if (applied || part.size() == 1 || about_the_server(sent->rcode)) {
            settle(part, *sent);
            if (state_of(sent->rcode) == State::conflict) continue;
            refusals = applied ? 0 : refusals + 1;
            if (refusals < max_refusals && !about_the_server(sent->rcode)) continue;
            for (const auto& rest : waiting) {
                for (const auto* each : rest) {
                    outcomes[each->group] = outcome_of(*sent, each->name);
                    if (!about_the_server(sent->rcode)) {
                        outcomes[each->group].message =
                            fmt::format("{}: {}: not tried, as {} others were refused before it ({})", sent->server,
                                        each->name, refusals, dns::rcode_text(sent->rcode));
                    }
                }
            }
            return;
        }
        const auto half = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
        waiting.emplace_back(half, part.end());
        waiting.emplace_back(part.begin(), half);
    }
}

}  // namespace fairlead::provider::rfc2136
