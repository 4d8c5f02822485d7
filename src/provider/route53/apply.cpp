// How changes reach Route 53: groups into batches, and who is to blame when one is refused.
#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "provider/route53/route53.h"

namespace fairlead::provider::route53 {
namespace {

constexpr BatchLimits limits;
constexpr std::size_t max_sends = 100;  // of one batch and what it is split into: seven bad records among a thousand

bool same_but_labels(const dns::Endpoint& a, const dns::Endpoint& b) {
    return a.dns_name == b.dns_name && a.record_type == b.record_type && a.ttl == b.ttl &&
           a.set_identifier == b.set_identifier && a.properties == b.properties && a.targets == b.targets;
}

// Of the sets that one group makes, those of one name and type beside each other.
std::optional<std::string> clash_in(const Work& work) {
    std::map<std::pair<std::string, std::string>, std::vector<const RecordSet*>> by_name;
    for (const auto& change : work.changes) {
        if (change.action == SetChange::Action::create)
            by_name[{change.set.name, change.set.type}].push_back(&change.set);
    }
    for (const auto& [name, sets] : by_name) {
        if (auto clash = clash_of(sets)) return clash;
    }
    return std::nullopt;
}

Outcome::State state_of(const ApiError& error) {
    // Wrong keys are put right elsewhere: the change itself is as good as it was.
    const bool said = !error.code.empty() && error.error.field.empty();
    if (said && error.error.code == Errc::invalid) return Outcome::State::refused;
    return Outcome::State::unavailable;
}

}  // namespace

Result<RecordSet> Route53::set_of_present(const dns::Endpoint& endpoint) const {
    const auto known = foreign_.find({endpoint.dns_name, {endpoint.record_type, endpoint.set_identifier}});
    if (known != foreign_.end() && same_but_labels(known->second.first, endpoint)) return known->second.second;
    return record_set_of(endpoint, terms_);
}

Result<Work> Route53::work_of(const plan::ChangeGroup& group, std::size_t index) const {
    Work work;
    work.group = index;
    for (const auto* list : {&group.changes, &group.ownership}) {
        for (const auto& change : *list) {
            if (change.before) {
                auto set = set_of_present(*change.before);
                if (!set) return fail(set.error());
                work.names.insert(set->name);
                work.changes.push_back({SetChange::Action::remove, std::move(*set)});
            }
            if (change.after) {
                auto set = record_set_of(*change.after, terms_);
                if (!set) return fail(set.error());
                work.names.insert(set->name);
                work.changes.push_back({SetChange::Action::create, std::move(*set)});
            }
        }
    }
    if (auto clash = clash_in(work)) return fail(Errc::invalid, std::move(*clash));
    if (auto problem = too_large(work, limits); !problem.empty()) return fail(Errc::too_large, std::move(problem));
    return work;
}

ApiResult<ChangeInfo> Route53::change(const std::vector<const Work*>& works) {
    auto body = api_.call({.operation = "ChangeResourceRecordSets",
                           .metric = "apply",
                           .method = "POST",
                           .path = fmt::format("/2013-04-01/hostedzone/{}/rrset/", terms_.zone_id),
                           .query = {},
                           .body = change_batch_xml(in_order(works))});
    if (!body) return tl::unexpected(std::move(body.error()));
    auto info = parse_change_info(*body);
    if (!info) return tl::unexpected(ApiError{info.error(), {}, {}});
    return std::move(*info);
}

void Route53::send(std::vector<const Work*> works, std::vector<Outcome>& outcomes) {
    // What is still to be tried, each list as one batch. A refusal makes lists shorter, so this ends.
    std::vector<std::vector<const Work*>> open;
    open.push_back(std::move(works));
    for (std::size_t sends = 0; !open.empty();) {
        auto batch = std::move(open.back());
        open.pop_back();
        if (batch.empty()) continue;
        if (++sends > max_sends) {
            for (const auto* work : batch) {
                outcomes[work->group] = {Outcome::State::unavailable, {}, "too much was refused beside it"};
            }
            continue;
        }
        const auto info = change(batch);
        if (info) {
            for (const auto* work : batch) outcomes[work->group] = {Outcome::State::applied, info->id, {}};
            continue;
        }
        const auto& error = info.error();
        const auto state = state_of(error);
        if (state != Outcome::State::refused) {
            if (error.code == "NoSuchHostedZone") (void)told(error);
            for (const auto* work : batch) outcomes[work->group] = {state, {}, error.error.text()};
            // Nor will the others come through now.
            for (const auto& rest : open) {
                for (const auto* work : rest) outcomes[work->group] = {state, {}, error.error.text()};
            }
            return;
        }
        if (batch.size() == 1) {
            outcomes[batch.front()->group] =
                outcome_of(error.messages.empty() ? error.error.text() : join(error.messages, "; "));
            continue;
        }
        const auto guilty = blamed(batch, error.messages);
        if (guilty.empty()) {
            const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
            open.emplace_back(middle, batch.end());
            open.emplace_back(batch.begin(), middle);
            continue;
        }
        std::vector<const Work*> rest;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const auto said = guilty.find(i);
            if (said == guilty.end()) {
                rest.push_back(batch[i]);
            } else {
                outcomes[batch[i]->group] = outcome_of(said->second);
            }
        }
        open.push_back(std::move(rest));
    }
}

std::vector<Outcome> Route53::apply(std::span<const plan::ChangeGroup> groups) {
    std::vector<Outcome> outcomes(groups.size(), Outcome{Outcome::State::unavailable, {}, "was not tried"});
    if (auto found = find_zone(); !found) {
        for (auto& outcome : outcomes) outcome.message = found.error().text();
        return outcomes;
    }
    std::vector<Work> works;
    works.reserve(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        auto work = work_of(groups[i], i);
        if (!work) {
            outcomes[i] = {Outcome::State::refused, {}, work.error().text()};
        } else if (work->changes.empty()) {
            outcomes[i] = {Outcome::State::applied, {}, {}};
        } else {
            works.push_back(std::move(*work));
        }
    }
    std::stable_partition(works.begin(), works.end(), [&](const Work& work) { return !work.leans(terms_.zone_id); });
    for (const auto& batch : pack(works, limits)) {
        std::vector<const Work*> chosen;
        chosen.reserve(batch.size());
        for (const auto index : batch) chosen.push_back(&works[index]);
        const auto first = chosen.front()->group;
        send(std::move(chosen), outcomes);
        // Out of reach, or out of budget: the rest waits for the next round.
        if (outcomes[first].state == Outcome::State::unavailable) {
            for (auto& outcome : outcomes) {
                if (outcome.state == Outcome::State::unavailable) outcome.message = outcomes[first].message;
            }
            break;
        }
    }
    return outcomes;
}

}  // namespace fairlead::provider::route53
