#include "controller/lrp_dns.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "control/conditions.h"
#include "controller/kept_record.h"
#include "controller/owned_record.h"
#include "controller/sky_records.h"
#include "controller/status_json.h"
#include "controller/zone_facts.h"
#include "gateway/zone_choice.h"
#include "lrp/read.h"
#include "resource/kinds/actual_lrp.h"
#include "resource/kinds/desired_lrp.h"
#include "resource/kinds/namespace.h"

namespace fairlead::controller {

namespace {

constexpr std::size_t batch = 64;       // keys per turn, written together
constexpr std::size_t max_owners = 16;  // of a record
constexpr std::size_t owner_digits = 8;
constexpr std::chrono::milliseconds gather_wait{50};
constexpr std::chrono::milliseconds catch_up_wait{10};
constexpr std::chrono::seconds retry_wait{1};
constexpr std::string_view name_word = "name|", lrp_word = "lrp|";

std::string namespace_of(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }
std::string name_of(std::string_view key) { return std::string(key.substr(key.find('/') + 1)); }

bool same_generation(const store::ObjectRef& before, const store::ObjectRef& after) {
    if (!before || !after) return false;
    const auto was = json::parse(before->value());
    const auto is = json::parse(after->value());
    return was && is && json::int_at(*was, "metadata.generation") == json::int_at(*is, "metadata.generation");
}

// Cheap, for every DesiredLRP: the provider as a member of its routes, or our condition that may be left of it.
bool may_concern(const store::Object& object) {
    return object.value().find("skydns") != std::string_view::npos ||
           object.value().find(sky_condition_type) != std::string_view::npos;
}

// "namespace/host" that one of our records is for.
std::vector<std::string> record_keys(const store::Object& stored) {
    if (stored.value().find(sky_label) == std::string_view::npos) return {};
    const auto record = json::parse(stored.value());
    const auto* labels = record ? json::find(*record, "metadata.labels") : nullptr;
    if (labels == nullptr || !labels->is_object() || !labels->get_object().contains(sky_label)) return {};
    return {fmt::format("{}/{}", namespace_of(stored.name()), lower(json::string_at(*record, "spec.dnsName")))};
}

}  // namespace

LrpDns::LrpDns(control::Context& context, LrpDnsOptions options)
    : context_(context),
      options_(options),
      desired_(context.informer(resource::desired_lrp_kind())),
      actual_(context.informer(resource::actual_lrp_kind())),
      records_(context.informer(resource::dns_record_kind())),
      namespaces_(context.informer(resource::namespace_kind())),
      zones_(context.view<resource::ManagedZone>(resource::managed_zone_kind())),
      zones_of_(zones_.add_index(
          [](const resource::ManagedZone& zone) { return std::vector<std::string>{zone.metadata.namespace_}; })),
      records_of_(records_.add_index(record_keys)),
      lrps_of_(desired_.add_index([](const store::Object& object) {
          return may_concern(object) ? std::vector<std::string>{namespace_of(object.name())}
                                     : std::vector<std::string>{};
      })),
      services_(context.metrics().gauge("fairlead_skydns_services",
                                        "Instances under names of the provider skydns, one for each port and name.")) {
    watch_lrps();
    watch_zones_and_records();
    context_.add_source([this] { poll(); });
    if (options_.etcd != nullptr) {
        etcd_ = options_.etcd->standing();
        options_.etcd->on_news(context_.waker());
    }
}

void LrpDns::watch_lrps() {
    desired_.add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { put_desired(before, after); });
    actual_.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (following_) put_actual(before, after);
    });
}

void LrpDns::watch_zones_and_records() {
    zones_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (same_generation(before, after)) return;
        const auto namespace_ = namespace_of((after ? after : before)->name());
        for (const auto& host : directory_.hosts(namespace_)) {
            for (std::string_view name = host; !name.empty(); name = skydns::above(name))
                want(fmt::format("{}{}/{}", name_word, namespace_, name));
        }
        // Names that have no service any more may have records in a zone that comes back.
        want_lrps_of(namespace_);
    });
    records_.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        for (const auto& each : {before, after}) {
            if (!each) continue;
            for (const auto& key : record_keys(*each)) {
                // What somebody changed is mended; what has become of it, those behind it are told.
                if (!same_generation(before, after)) want(fmt::format("{}{}", name_word, key));
                for (const auto& process : directory_.processes(namespace_of(key), name_of(key), max_owners)) {
                    const auto lrp = book_.desired(process);
                    if (lrp) want(fmt::format("{}{}/{}", lrp_word, process.scope, lrp->name));
                }
            }
        }
    });
}

