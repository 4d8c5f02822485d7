// What has to be done at some names of a zone.
#include <fmt/core.h>

#include <algorithm>

#include "dns/name.h"
#include "dns/record_type.h"
#include "plan/owner_text.h"
#include "plan/reason.h"
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
    // Who may write a DNSRecord must not thereby say who owns what: such a text would make others' records ours.
    for (std::size_t i = 0; *type == dns::RecordType::txt && i < endpoint.targets.size(); ++i) {
        if (!plan::parse_owner_text(endpoint.targets[i], {})) continue;
        return fail(Errc::invalid, field(fmt::format("targets[{}]", i)),
                    "is an ownership text: those are written by the server alone");
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
    options.tell_foreign = false;  // a zone may hold many records of others that nobody here asks about
    return options;
}

// What is wanted at the name, in the form in which the provider will have it.
void ZoneRunner::prepare(const std::string& name) {
    std::vector<Prepared> claims, fits;
    std::vector<ZoneBook::Unfit> unfit;
    bool again = false;  // the provider had to ask somebody, who is not there
    for (const auto& origin : book_.wanted_at(name)) {
        const auto& record = origin.record->order;
        auto endpoint = checked(origin.stated(), origin.index(), order_.settings.apex);
        if (endpoint) {
            plan::set_label(*endpoint, plan::resource_label, "dnsrecord/" + record.key);
            claims.push_back({{std::move(*endpoint), claimant_of(record, origin.index())}, {origin}});
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
                again = again || fit.error().code == Errc::unavailable || fit.error().code == Errc::timeout;
                break;
            }
            // Labels are ours to keep, whatever a provider makes of the rest.
            fit->labels = claim.desired.endpoint.labels;
            fits.push_back({{std::move(*fit), claim.desired.source}, claim.origins});
        }
    }
    book_.set_prepared(name, std::move(fits), std::move(unfit));
    if (again) book_.prepare_again(name);
}

