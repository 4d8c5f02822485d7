// What has to be done at some names of a zone.
#include <fmt/core.h>

#include <algorithm>

#include "dns/name.h"
#include "dns/record_type.h"
#include "provider/flatten.h"
#include "publish/round.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {

namespace {

// What no provider takes, whatever it supports.
Result<dns::Endpoint> checked(dns::Endpoint endpoint, std::size_t index, const dns::Name& apex) {
    const auto field = [index](std::string_view member) { return fmt::format("spec.endpoints[{}].{}", index, member); };
    const auto name = dns::Name::parse(endpoint.dns_name);
    if (!name) return fail(Errc::invalid, field("dnsName"), name.error().text());
    if (!name->at_or_below(apex)) {
        return fail(Errc::invalid, field("dnsName"),
                    fmt::format("{} is not in the zone {}", name->host(), apex.host()));
    }
    if (endpoint.targets.empty())
        return fail(Errc::invalid, field("targets"), "is empty: a record set has at least one");
    const auto type = dns::type_of(endpoint, index);
    if (!type) return fail(type.error());
    endpoint.record_type = dns::type_text(*type);
    if (*type == dns::RecordType::soa || (*type == dns::RecordType::ns && *name == apex)) {
        return fail(Errc::invalid, field("recordType"),
                    fmt::format("{} of {} belongs to the zone", endpoint.record_type, apex.host()));
    }
    endpoint.dns_name = name->host();
    return endpoint;
}

dns::Claimant claimant_of(const RecordOrder& record, std::size_t endpoint) {
    dns::Claimant claimant;
    claimant.created = record.created;
    claimant.revision = record.revision;
    claimant.key = record.key;
    claimant.endpoint = endpoint;
    return claimant;
}

void append(plan::Plan& all, plan::Plan part, std::size_t offset) {
    for (auto& change : part.changes) {
        if (change.desired != plan::no_index) change.desired += offset;
        all.changes.push_back(std::move(change));
    }
    for (auto& skip : part.skipped) {
        if (skip.desired != plan::no_index) skip.desired += offset;
        all.skipped.push_back(std::move(skip));
    }
    all.owned += part.owned;
}

}  // namespace

void ZoneRunner::flatten_claims(std::vector<Claimed>& claims) const {
    std::vector<plan::Desired> wanted;
    wanted.reserve(claims.size());
    for (const auto& claim : claims) wanted.push_back(claim.desired);
    std::vector<Claimed> flat;
    for (auto& each : provider::flatten(wanted, supports_, order_.settings.default_ttl)) {
        Claimed claimed{std::move(each.desired), {}};
        for (const auto from : each.from) {
            const auto& origins = claims[from].origins;
            claimed.origins.insert(claimed.origins.end(), origins.begin(), origins.end());
        }
        flat.push_back(std::move(claimed));
    }
    claims = std::move(flat);
}

plan::Options ZoneRunner::options() const {
    plan::Options options;
    options.owner = order_.registry.owner;
    options.policy = order_.policy;
    options.managed_types = supports_.types;
    if (!order_.managed_types.empty()) {
        options.managed_types.clear();
        options.managed_types.insert(order_.managed_types.begin(), order_.managed_types.end());
    }
    options.filter = order_.filter;
    options.orders = order_.ownership;
    return options;
}

void ZoneRunner::add_wanted(const std::string& name, plan::Options& options, Round& round,
                            std::vector<plan::Desired>& desired) const {
    std::vector<Claimed> claims;
    for (const auto& origin : book_.wanted_at(name)) {
        const auto& record = book_.records().find(origin.record)->second.order;
        auto endpoint = checked(record.endpoints[origin.endpoint], origin.endpoint, order_.settings.apex);
        if (endpoint) {
            plan::set_label(*endpoint, plan::resource_label, "dnsrecord/" + record.key);
            claims.push_back({{std::move(*endpoint), claimant_of(record, origin.endpoint)}, {origin}});
        } else {
            round.unfit.emplace_back(origin, endpoint.error());
            options.unsure_names.insert(name);
        }
    }
    std::sort(claims.begin(), claims.end(),
              [](const Claimed& a, const Claimed& b) { return a.desired.source < b.desired.source; });
    if (order_.settings.policies == provider::PolicyHandling::flatten) flatten_claims(claims);
    for (const auto& claim : claims) {
        for (const auto& part : provider_->expand(claim.desired.endpoint)) {
            auto fit = provider_->canonicalise(part);
            if (!fit) {
                for (const auto& origin : claim.origins) round.unfit.emplace_back(origin, fit.error());
                options.unsure_names.insert(name);
                break;
            }
            // Labels are ours to keep, whatever a provider makes of the rest.
            fit->labels = claim.desired.endpoint.labels;
            desired.push_back({std::move(*fit), claim.desired.source});
            round.origins.push_back(claim.origins);
        }
    }
}