void LrpDns::put_desired(const store::ObjectRef& before, const store::ObjectRef& after) {
    const auto concerned = [](const store::ObjectRef& object) { return object && may_concern(*object); };
    if (concerned(before) || concerned(after)) {
        want(fmt::format("{}{}", lrp_word, (after ? after : before)->name()));
        begin_following();
    }
    if (!following_) return;
    const auto read = [](const store::ObjectRef& object) -> Result<lrp::Desired> {
        auto value = json::parse(object->value());
        if (!value) return fail(value.error());
        return lrp::desired_of_object(*value);
    };
    auto news = after ? read(after) : Result<lrp::Desired>(fail(Errc::not_found, ""));
    if (before && !same_generation(before, after)) {
        // Another object of the same name, or one that a foreign hand made unreadable, ends the one before.
        auto old = read(before);
        if (old && (!news || news->uid != old->uid)) book_.erase(*old);
    }
    if (news) book_.put(std::move(*news));
}

void LrpDns::put_actual(const store::ObjectRef& before, const store::ObjectRef& after) {
    const auto read = [](const store::ObjectRef& object) -> Result<lrp::Actual> {
        auto value = json::parse(object->value());
        if (!value) return fail(value.error());
        return lrp::actual_of_object(*value);
    };
    auto news = after ? read(after) : Result<lrp::Actual>(fail(Errc::not_found, ""));
    if (before) {
        const auto same = [](const lrp::Actual& a, const lrp::Actual& b) {
            return a.process == b.process && a.index == b.index && a.evacuating == b.evacuating;
        };
        auto old = read(before);
        if (old && (!news || !same(*news, *old))) book_.erase(*old);
    }
    if (news) book_.put(*news);
}

void LrpDns::begin_following() {
    if (following_) return;
    following_ = true;
    const auto all = [](control::Informer& informer, const auto& put) {
        informer.scan({}, {}, [&](const store::ObjectRef& object) {
            put(object);
            return true;
        });
    };
    all(desired_, [this](const store::ObjectRef& object) { put_desired({}, object); });
    all(actual_, [this](const store::ObjectRef& object) { put_actual({}, object); });
}

void LrpDns::poll() {
    for (const auto& process : book_.take_touched()) refresh(process);
    if (options_.etcd != nullptr) tell_etcd();
}

void LrpDns::refresh(const lrp::ProcessKey& process) {
    const auto lrp = book_.desired(process);
    auto services = !lrp || lrp->routes.sky.empty()
                        ? std::vector<skydns::Service>()
                        : skydns::services_of(*lrp, [&](std::uint16_t port) { return book_.endpoints(process, port); });
    const auto changed = directory_.put(process, std::move(services));
    for (const auto& host : changed.hosts) {
        want(fmt::format("{}{}/{}", name_word, process.scope, host));
        for (auto name = skydns::above(host); !name.empty(); name = skydns::above(name)) {
            const auto key = fmt::format("{}{}/{}", name_word, process.scope, name);
            waiting_.add_later(key);
            context_.enqueue_after(key, gather_wait);
        }
    }
    services_.set(static_cast<double>(directory_.size()));
    if (options_.etcd != nullptr && !changed.hosts.empty()) options_.etcd->put(changed.gone, changed.come);
}

// The manager acts only when it has read everything, so what the first poll has put is all there is.
void LrpDns::tell_etcd() {
    // One id per store: whoever leads, and after every start, the same.
    if (const auto stored = named_to_etcd_ ? store::ObjectRef() : namespaces_.get("default")) {
        const auto object = json::parse(stored->value());
        const auto uid = object ? json::string_at(*object, "metadata.uid") : std::string_view();
        if (!uid.empty()) options_.etcd->complete(sha256_hex(uid).substr(0, owner_digits));
        named_to_etcd_ = !uid.empty();
    }
    auto standing = options_.etcd->standing();
    if (standing == etcd_) return;
    etcd_ = std::move(standing);
    desired_.scan({}, {}, [this](const store::ObjectRef& object) {
        if (may_concern(*object)) want(fmt::format("{}{}", lrp_word, object->name()));
        return true;
    });
}

