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

}  // namespace

void ZoneRunner::flatten_claims(std::vector<Prepared>& claims) const {
    std::vector<plan::Desired> wanted;
    wanted.reserve(claims.size());
    for (const auto& claim : claims) wanted.push_back(claim.desired);
    std::vector<Prepared> flat;
    for (auto& each : provider::flatten(wanted, supports_, order_.settings.default_ttl)) {
        Prepared claimed{std::move(each.desired), {}};
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

// What is wanted at the name, in the form in which the provider will have it.
void ZoneRunner::prepare(const std::string& name) {
    std::vector<Prepared> claims, fits;
    std::vector<ZoneBook::Unfit> unfit;
    for (const auto& origin : book_.wanted_at(name)) {
        const auto& record = origin.record->order;
        auto endpoint = checked(origin.stated(), origin.endpoint, order_.settings.apex);
        if (endpoint) {
            plan::set_label(*endpoint, plan::resource_label, "dnsrecord/" + record.key);
            claims.push_back({{std::move(*endpoint), claimant_of(record, origin.endpoint)}, {origin}});
        } else {
            unfit.push_back({origin, endpoint.error()});
        }
    }
    std::sort(claims.begin(), claims.end(),
              [](const Prepared& a, const Prepared& b) { return a.desired.source < b.desired.source; });
    if (order_.settings.policies == provider::PolicyHandling::flatten) flatten_claims(claims);
    for (const auto& claim : claims) {
        for (const auto& part : provider_->expand(claim.desired.endpoint)) {
            auto fit = provider_->canonicalise(part);
            if (!fit) {
                for (const auto& origin : claim.origins) unfit.push_back({origin, fit.error()});
                break;
            }
            // Labels are ours to keep, whatever a provider makes of the rest.
            fit->labels = claim.desired.endpoint.labels;
            fits.push_back({{std::move(*fit), claim.desired.source}, claim.origins});
        }
    }
    book_.set_prepared(name, std::move(fits), std::move(unfit));
}

void ZoneRunner::prepare_all() {
    for (const auto& name : book_.take_unprepared()) prepare(name);
}

// Ownership records that need mending at names where nothing else changes.
void ZoneRunner::add_repairs(Round& round) const {
    if (order_.policy != plan::Policy::sync) return;
    Names changed;
    for (const auto& change : round.plan.changes) changed.insert(plan::normal_name(change.subject().dns_name));
    for (auto& group : registry_->repair(round.read)) {
        const auto name = plan::normal_name(group.name);
        if (round.looked_at(name) && !changed.contains(name)) round.repairs.push_back(std::move(group));
    }
}

ZoneRunner::Round ZoneRunner::plan_all(std::vector<dns::Endpoint> present, plan::Options options) const {
    Round round;
    round.whole = true;
    round.read = registry_->read(std::move(present));
    for (const auto& [name, unfit] : book_.unfit()) options.unsure_names.insert(name);
    round.plan = plan::plan(round.read.records, book_.desired(), options);
    add_repairs(round);
    return round;
}

ZoneRunner::Round ZoneRunner::plan_some(Names names, plan::Options options) const {
    Round round;
    const std::vector<std::string> list(names.begin(), names.end());
    round.names = std::move(names);
    round.read = registry_->read(book_.present.around(list, *registry_));
    // Others were needed to tell whose a text is.
    std::vector<dns::Endpoint> records;
    for (const auto& endpoint : round.read.records) {
        if (round.names.contains(plan::normal_name(endpoint.dns_name))) records.push_back(endpoint);
    }
    std::vector<plan::Desired> desired;
    std::vector<std::size_t> indices;
    for (const auto& name : list) {
        if (book_.unfit().contains(name)) options.unsure_names.insert(name);
        for (const auto index : book_.desired_at(name)) {
            desired.push_back(book_.desired()[index]);
            indices.push_back(index);
        }
    }
    round.plan = plan::plan(records, desired, options);
    for (auto& change : round.plan.changes) {
        if (change.desired != plan::no_index) change.desired = indices[change.desired];
    }
    for (auto& skip : round.plan.skipped) {
        if (skip.desired != plan::no_index) skip.desired = indices[skip.desired];
    }
    return round;
}

// By name, with the ownership records that have to land together. Left out is what cannot have any.
std::vector<plan::ChangeGroup> ZoneRunner::groups_of(std::vector<plan::Change> changes, const Round& round,
                                                     std::vector<plan::Skip>& left_out) const {
    if (changes.empty()) return {};
    for (auto& change : changes) {
        if (!change.after || change.after->ttl) continue;
        change.after->ttl = change.before ? change.before->ttl : order_.settings.default_ttl;
    }
    return registry_->complete(changes, round.read, &left_out);
}

Preview ZoneRunner::preview(const std::vector<plan::OwnershipOrder>& orders, bool refresh) {
    Preview preview;
    preview.order = order_;
    if (!provider_ && !make_provider()) {
        preview.error = error_;
        return preview;
    }
    if (refresh || !read_) {
        auto listing = read_zone();
        if (!listing) {
            preview.error = error_;
            return preview;
        }
        book_.present.assign(std::move(*listing), *registry_);
        replan_all_ = true;
    }
    prepare_all();
    auto wished = options();
    wished.orders.insert(wished.orders.end(), orders.begin(), orders.end());
    auto round = plan_all(book_.present.all(), std::move(wished));
    for (const auto& [name, list] : book_.unfit()) {
        for (const auto& unfit : list) {
            round.plan.skipped.push_back(
                {unfit.origin.stated(), "Unfit",
                 fmt::format("DNSRecord {}: {}", unfit.origin.record->order.key, unfit.error.text()), plan::no_index});
        }
    }
    const auto recent = recent_deletions(around_.clock.monotonic());
    const plan::GuardState state{round.plan.owned + recent, recent, book_.wanted() == 0, order_.source_problem,
                                 order_.approved};
    preview.guarded = plan::guard(std::move(round.plan), order_.guard, state);
    preview.groups = groups_of(preview.guarded.go.changes, round, preview.guarded.go.skipped);
    std::move(round.repairs.begin(), round.repairs.end(), std::back_inserter(preview.groups));
    preview.problems = std::move(round.read.problems);
    preview.failed.assign(problems_.begin(), problems_.end());
    preview.read_at = read_at_;
    preview.error = error_;
    return preview;
}

}  // namespace fairlead::publish