void ZoneRunner::prepare_all() {
    const auto names = book_.take_unprepared();
    // A provider that has to ask somebody how endpoints are spelt asks once for many.
    std::vector<dns::Endpoint> wanted;
    for (const auto& name : names) {
        for (const auto& origin : book_.wanted_at(name)) {
            auto endpoint = checked(origin.stated(), origin.index(), order_.settings.apex);
            if (!endpoint) continue;
            auto parts = provider_->expand(*endpoint);
            std::move(parts.begin(), parts.end(), std::back_inserter(wanted));
        }
    }
    provider_->prepare(wanted);
    for (const auto& name : names) prepare(name);
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

// A wish that cannot be expressed any more keeps what is there of it: it is not known whether that should go.
void ZoneRunner::add_unsure(std::span<const dns::Endpoint> records, const Names* names, plan::Options& options) const {
    if (book_.unfit().empty()) return;
    for (const auto& record : records) {
        const auto name = plan::normal_name(record.dns_name);
        const auto found = book_.unfit().find(name);
        if (found == book_.unfit().end() || (names != nullptr && !names->contains(name))) continue;
        for (const auto& unfit : found->second) {
            const auto& stated = unfit.origin.stated();
            const bool same_type = stated.record_type.empty() || stated.record_type == record.record_type;
            if (same_type && stated.set_identifier == record.set_identifier) options.unsure_names.insert(name);
        }
    }
}

// A record of ours is written only as long as its ownership says so: the text that the plan went by is part of what is
// compared, also where it stays as it is.
void ZoneRunner::add_checks(const Round& round, std::vector<plan::ChangeGroup>& groups) const {
    const auto& owner = order_.registry.owner;
    if (owner.empty()) return;
    std::map<std::string, plan::ChangeGroup*, std::less<>> changed;
    for (auto& group : groups) {
        const bool known = std::any_of(group.changes.begin(), group.changes.end(),
                                       [](const plan::Change& change) { return change.before.has_value(); });
        if (known) changed.emplace(plan::normal_name(group.name), &group);
    }
    if (changed.empty()) return;
    for (const auto& set : round.read.ownership()) {
        const bool ours = std::any_of(set.targets.begin(), set.targets.end(), [&](const std::string& target) {
            const auto text = plan::parse_owner_text(target, order_.registry.encryption_key);
            return text && text->owner == owner;
        });
        if (!ours) continue;
        for (const auto& subject : registry_->subjects(set)) {
            const auto found = changed.find(subject);
            if (found == changed.end()) continue;
            auto& ownership = found->second->ownership;
            const bool there = std::any_of(ownership.begin(), ownership.end(), [&](const plan::Change& change) {
                return change.before && change.before->dns_name == set.dns_name &&
                       change.before->set_identifier == set.set_identifier;
            });
            if (there) continue;
            plan::Change check;
            check.action = plan::Action::update;
            check.before = set;
            check.before->labels.clear();
            check.after = check.before;
            check.reason = "Checked";
            ownership.push_back(std::move(check));
        }
    }
}

ZoneRunner::Round ZoneRunner::plan_all(std::vector<dns::Endpoint> present, plan::Options options) const {
    Round round;
    round.whole = true;
    round.read = registry_->read(std::move(present));
    add_unsure(round.read.records(), nullptr, options);
    round.plan = plan::plan(round.read.records(), book_.desired(), options);
    finish_changes(round.plan.changes);
    return round;
}

ZoneRunner::Round ZoneRunner::plan_some(Names names, plan::Options options) const {
    Round round;
    const std::vector<std::string> list(names.begin(), names.end());
    round.names = std::move(names);
    round.read = registry_->read(book_.present.around(list, *registry_));
    // Others were needed to tell whose a text is.
    std::vector<dns::Endpoint> records;
    for (const auto& endpoint : round.read.records()) {
        if (round.names.contains(plan::normal_name(endpoint.dns_name))) records.push_back(endpoint);
    }
    std::vector<plan::Desired> desired;
    std::vector<std::size_t> indices;
    for (const auto& name : list) {
        for (const auto index : book_.desired_at(name)) {
            desired.push_back(book_.desired()[index]);
            indices.push_back(index);
        }
    }
    add_unsure(records, &round.names, options);
    round.plan = plan::plan(records, desired, options);
    finish_changes(round.plan.changes);
    for (auto& change : round.plan.changes) {
        if (change.desired != plan::no_index) change.desired = indices[change.desired];
    }
    for (auto& skip : round.plan.skipped) {
        if (skip.desired != plan::no_index) skip.desired = indices[skip.desired];
    }
    return round;
}

// What names no TTL keeps the one that is there; what only rests is no deletion.
void ZoneRunner::finish_changes(std::vector<plan::Change>& changes) const {
    for (auto& change : changes) {
        if (!change.after && book_.rests(*change.before)) {
            change.reason = plan::reason::unhealthy;
            change.message = "stays away while what it leads to is unhealthy";
        }
        if (!change.after || change.after->ttl) continue;
        change.after->ttl = change.before ? change.before->ttl : order_.settings.default_ttl;
    }
}

// By name, with the ownership records that have to land together. Left out is what cannot have any.
std::vector<plan::ChangeGroup> ZoneRunner::groups_of(const std::vector<plan::Change>& changes, const Round& round,
                                                     std::vector<plan::Skip>& left_out) const {
    if (changes.empty()) return {};
    auto groups = registry_->complete(changes, round.read, &left_out);
    add_checks(round, groups);
    return groups;
}

Preview ZoneRunner::preview(const std::vector<plan::OwnershipOrder>& orders, bool refresh) {
    Preview preview;
    preview.order = order_;
    preview.read_at = read_at_;
    if (!provider_) {
        if (auto opened = open_provider(); !opened) {
            preview.error = opened.error().text();
            return preview;
        }
    }
    std::vector<dns::Endpoint> present;
    refresh = refresh || !read_;
    if (refresh) {
        auto listing = provider_->list(std::nullopt);
        if (!listing) {
            preview.error = listing.error().text();
            return preview;
        }
        present = std::move(listing->endpoints);
        preview.read_at = around_.clock.now();
    } else {
        present = book_.present.all();
        preview.error = error_;
    }
    prepare_all();
    auto wished = options();
    wished.orders.insert(wished.orders.end(), orders.begin(), orders.end());
    auto round = plan_all(std::move(present), std::move(wished));
    add_repairs(round);
    // What was found now is not left until the next reading.
    if (refresh && orders.empty() && (!round.plan.empty() || !round.repairs.empty())) {
        must_read_ = true;
        retry_at_.reset();
    }
    for (const auto& [name, list] : book_.unfit()) {
        for (const auto& unfit : list) {
            round.plan.skipped.push_back(
                {unfit.origin.stated(), "Unfit",
                 fmt::format("DNSRecord {}: {}", unfit.origin.record->order.key, unfit.error.text()), plan::no_index});
        }
    }
    const auto state = guard_state(round.plan.owned);
    preview.guarded = plan::guard(std::move(round.plan), order_.guard, state);
    preview.groups = groups_of(preview.guarded.go.changes, round, preview.guarded.go.skipped);
    std::move(round.repairs.begin(), round.repairs.end(), std::back_inserter(preview.groups));
    preview.problems = round.read.problems();
    preview.failed.assign(notes_.problems().begin(), notes_.problems().end());
    return preview;
}

}  // namespace fairlead::publish
