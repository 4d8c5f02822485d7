#include "dnshook/record_shelf.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "base/text.h"
#include "dns/name.h"
#include "plan/endpoint_json.h"
#include "plan/plan.h"
#include "resource/kind.h"
#include "store/store.h"

namespace fairlead::dnshook {
namespace {

constexpr std::string_view group = "kuadrant.io";
constexpr std::string_view agent = "fairlead-webhook";
constexpr std::size_t max_slug_bytes = 40;
constexpr std::size_t digest_digits = 10;

bool same_set(const dns::Endpoint& a, const dns::Endpoint& b) {
    return a.record_type == b.record_type && a.set_identifier == b.set_identifier;
}

bool driven(const json::Value& object) {
    const auto* labels = json::find(object, "metadata.labels");
    if (labels == nullptr || !labels->is_object()) return false;
    const auto* label = labels->get_object().if_contains(driver_label);
    return label != nullptr && label->is_string() && json::view(label->get_string()) == driver_webhook;
}

Result<std::vector<dns::Endpoint>> endpoints_of(const json::Value& object) {
    const auto* list = json::find(object, "spec.endpoints");
    if (list == nullptr) return std::vector<dns::Endpoint>();
    return plan::endpoints_of_json(*list, "spec.endpoints");
}

const ShelfZone* zone_of(const std::vector<ShelfZone>& zones, std::string_view name) {
    const ShelfZone* best = nullptr;
    for (const auto& zone : zones) {
        const bool inside = name == zone.domain || (name.size() > zone.domain.size() && name.ends_with(zone.domain) &&
                                                    name[name.size() - zone.domain.size() - 1] == '.');
        if (inside && (best == nullptr || zone.domain.size() > best->domain.size())) best = &zone;
    }
    return best;
}

json::Value object_of(const resource::Kind& kind, const control::ObjectId& id, const ShelfZone& zone,
                      const std::string& name, const std::vector<dns::Endpoint>& endpoints) {
    json::Object labels;
    labels[driver_label] = driver_webhook;
    json::Value object = json::Object();
    json::set_at(object, "apiVersion", json::Value(kind.api_version()));
    json::set_at(object, "kind", json::Value(kind.name));
    json::set_at(object, "metadata.name", json::Value(id.name));
    json::set_at(object, "metadata.namespace", json::Value(id.namespace_));
    json::set_at(object, "metadata.labels", std::move(labels));
    json::set_at(object, "spec.dnsName", json::Value(name));
    json::set_at(object, "spec.managedZone.name", json::Value(zone.name));
    json::set_at(object, "spec.endpoints", plan::endpoints_json(endpoints));
    return object;
}

}  // namespace

// What a request does to one name.
struct RecordShelf::Edit {
    std::vector<dns::Endpoint> remove;
    std::vector<std::pair<std::optional<dns::Endpoint>, dns::Endpoint>> put;  // what it takes the place of, if any
};

RecordShelf::RecordShelf(const resource::Kinds& kinds, store::Store& store, control::Transport& transport,
                         const Clock& clock, ShelfOptions options)
    : records_(*kinds.find(group, "v1alpha1", "dnsrecords")),
      zones_(*kinds.find(group, "v1alpha1", "managedzones")),
      store_(store),
      client_(transport, std::string(agent), nullptr, clock),
      options_(std::move(options)) {
    for (auto& zone : options_.zones) zone = plan::normal_name(zone);
}

std::string shelf_object_name(std::string_view name) {
    std::string slug;
    for (const char c : name.substr(0, max_slug_bytes)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (plain || (!slug.empty() && slug.back() != '-')) slug += plain ? c : '-';
    }
    while (slug.ends_with('-')) slug.pop_back();
    return fmt::format("webhook-{}{}{}", slug, slug.empty() ? "" : "-", sha256_hex(name).substr(0, digest_digits));
}

Result<std::vector<ShelfZone>> RecordShelf::zones() const {
    const auto snapshot = store_.snapshot(zones_.table());
    if (!snapshot) return fail(snapshot.error());
    std::map<std::string, std::pair<store::Revision, ShelfZone>> found;
    snapshot->scan({}, {}, [&](const store::ObjectRef& ref) {
        const auto object = json::parse(ref->value());
        if (!object || json::find(*object, "metadata.deletionTimestamp") != nullptr) return true;
        const auto provider = json::string_at(*object, "spec.provider");
        if (!provider.empty() && provider != "builtin") return true;
        auto domain = plan::normal_name(json::string_at(*object, "spec.domainName"));
        const auto& offered = options_.zones;
        if (!offered.empty() && std::find(offered.begin(), offered.end(), domain) == offered.end()) return true;
        ShelfZone zone{domain, std::string(json::string_at(*object, "metadata.namespace")),
                       std::string(json::string_at(*object, "metadata.name"))};
        // Of two with one domain the older serves.
        const auto [at, made] = found.try_emplace(std::move(domain), ref->created(), zone);
        if (!made && ref->created() < at->second.first) at->second = {ref->created(), std::move(zone)};
        return true;
    });
    std::vector<ShelfZone> zones;
    zones.reserve(found.size());
    for (auto& [domain, zone] : found) zones.push_back(std::move(zone.second));
    return zones;
}

Result<std::vector<dns::Endpoint>> RecordShelf::list() const {
    const auto snapshot = store_.snapshot(records_.table());
    if (!snapshot) return fail(snapshot.error());
    std::map<std::string, std::vector<dns::Endpoint>> by_name;
    std::optional<Error> problem;
    snapshot->scan({}, {}, [&](const store::ObjectRef& ref) {
        // The label is rare among many records, and its text tells: most need no parsing.
        if (ref->value().find(driver_label) == std::string_view::npos) return true;
        const auto object = json::parse(ref->value());
        if (!object || !driven(*object)) return true;
        auto endpoints = endpoints_of(*object);
        if (!endpoints) {
            problem = Error{Errc::internal, std::string(ref->name()), endpoints.error().text()};
            return false;
        }
        auto& at = by_name[plan::normal_name(json::string_at(*object, "spec.dnsName"))];
        std::move(endpoints->begin(), endpoints->end(), std::back_inserter(at));
        return true;
    });
    if (problem) return fail(*problem);
    std::vector<dns::Endpoint> all;
    for (auto& [name, endpoints] : by_name) std::move(endpoints.begin(), endpoints.end(), std::back_inserter(all));
    return all;
}

RecordShelf::Edits RecordShelf::edits_of(const provider::webhook::Changes& changes) {
    Edits edits;
    for (const auto& endpoint : changes.remove) {
        edits[plan::normal_name(endpoint.dns_name)].remove.push_back(endpoint);
    }
    for (std::size_t i = 0; i < changes.update_old.size(); ++i) {
        const auto& old = changes.update_old[i];
        const auto& made = changes.update_new[i];
        const auto old_name = plan::normal_name(old.dns_name);
        const auto name = plan::normal_name(made.dns_name);
        if (old_name != name) edits[old_name].remove.push_back(old);
        edits[name].put.emplace_back(old_name == name ? std::optional(old) : std::nullopt, made);
    }
    for (const auto& endpoint : changes.create) {
        edits[plan::normal_name(endpoint.dns_name)].put.emplace_back(std::nullopt, endpoint);
    }
    return edits;
}

std::vector<dns::Endpoint> RecordShelf::edited(std::vector<dns::Endpoint> present, const Edit& edit) {
    for (const auto& gone : edit.remove) {
        std::erase_if(present, [&](const dns::Endpoint& each) { return same_set(each, gone); });
    }
    for (const auto& each_put : edit.put) {
        const auto& old = each_put.first;
        const auto& made = each_put.second;
        // Where the set was, so that an order which somebody relies on stays.
        auto at = std::find_if(present.begin(), present.end(), [&](const auto& each) { return same_set(each, made); });
        if (at == present.end() && old) {
            at = std::find_if(present.begin(), present.end(), [&](const auto& each) { return same_set(each, *old); });
        }
        if (at == present.end()) {
            present.push_back(made);
            continue;
        }
        *at = made;
        if (old && !same_set(*old, made)) {
            std::erase_if(present, [&](const dns::Endpoint& each) { return same_set(each, *old); });
        }
    }
    return present;
}

// True: done. False: somebody else changed it meanwhile.
Result<bool> RecordShelf::try_write(const control::ObjectId& id, const ShelfZone& zone, const std::string& name,
                                    const Edit& edit) {
    const auto done = [](const Result<json::Value>& written) -> Result<bool> {
        if (written) return true;
        const auto code = written.error().code;
        if (code == Errc::conflict || code == Errc::already_exists || code == Errc::not_found) return false;
        return fail(written.error());
    };
    const auto found = client_.get(id);
    if (!found && found.error().code != Errc::not_found) return fail(found.error());
    if (!found) {
        const auto wanted = edited({}, edit);
        if (wanted.empty()) return true;
        return done(client_.create({id.kind, id.namespace_, ""}, object_of(records_, id, zone, name, wanted)));
    }
    if (!driven(*found)) {
        return fail(Errc::conflict, id.text(),
                    fmt::format("is there and has not the label {}={}", driver_label, driver_webhook));
    }
    auto present = endpoints_of(*found);
    if (!present) return fail(present.error());
    const auto wanted = edited(*present, edit);
    if (wanted == *present) return true;
    if (wanted.empty()) {
        control::DeleteOptions options;
        options.resource_version = json::string_at(*found, "metadata.resourceVersion");
        return done(client_.remove(id, options));
    }
    auto changed = *found;
    json::set_at(changed, "spec.endpoints", plan::endpoints_json(wanted));
    return done(client_.update(id, std::move(changed)));
}

Result<void> RecordShelf::write(const std::string& name, const Edit& edit, const std::vector<ShelfZone>& zones) {
    const auto* zone = zone_of(zones, name);
    if (zone == nullptr) {
        if (edit.put.empty()) return {};  // nothing of it is here
        return fail(Errc::invalid, name, "is in no zone that this server offers");
    }
    const control::ObjectId id{&records_, zone->namespace_, shelf_object_name(name)};
    for (std::size_t tried = 0; tried < options_.tries; ++tried) {
        const auto done = try_write(id, *zone, name, edit);
        if (!done) return fail(Error{done.error().code, name, done.error().text()});
        if (*done) return {};
    }
    return fail(Errc::conflict, name, "is changed by somebody else again and again");
}

Result<void> RecordShelf::apply(const provider::webhook::Changes& changes) {
    const std::lock_guard lock(applying_);
    const auto zones = this->zones();
    if (!zones) return fail(zones.error());
    const auto edits = edits_of(changes);
    std::vector<Edits::const_iterator> work;
    work.reserve(edits.size());
    for (auto at = edits.begin(); at != edits.end(); ++at) work.push_back(at);
    std::vector<std::optional<Error>> errors(work.size());
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (auto i = next++; i < work.size(); i = next++) {
            auto written = write(work[i]->first, work[i]->second, *zones);
            if (!written) errors[i] = std::move(written.error());
        }
    };
    std::vector<std::thread> writers;
    if (work.size() >= options_.writers_from) {
        writers.reserve(options_.writers - 1);
        for (std::size_t i = 1; i < options_.writers; ++i) writers.emplace_back(run);
    }
    run();
    for (auto& writer : writers) writer.join();
    const auto failed =
        std::count_if(errors.begin(), errors.end(), [](const auto& error) { return error.has_value(); });
    if (failed == 0) return {};
    auto first = **std::find_if(errors.begin(), errors.end(), [](const auto& error) { return error.has_value(); });
    if (failed > 1) first.message += fmt::format("; {} more names failed", failed - 1);
    return fail(std::move(first));
}

}  // namespace fairlead::dnshook
