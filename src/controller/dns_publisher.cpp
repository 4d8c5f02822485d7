#include "controller/dns_publisher.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "control/conditions.h"
#include "controller/record_conditions.h"
#include "controller/status_json.h"
#include "resource/kinds/namespace.h"
#include "resource/kinds/secret.h"

namespace fairlead::controller {

namespace {

constexpr std::string_view namespace_prefix = "namespace|", zone_prefix = "zone|", record_prefix = "record|",
                           zone_news_prefix = "zone-news|", record_news_prefix = "record-news|";
constexpr std::size_t max_pending = 1'024;  // what waits beyond that waits at the publisher, which merges

std::string namespace_of(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }
std::string keyed(std::string_view prefix, std::string_view key) { return fmt::format("{}{}", prefix, key); }

// Nothing: there is none, or none that can be read.
template <class T>
std::optional<T> read(const store::ObjectRef& object) {
    auto found = object ? decoded<T>(object) : Result<T>(fail(Errc::not_found, "there is none"));
    if (!found) return std::nullopt;
    return std::move(*found);
}

std::optional<MappedZone> mapped(const store::ObjectRef& object) {
    const auto zone = read<resource::ManagedZone>(object);
    if (!zone) return std::nullopt;
    auto apex = dns::Name::parse(zone->spec.domain_name);
    if (!apex) return std::nullopt;
    MappedZone result;
    result.key = object->name();
    result.revision = object->created();
    result.apex = std::move(*apex);
    if (const auto made = from_rfc3339(zone->metadata.creation_timestamp)) {
        result.created = std::chrono::duration_cast<std::chrono::seconds>(made->time_since_epoch()).count();
    }
    result.builtin = is_builtin(zone->spec);
    return result;
}

publish::RecordOrder order_for(const store::Object& object, const resource::DnsRecord& record) {
    auto order = record_order(std::string(object.name()), record);
    order.revision = object.created();
    return order;
}

RecordOutcome outcome_of(const publish::RecordReport& report) {
    using State = publish::RecordReport::State;
    RecordOutcome outcome;
    outcome.planned = report.planned;
    outcome.applied = report.state == State::applied;
    outcome.skipped = report.skipped;
    outcome.reason = report.reason;
    outcome.message = report.message;
    outcome.provider = report.provider;
    outcome.change_id = report.change_id;
    outcome.in_sync = report.in_sync;
    outcome.unserved = report.unserved;
    outcome.generation = report.generation;
    return outcome;
}

resource::Condition zone_condition(const publish::ZoneReport& report, std::string type, bool yes, std::string reason,
                                   std::string message) {
    resource::Condition condition;
    condition.type = std::move(type);
    condition.status = yes ? "True" : "False";
    condition.reason = std::move(reason);
    condition.message = std::move(message);
    condition.observed_generation = report.generation;
    return condition;
}

resource::ZonePlanStatus plan_status(const publish::ZoneReport& report) {
    resource::ZonePlanStatus status;
    status.digest = report.held_digest;
    status.creates = static_cast<std::int64_t>(report.creates);
    status.updates = static_cast<std::int64_t>(report.updates);
    status.deletes = static_cast<std::int64_t>(report.deletes);
    status.skipped = static_cast<std::int64_t>(report.skipped);
    if (report.read_at) status.read_at = rfc3339(*report.read_at);
    if (report.applied_at) status.applied_at = rfc3339(*report.applied_at);
    return status;
}

}  // namespace

DnsPublisher::DnsPublisher(control::Context& context, publish::Publisher& publisher, DnsPublisherOptions options)
    : context_(context),
      publisher_(publisher),
      options_(std::move(options)),
      zones_(context.informer(resource::managed_zone_kind())),
      records_(context.informer(resource::dns_record_kind())),
      secrets_(context.informer(resource::secret_kind())),
      namespaces_(context.informer(resource::namespace_kind())) {
    zones_.add_handler([this](const auto& before, const auto& after) { zone_changed(before, after); });
    records_.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const auto& object = after ? after : before;
        const auto key = object->name();
        if (maps_.contains(namespace_of(key)) || bound_.contains(key)) context_.enqueue(keyed(record_prefix, key));
    });
    secrets_.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const auto& object = after ? after : before;
        const auto found = users_.find(object->name());
        if (found == users_.end()) return;
        for (const auto& zone : found->second) context_.enqueue(keyed(zone_prefix, zone));
    });
    context.add_source([this] { take_news(); });
    publisher_.on_news(context.waker());
}