void LrpDns::want(const control::Key& key) {
    waiting_.add(key);
    context_.enqueue(key);
}

void LrpDns::want_lrps_of(const std::string& namespace_) {
    for (const auto& name : lrps_of_.find(namespace_)) want(fmt::format("{}{}", lrp_word, name));
}

std::vector<const resource::ManagedZone*> LrpDns::zones_of(const std::string& namespace_) const {
    std::vector<const resource::ManagedZone*> zones;
    for (const auto& key : zones_of_.find(namespace_)) zones.push_back(zones_.get(key));
    return zones;
}

std::string LrpDns::zone_of(const std::string& namespace_, std::string_view host, bool is_host) const {
    const auto name = dns::Name::parse(host);
    const auto facts = zone_facts(zones_of(namespace_));
    const auto choice = name ? gateway::zone_of(*name, facts) : gateway::ZoneChoice{};
    // At its apex a zone has what its owner wants there, unless a process asks for that very name.
    if (choice.zone == nullptr || (!is_host && *name == choice.zone->apex)) return {};
    return choice.zone->name;
}

std::vector<resource::OwnerReference> LrpDns::owners_of(const std::string& namespace_, std::string_view name) const {
    std::vector<resource::OwnerReference> owners;
    const auto processes = directory_.processes(namespace_, name, max_owners + 1);
    if (processes.size() > max_owners) return owners;
    for (const auto& process : processes) {
        const auto lrp = book_.desired(process);
        if (!lrp) continue;
        resource::ObjectMeta metadata;
        metadata.name = lrp->name;
        metadata.uid = lrp->uid;
        auto owner = controller_reference(desired_.kind(), metadata);
        if (!owners.empty()) owner.controller = false;
        owners.push_back(std::move(owner));
    }
    return owners;
}

bool LrpDns::is_foreign(const std::string& key) const {
    const auto stored = records_.get(key);
    return stored && record_keys(*stored).empty();
}

Result<control::Again> LrpDns::reconcile(const control::Key& key) {
    std::vector<Writes> drafts;
    for (const auto& each : waiting_.take(key, batch)) {
        if (each != key) context_.taken_along(each);
        Writes writes{each, {}};
        const auto drafted = each.starts_with(name_word) ? draft_name(each.substr(name_word.size()), writes)
                                                         : draft_lrp(each.substr(lrp_word.size()), writes);
        if (!drafted) {
            context_.log().warn("cannot tell what a name of skydns comes to",
                                {{"key", each}, {"why", drafted.error().text()}});
            continue;
        }
        if (!writes.requests.empty()) drafts.push_back(std::move(writes));
    }
    if (auto written = write(std::move(drafts)); !written) return fail(written.error());
    return Again::no();
}

Result<void> LrpDns::draft_name(const std::string& name, Writes& writes) const {
    SkyName sky{namespace_of(name), name_of(name), {}};
    const bool is_host = !directory_.at(sky.namespace_, sky.name).empty();
    sky.zone = zone_of(sky.namespace_, sky.name, is_host);
    std::set<std::string> kept;
    if (!sky.zone.empty()) {
        const auto owners = owners_of(sky.namespace_, sky.name);
        for (auto& record : sky_records(directory_, sky)) {
            const auto key = fmt::format("{}/{}", record.metadata.namespace_, record.metadata.name);
            kept.insert(key);
            if (is_foreign(key)) continue;
            record.metadata.owner_references = owners;
            auto request = keeping(records_, record, Owners::exactly);
            if (!request) return fail(request.error());
            if (*request) writes.requests.push_back(std::move(**request));
        }
    }
    for (const auto& key : records_of_.find(name)) {
        if (kept.contains(key)) continue;
        if (auto request = removing(records_, key)) writes.requests.push_back(std::move(*request));
    }
    return {};
}