void ZoneRunner::plan_chunk(const std::vector<std::string>& names, const plan::Options& options, bool whole,
                            Round& round) const {
    auto read = registry_->read(book_.present_around(names, *registry_));
    const auto ours = [&](const std::string& name) {
        return std::binary_search(names.begin(), names.end(), plan::normal_name(name));
    };
    // Others were needed to tell whose a text is.
    std::erase_if(read.records, [&](const dns::Endpoint& endpoint) { return !ours(endpoint.dns_name); });
    auto here = options;
    std::vector<plan::Desired> desired;
    const auto offset = round.origins.size();
    for (const auto& name : names) add_wanted(name, here, round, desired);
    auto part = plan::plan(read.records, desired, here);
    if (whole && options.policy == plan::Policy::sync) {
        Names changed;
        for (const auto& change : part.changes) changed.insert(plan::normal_name(change.subject().dns_name));
        for (auto& group : registry_->repair(read)) {
            const auto name = plan::normal_name(group.name);
            if (ours(group.name) && !changed.contains(name)) round.repairs.push_back(std::move(group));
        }
    }
    append(round.plan, std::move(part), offset);
    std::move(read.problems.begin(), read.problems.end(), std::back_inserter(round.problems));
}

ZoneRunner::Round ZoneRunner::plan_names(const Names& names, bool whole, const plan::Options& options) const {
    Round round;
    round.whole = whole;
    std::vector<std::string> chunk;
    for (auto at = names.begin(); at != names.end();) {
        chunk.clear();
        while (at != names.end() && chunk.size() < limits_.chunk_names) chunk.push_back(*at++);
        plan_chunk(chunk, options, whole, round);
    }
    return round;
}

// By name, with the ownership records that have to land together. Left out is what cannot have any.
std::vector<plan::ChangeGroup> ZoneRunner::groups_of(const std::vector<plan::Change>& changes,
                                                     std::vector<plan::Skip>& left_out) const {
    std::vector<plan::ChangeGroup> groups;
    for (std::size_t from = 0; from < changes.size();) {
        std::vector<plan::Change> part;
        std::vector<std::string> names;
        std::size_t to = from;
        for (; to < changes.size(); ++to) {
            auto name = plan::normal_name(changes[to].subject().dns_name);
            if (names.empty() || names.back() != name) {
                if (names.size() == limits_.chunk_names) break;
                names.push_back(std::move(name));
            }
            part.push_back(changes[to]);
            auto& change = part.back();
            if (change.after && !change.after->ttl) {
                change.after->ttl = change.before ? change.before->ttl : order_.settings.default_ttl;
            }
        }
        std::sort(names.begin(), names.end());
        const auto read = registry_->read(book_.present_around(names, *registry_));
        auto completed = registry_->complete(part, read, &left_out);
        std::move(completed.begin(), completed.end(), std::back_inserter(groups));
        from = to;
    }
    return groups;
}

Preview ZoneRunner::preview(const std::vector<plan::OwnershipOrder>& orders, bool refresh) {
    Preview preview;
    preview.order = order_;
    if (!provider_ && !make_provider()) {
        preview.error = error_;
        return preview;
    }
    if (refresh || !read_) {
        if (!read_zone()) {
            preview.error = error_;
            return preview;
        }
        auto names = book_.all_names();
        book_.touched().merge(names);
    }
    auto wished = options();
    wished.orders.insert(wished.orders.end(), orders.begin(), orders.end());
    auto round = plan_names(book_.all_names(), true, wished);
    for (const auto& [origin, error] : round.unfit) {
        const auto& record = book_.records().find(origin.record)->second.order;
        round.plan.skipped.push_back({record.endpoints[origin.endpoint], "Unfit",
                                      fmt::format("DNSRecord {}: {}", origin.record, error.text()), plan::no_index});
    }
    const auto recent = recent_deletions(around_.clock.monotonic());
    const plan::GuardState state{round.plan.owned + recent, recent, book_.wanted() == 0, order_.source_problem,
                                 order_.approved};
    preview.guarded = plan::guard(std::move(round.plan), order_.guard, state);
    preview.groups = groups_of(preview.guarded.go.changes, preview.guarded.go.skipped);
    std::move(round.repairs.begin(), round.repairs.end(), std::back_inserter(preview.groups));
    preview.problems = std::move(round.problems);
    preview.failed.assign(problems_.begin(), problems_.end());
    preview.read_at = read_at_;
    preview.error = error_;
    return preview;
}

}  // namespace fairlead::publish