DnsPublisher::~DnsPublisher() { publisher_.on_news({}); }

// Only what decides where records belong makes us place all of a namespace anew: our own status is no such thing.
void DnsPublisher::zone_changed(const store::ObjectRef& before, const store::ObjectRef& after) {
    const auto& object = after ? after : before;
    const auto key = object->name();
    if (mapped(before) != mapped(after)) {
        context_.enqueue(keyed(namespace_prefix, namespace_of(key)));
        // One of the same place may have waited for this one to go.
        for (const auto& zone : publisher_.zones()) context_.enqueue(keyed(zone_prefix, zone));
    }
    if (publisher_.has_zone(key)) context_.enqueue(keyed(zone_prefix, key));
}

void DnsPublisher::take_news() {
    for (auto& [key, report] : publisher_.take_zone_news()) {
        zone_news_.insert_or_assign(key, std::move(report));
        context_.enqueue(keyed(zone_news_prefix, key));
    }
    if (record_news_.size() >= max_pending) return;
    for (auto& news : publisher_.take_record_news(max_pending - record_news_.size())) {
        context_.enqueue(keyed(record_news_prefix, news.record));
        record_news_.insert_or_assign(news.record, std::move(news.report));
    }
}

Result<control::Again> DnsPublisher::reconcile(const control::Key& key) {
    const auto rest = key.substr(key.find('|') + 1);
    if (key.starts_with(namespace_prefix)) return place_namespace(rest);
    if (key.starts_with(zone_prefix)) return order_zone(rest);
    if (key.starts_with(record_prefix)) return place_record(rest);
    if (key.starts_with(zone_news_prefix)) return write_zone(rest);
    return write_record(rest);
}

std::string DnsPublisher::default_owner() const {
    if (!options_.publishing.default_owner.empty()) return options_.publishing.default_owner;
    // The namespace that every installation has from its first day, and only it.
    const auto object = namespaces_.get("default");
    const auto value = object ? json::parse(object->value()) : Result<json::Value>(json::Value());
    const std::string uid(value ? json::string_at(*value, "metadata.uid") : std::string_view());
    if (uid.empty()) return {};
    // The first part of a uid with a time is the same for all that were installed in one minute.
    const bool timed = uid.size() == 36 && uid[14] == '7';
    return fmt::format("fairlead-{}", timed ? uid.substr(24, 8) : uid.substr(0, 8));
}

std::optional<std::map<std::string, std::string>> DnsPublisher::secret(const std::string& key) const {
    const auto found = read<resource::Secret>(secrets_.get(key));
    if (!found) return std::nullopt;
    std::map<std::string, std::string> data;
    for (const auto& [name, value] : found->data) data.emplace(name, from_base64(value).value_or(std::string()));
    return data;
}

// Another ManagedZone that puts records of the same owner into the same place, and was there before: its key, or
// nothing.
std::string DnsPublisher::older_twin(const publish::ZoneOrder& order) {
    const auto mine = mapped(zones_.get(order.key));
    const auto place = destination(order);
    std::string twin;
    zones_.scan({}, {}, [&](const store::ObjectRef& object) {
        const auto other = mapped(object);
        if (!mine || !other || other->builtin || other->apex != mine->apex || other->key == mine->key) return true;
        if (std::tie(other->created, other->revision) > std::tie(mine->created, mine->revision)) return true;
        const auto their = plain_order_of(other->key);
        if (their && destination(*their) == place) twin = other->key;
        return twin.empty();
    });
    return twin;
}

std::optional<publish::ZoneOrder> DnsPublisher::order_of(const std::string& key) {
    auto order = plain_order_of(key);
    if (!order || !order->problem.empty()) return order;
    if (const auto twin = older_twin(*order); !twin.empty()) {
        order->problem = fmt::format(
            "spec.ownership.owner: \"{}\" keeps the same zone for ManagedZone {}, which is older: give each an owner "
            "of its own",
            order->registry.owner, twin);
    }
    return order;
}

std::optional<publish::ZoneOrder> DnsPublisher::plain_order_of(const std::string& key) {
    const auto zone = read<resource::ManagedZone>(zones_.get(key));
    if (!zone || is_builtin(zone->spec)) return std::nullopt;
    const auto prefix = namespace_of(key) + "/";
    for (const auto& name : secrets_of(zone->spec)) users_[prefix + name].insert(key);
    auto publishing = options_.publishing;
    publishing.default_owner = default_owner();
    const auto data = [&](std::string_view name) { return secret(prefix + std::string(name)); };
    return zone_order(key, *zone, data, publishing);
}