SkyHost LrpDns::host_facts(const std::string& namespace_, const std::string& host) const {
    SkyHost facts;
    facts.host = host;
    facts.too_long = !skydns::has_room_below(host);
    const auto zone = zone_of(namespace_, host, true);
    if (zone.empty()) return facts;
    facts.zone = fmt::format("{}/{}", namespace_, zone);
    for (const auto& key : records_of_.find(fmt::format("{}/{}", namespace_, host))) {
        const auto stored = records_.get(key);
        const auto record = stored ? decoded<resource::DnsRecord>(stored) : Result<resource::DnsRecord>({});
        if (!record) continue;
        const auto* ready = control::find_condition(record->status.conditions, "Ready");
        if (ready == nullptr || ready->status == "True") continue;
        facts.trouble = fmt::format("DNSRecord {}: {}: {}", key, ready->reason, ready->message);
        break;
    }
    return facts;
}

Result<void> LrpDns::draft_lrp(const std::string& name, Writes& writes) const {
    const auto stored = desired_.get(name);
    if (!stored) return {};
    auto object = json::parse(stored->value());
    if (!object) return fail(object.error());
    if (!json::string_at(*object, "metadata.deletionTimestamp").empty()) return {};
    const auto read = lrp::desired_of_object(*object);
    if (!read) return fail(read.error());
    auto status = status_of<resource::DesiredLrpStatus>(*object);
    if (!status) return fail(status.error());
    const auto namespace_ = namespace_of(name);
    using Keys = skydns::EtcdStanding::Keys;
    SkyFacts facts{.routes = read->routes,
                   .namespace_ = namespace_,
                   .hosts = {},
                   .etcd = options_.etcd != nullptr,
                   .etcd_problem = etcd_.keys == Keys::old ? std::optional(etcd_.why) : std::nullopt,
                   .generation = json::int_at(*object, "metadata.generation").value_or(0)};
    std::set<std::string> seen;
    for (const auto& route : read->routes.sky) {
        if (seen.insert(route.host).second) facts.hosts.push_back(host_facts(namespace_, route.host));
    }
    // After every start for a moment; what was said before holds until it is known better, and then comes here again.
    if (options_.etcd != nullptr && etcd_.keys == Keys::untried) return {};
    const auto wanted = sky_condition(facts);
    auto& conditions = status->conditions;
    const auto* present = control::find_condition(conditions, sky_condition_type);
    if (!wanted && present == nullptr) return {};
    if (!wanted) {
        std::erase_if(conditions, [](const auto& each) { return each.type == sky_condition_type; });
    } else {
        writes.mended = present != nullptr && present->status == "False" && wanted->status == "True";
        if (!control::set_condition(conditions, *wanted, context_.clock().now())) return {};
    }
    json::Array list;
    for (const auto& each : conditions) list.push_back(resource::encode(each));
    json::set_at(*object, "status.conditions", std::move(list));
    auto& request = writes.requests.emplace_back();
    request.verb = control::Verb::update;
    request.subresource = "status";
    request.object = control::object_id(desired_.kind(), name);
    request.body = std::move(*object);
    return {};
}

Result<void> LrpDns::write(std::vector<Writes> drafts) {
    std::vector<control::Request> requests;
    std::vector<const Writes*> about;
    for (auto& draft : drafts) {
        for (auto& request : draft.requests) {
            about.push_back(&draft);
            requests.push_back(std::move(request));
        }
    }
    if (requests.empty()) return {};
    const auto answers = context_.client().write_all(std::move(requests));
    for (std::size_t i = 0; i < answers.size(); ++i) conclude(*about[i], answers[i]);
    return {};
}

void LrpDns::conclude(const Writes& draft, const Result<json::Value>& done) {
    const auto& key = draft.key;
    if (done) {
        if (!key.starts_with(lrp_word)) return;
        const auto status = status_of<resource::DesiredLrpStatus>(*done);
        const auto* said = status ? control::find_condition(status->conditions, sky_condition_type) : nullptr;
        if (said == nullptr) return;
        if (said->status == "False") context_.events().warning(*done, said->reason, said->message);
        if (draft.mended) context_.events().normal(*done, said->reason, said->message);
        return;
    }
    const auto& error = done.error();
    if (error.code == Errc::not_found) return;
    const bool behind = is_overtaken(error);
    if (!behind) {
        context_.log().warn("cannot write what a name of skydns comes to", {{"key", key}, {"why", error.text()}});
    }
    waiting_.add_later(key);
    context_.enqueue_after(key,
                           behind ? std::chrono::nanoseconds(catch_up_wait) : std::chrono::nanoseconds(retry_wait));
}

}  // namespace fairlead::controller