Result<control::Again> DnsPublisher::place_namespace(const std::string& name) {
    ZoneMap map;
    const auto prefix = name + "/";
    zones_.scan(prefix, prefix, [&](const store::ObjectRef& object) {
        if (auto zone = mapped(object)) map.add(std::move(*zone));
        return true;
    });
    const auto old = maps_.find(name);
    if (old != maps_.end()) {
        for (const auto& [key, zone] : old->second.zones()) {
            const auto* now = map.find(key);
            if (!zone.builtin && (now == nullptr || now->builtin)) publisher_.remove_zone(key);
        }
    }
    if (!map.any_outside() && old == maps_.end()) return Again::no();
    std::map<std::string, std::vector<publish::RecordOrder>> wanted;  // by zone
    records_.scan(prefix, prefix, [&](const store::ObjectRef& object) {
        const auto record = read<resource::DnsRecord>(object);
        const bool wanted_at_all = record && record->metadata.deletion_timestamp.empty();
        const auto* zone = wanted_at_all ? map.zone_of(record->spec) : nullptr;
        if (zone == nullptr || zone->builtin) return true;
        wanted[zone->key].push_back(order_for(*object, *record));
        return true;
    });
    // Whoever belongs elsewhere now goes from where it was, after it is known where it goes.
    std::vector<std::pair<std::string, std::string>> leaving;
    for (auto at = bound_.lower_bound(prefix); at != bound_.end() && at->first.starts_with(prefix); ++at) {
        leaving.emplace_back(at->first, at->second);
    }
    std::map<std::string, std::string> now;
    for (auto& [key, zone] : map.zones()) {
        if (zone.builtin) continue;
        auto& records = wanted[key];
        for (const auto& record : records) now.emplace(record.key, key);
        auto order = order_of(key);
        if (!order) continue;
        if (!publisher_.has_zone(key)) {
            publisher_.add_zone(std::move(*order), std::move(records));
            continue;
        }
        publisher_.set_zone(std::move(*order));
        for (auto& record : records) publisher_.put_record(key, std::move(record));
    }
    for (const auto& [record, zone] : leaving) {
        const auto found = now.find(record);
        if (found == now.end() || found->second != zone) publisher_.remove_record(zone, record);
        bound_.erase(record);
    }
    bound_.insert(now.begin(), now.end());
    if (map.any_outside()) {
        maps_.insert_or_assign(name, std::move(map));
    } else {
        maps_.erase(name);
    }
    return Again::no();
}

void DnsPublisher::unbind(const std::string& record) {
    const auto found = bound_.find(record);
    if (found == bound_.end()) return;
    publisher_.remove_record(found->second, record);
    bound_.erase(found);
}

control::Again DnsPublisher::place_record(const std::string& key) {
    const auto map = maps_.find(namespace_of(key));
    const auto object = records_.get(key);
    const auto record = map == maps_.end() ? std::nullopt : read<resource::DnsRecord>(object);
    // One that is being deleted is not wanted any more, whatever else waits for its end.
    const bool wanted = record && record->metadata.deletion_timestamp.empty();
    const auto* zone = wanted ? map->second.zone_of(record->spec) : nullptr;
    if (zone == nullptr || zone->builtin) {
        unbind(key);
        return Again::no();
    }
    const auto found = bound_.find(key);
    if (found != bound_.end() && found->second != zone->key) unbind(key);
    publisher_.put_record(zone->key, order_for(*object, *record));
    bound_.insert_or_assign(key, zone->key);
    return Again::no();
}

Result<control::Again> DnsPublisher::order_zone(const std::string& key) {
    auto order = order_of(key);
    if (order && publisher_.has_zone(key)) publisher_.set_zone(std::move(*order));
    return Again::no();
}

// An approval is for once: the same deletions on another day are asked about again.
Result<void> DnsPublisher::forget_approval(const std::string& key, const resource::ManagedZone& zone,
                                           const publish::ZoneReport& report) {
    const auto& annotations = zone.metadata.annotations;
    const auto found = annotations.find(std::string(approved_plan_annotation));
    const bool done =
        report.held_digest.empty() && report.deletes == 0 && report.read_at && report.reason != "Unavailable";
    if (found == annotations.end() || found->second.empty() || found->second != report.approved || !done) return {};
    json::Value patch{json::Object{}};
    json::Object named;
    named[approved_plan_annotation] = nullptr;
    json::set_at(patch, "metadata.annotations", std::move(named));
    const auto written = context_.client().merge_patch(control::object_id(zones_.kind(), key), std::move(patch));
    if (!written && written.error().code != Errc::not_found) return fail(written.error());
    return {};
}

Result<control::Again> DnsPublisher::write_zone(const std::string& key) {
    const auto news = zone_news_.find(key);
    if (news == zone_news_.end()) return Again::no();
    const auto report = news->second;
    const auto stored = zones_.get(key);
    auto zone = read<resource::ManagedZone>(stored);
    if (!zone || zone->metadata.generation != report.generation) {
        zone_news_.erase(news);  // gone, or another by now, about which there will be another report
        return Again::no();
    }
    if (auto forgotten = forget_approval(key, *zone, report); !forgotten) return fail(forgotten.error());
    const auto before = zone->status;
    auto& status = zone->status;
    const auto now = context_.clock().now();
    control::set_condition(status.conditions,
                           zone_condition(report, "Ready", report.ready, report.reason, report.message), now);
    const bool held = !report.held_digest.empty();
    control::set_condition(status.conditions,
                           zone_condition(report, "Held", held, held ? report.held_reason : "NothingHeld",
                                          held ? report.held_message : ""),
                           now);
    status.observed_generation = report.generation;
    status.id = report.id;
    status.owner = report.owner;
    status.name_servers = report.name_servers;
    const auto digest_before = before.plan ? before.plan->digest : std::string();
    const bool at_once = before.conditions != status.conditions || before.id != status.id ||
                         before.owner != status.owner || before.name_servers != status.name_servers ||
                         before.observed_generation != status.observed_generation ||
                         digest_before != report.held_digest;
    status.record_count = static_cast<std::int64_t>(report.owned);
    status.plan = plan_status(report);
    if (status == before) {
        zone_news_.erase(news);
        return Again::no();
    }
    const auto last = written_.find(key);
    const auto wait = last == written_.end() ? std::chrono::nanoseconds(0)
                                             : last->second + options_.figures_every - context_.clock().monotonic();
    if (!at_once && wait.count() > 0) return Again::in(wait);
    auto object = control::changed_object(*stored, *zone);
    if (!object) return fail(object.error());
    const auto reference = control::reference_to(*object);
    const auto written = context_.client().update_status(control::object_id(zones_.kind(), key), std::move(*object));
    if (!written && written.error().code != Errc::not_found) return fail(written.error());
    written_.insert_or_assign(key, context_.clock().monotonic());
    if (held && digest_before != report.held_digest) {
        context_.events().record(reference, control::EventType::warning, "DeletionsHeld", report.held_message);
    }
    const auto* was = control::find_condition(before.conditions, "Ready");
    if (!report.ready && !held && report.reason != "Pending" && (was == nullptr || was->reason != report.reason)) {
        context_.events().record(reference, control::EventType::warning, report.reason, report.message);
    }
    zone_news_.erase(key);
    return Again::no();
}

Result<control::Again> DnsPublisher::write_record(const std::string& key) {
    const auto news = record_news_.find(key);
    if (news == record_news_.end()) return Again::no();
    const auto report = news->second;
    const auto stored = records_.get(key);
    auto record = read<resource::DnsRecord>(stored);
    if (!record || record->metadata.generation != report.generation || !bound_.contains(key)) {
        record_news_.erase(news);
        return Again::no();
    }
    auto& status = record->status;
    const auto now = context_.clock().now();
    const auto* was = control::find_condition(status.conditions, "Ready");
    const bool said = was != nullptr && was->reason == report.reason && was->message == report.message;
    const bool different = set_record_conditions(status.conditions, outcome_of(report), now);
    if (!different && status.observed_generation == report.generation) {
        record_news_.erase(news);
        return Again::no();
    }
    status.observed_generation = report.generation;
    auto object = control::changed_object(*stored, *record);
    if (!object) return fail(object.error());
    const auto reference = control::reference_to(*object);
    const auto written = context_.client().update_status(control::object_id(records_.kind(), key), std::move(*object));
    if (!written && written.error().code != Errc::not_found) return fail(written.error());
    using State = publish::RecordReport::State;
    const bool bad = report.state == State::failed || report.state == State::skipped;
    if ((!said && bad) || report.reason == "Contested") {
        context_.events().record(reference, control::EventType::warning, report.reason, report.message);
    }
    record_news_.erase(key);
    return Again::no();
}

}  // namespace fairlead::controller
