#include "controller/dns_sources.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "control/conditions.h"
#include "controller/owned_record.h"
#include "controller/record_conditions.h"
#include "controller/status_json.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/ingress.h"
#include "resource/kinds/service.h"

namespace fairlead::controller {

namespace {

constexpr std::string_view service_word = "service";
constexpr std::string_view ingress_word = "ingress";
constexpr std::size_t batch = 32;  // writes per turn; each waits for the disk
constexpr std::size_t max_name = 253;
constexpr std::size_t hash_digits = 10;
constexpr std::chrono::milliseconds behind_wait{5};
constexpr std::chrono::milliseconds gather_wait{20};
constexpr std::chrono::seconds trouble_wait{30};
constexpr std::string_view condition_types[] = {"Planned", "Applied", "Skipped"};

std::string_view word_of(const control::Key& key) { return std::string_view(key).substr(0, key.find('|')); }
std::string name_of(const control::Key& key) { return key.substr(key.find('|') + 1); }

// Cheap, for every change of every object: annotations of external-dns, or conditions that may be left of them.
bool interesting(const store::Object& object) {
    return source::may_concern(object.value()) || object.value().find("\"Planned\"") != std::string_view::npos;
}

control::Informer::KeysOf keys_with(std::string_view word) {
    return [word](const store::Object& object) {
        std::vector<std::string> keys;
        if (interesting(object)) keys.push_back(fmt::format("{}|{}", word, object.name()));
        return keys;
    };
}

resource::DnsEndpoint endpoint_of(const dns::Endpoint& set) {
    resource::DnsEndpoint made;
    made.dns_name = set.dns_name;
    made.record_type = set.record_type;
    made.set_identifier = set.set_identifier;
    made.record_ttl = set.ttl;
    made.targets = set.targets;
    made.provider_specific.reserve(set.properties.size());
    for (const auto& property : set.properties) made.provider_specific.push_back({property.name, property.value});
    for (const auto& label : set.labels) made.labels.emplace(label.key, label.value);
    return made;
}

}  // namespace

std::string source_record_name(std::string_view kind, std::string_view object, std::string_view host) {
    const auto hash = sha256_hex(fmt::format("{}\n{}\n{}", kind, object, host)).substr(0, hash_digits);
    auto begin = fmt::format("{}-{}", kind, object);
    const std::size_t room = max_name - hash_digits - 1;
    if (begin.size() > room) begin.resize(room);
    while (!begin.empty() && (begin.back() == '-' || begin.back() == '.')) begin.pop_back();
    return fmt::format("{}-{}", begin, hash);
}

std::vector<std::string> source_keys(const store::Object& record) {
    if (record.value().find(source_label) == std::string_view::npos) return {};
    const auto object = json::parse(record.value());
    if (!object) return {};
    const auto* labels = json::find(*object, "metadata.labels");
    if (labels == nullptr || !labels->is_object() || !labels->get_object().contains(source_label)) return {};
    const auto* owners = json::find(*object, "metadata.ownerReferences");
    if (owners == nullptr || !owners->is_array()) return {};
    const auto namespace_ = record.name().substr(0, record.name().find('/'));
    for (const auto& owner : owners->get_array()) {
        if (!json::bool_at(owner, "controller")) continue;
        const auto kind = json::string_at(owner, "kind");
        const auto word = kind == "Service" ? service_word : kind == "Ingress" ? ingress_word : std::string_view();
        if (!word.empty()) return {fmt::format("{}|{}/{}", word, namespace_, json::string_at(owner, "name"))};
    }
    return {};
}

DnsSources::DnsSources(control::Context& context, DnsSourcesOptions options)
    : context_(context),
      options_(options),
      services_(context.informer(resource::service_kind())),
      ingresses_(context.informer(resource::ingress_kind())),
      endpoints_(context.informer(resource::endpoints_kind())),
      records_(context.informer(resource::dns_record_kind())),
      owned_(records_.add_index(source_keys)) {
    context.watch(services_, keys_with(service_word));
    context.watch(ingresses_, keys_with(ingress_word));
    // An object with many names hears of them together: their conditions are written one after the other.
    records_.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        for (const auto& each : {before, after}) {
            if (!each) continue;
            for (const auto& key : source_keys(*each)) context_.enqueue_after(key, gather_wait);
        }
    });
    // Of a headless Service.
    context.watch(endpoints_, [this](const store::Object& object) {
        const auto service = services_.get(object.name());
        return service && source::may_concern(service->value())
                   ? std::vector<std::string>{fmt::format("{}|{}", service_word, object.name())}
                   : std::vector<std::string>{};
    });
}

control::Informer& DnsSources::informer_of(const control::Key& key) {
    return word_of(key) == service_word ? services_ : ingresses_;
}

Result<std::optional<DnsSources::Subject>> DnsSources::subject_of(const control::Key& key) {
    const auto stored = informer_of(key).get(name_of(key));
    if (!stored) return std::optional<Subject>();
    auto object = json::parse(stored->value());
    if (!object) return fail(object.error());
    Subject subject;
    subject.key = key;
    subject.kind = &informer_of(key).kind();
    if (word_of(key) == service_word) {
        auto service = resource::decode<resource::Service>(*object);
        if (!service) return fail(service.error());
        std::optional<resource::Endpoints> addresses;
        if (const auto found = endpoints_.get(stored->name())) {
            auto decoded_addresses = decoded<resource::Endpoints>(found);
            if (!decoded_addresses) return fail(decoded_addresses.error());
            addresses = std::move(*decoded_addresses);
        }
        subject.reading = source::read(*service, addresses ? &*addresses : nullptr);
        subject.metadata = std::move(service->metadata);
    } else {
        auto ingress = resource::decode<resource::Ingress>(*object);
        if (!ingress) return fail(ingress.error());
        subject.reading = source::read(*ingress);
        subject.metadata = std::move(ingress->metadata);
    }
    subject.object = std::move(*object);
    return subject;
}

Result<control::Again> DnsSources::reconcile(const control::Key& key) {
    auto subject = subject_of(key);
    if (!subject) return fail(subject.error());
    Records records;
    if (!*subject || !(*subject)->reading.concerned) {
        count(key, std::nullopt);
        unjudged_.erase(key);
        left_.erase(key);
        if (options_.notes != nullptr && word_of(key) == ingress_word) options_.notes->forget(name_of(key));
        if (auto removed = remove_records(key, records, records.writes); !removed) return fail(removed.error());
        if (records.writes >= batch) return Again::now();
        if (*subject) {
            if (auto forgotten = forget(**subject); !forgotten) return fail(forgotten.error());
        }
        return Again::no();
    }
    const auto& reading = (*subject)->reading;
    count(key, !reading.problems.empty()    ? State::invalid
               : !reading.endpoints.empty() ? State::published
                                            : State::waiting);
    // One that is on its way out makes no more records: whoever removes them first would never come to an end.
    if (!(*subject)->metadata.deletion_timestamp.empty()) return Again::no();
    if (reading.problems.empty()) {
        if (auto written = write_records(**subject, records); !written) return fail(written.error());
        // The rest in another turn, so that controllers share the thread fairly.
        if (records.writes >= batch) return Again::now();
        if (records.behind) return Again::in(behind_wait);
    }
    return tell(**subject, records);
}

// Of those that are ours, all but the wanted ones.
Result<void> DnsSources::remove_records(const control::Key& key, const Records& keep, std::size_t& writes) {
    const auto names = owned_.find(key);
    for (const auto& name : names) {
        if (keep.wanted.contains(name)) continue;
        if (writes >= batch) return {};
        const auto stored = records_.get(name);
        const auto record = stored ? decoded<resource::DnsRecord>(stored) : Result<resource::DnsRecord>({});
        if (!stored || !record || !record->metadata.deletion_timestamp.empty()) continue;
        control::DeleteOptions exactly;
        exactly.uid = record->metadata.uid;
        exactly.propagation = control::Propagation::background;
        ++writes;
        const auto removed = context_.client().remove(control::object_id(records_.kind(), name), exactly);
        written_.erase(name);
        // Gone, or another of the same name: the informer will say so.
        if (!removed && removed.error().code != Errc::not_found && removed.error().code != Errc::conflict)
            return fail(removed.error());
    }
    return {};
}

Result<void> DnsSources::write_records(const Subject& subject, Records& records) {
    const auto word = std::string(word_of(subject.key));
    for (const auto& set : subject.reading.endpoints) {
        const auto name = source_record_name(word, subject.metadata.name, set.dns_name);
        auto& record = records.wanted[fmt::format("{}/{}", subject.metadata.namespace_, name)];
        if (record.metadata.name.empty()) {
            record.metadata.name = name;
            record.metadata.namespace_ = subject.metadata.namespace_;
            record.metadata.labels.emplace(source_label, word);
            record.metadata.owner_references.push_back(controller_reference(*subject.kind, subject.metadata));
            record.spec.dns_name = set.dns_name;
        }
        record.spec.endpoints.push_back(endpoint_of(set));
    }
    if (auto removed = remove_records(subject.key, records, records.writes); !removed) return removed;
    for (const auto& [name, wanted] : records.wanted) {
        if (records.writes >= batch) return {};
        if (auto written = write_record(subject, name, wanted, records); !written) return written;
    }
    return {};
}

Result<void> DnsSources::write_record(const Subject& subject, const std::string& name,
                                      const resource::DnsRecord& wanted, Records& records) {
    const auto id = control::object_id(records_.kind(), name);
    const auto& host = wanted.spec.dns_name;
    const auto stored = records_.get(name);
    Result<json::Value> done;
    if (!stored) {
        ++records.writes;
        done = context_.client().create(id, control::new_object(records_.kind(), wanted));
        records.behind = true;
        if (!done && done.error().code == Errc::already_exists) return {};  // not in the informer yet
    } else {
        auto object = json::parse(stored->value());
        if (!object) return fail(object.error());
        const auto present = resource::decode<resource::DnsRecord>(*object);
        if (!present) return fail(present.error());
        if (!owned_.find(subject.key).contains(name)) {
            records.troubles.push_back(
                {host, "NameTaken", fmt::format("DNSRecord {} is there, and not ours: rename or remove it", name)});
            return {};
        }
        // On its way out; its end is news.
        if (!present->metadata.deletion_timestamp.empty() || same_record(*present, wanted)) return {};
        const auto before = written_.find(name);
        if (before != written_.end() && present->metadata.generation > before->second) {
            context_.events().normal(
                *object, "Restored",
                fmt::format("the spec follows {} {}: change that instead", subject.kind->name, name_of(subject.key)));
        }
        ++records.writes;
        done = context_.client().update(id, mended(std::move(*object), wanted));
        records.behind = true;
        // Changed or gone meanwhile: the informer will say so.
        if (!done && (done.error().code == Errc::conflict || done.error().code == Errc::not_found)) return {};
    }
    if (!done && done.error().code == Errc::invalid) {
        records.behind = false;
        records.troubles.push_back({host, "Refused", done.error().text()});
        return {};
    }
    if (!done) return fail(done.error());
    written_[name] = json::int_at(*done, "metadata.generation").value_or(0);
    return {};
}

std::vector<SourceRecord> DnsSources::records_of(const Subject& subject) const {
    std::vector<SourceRecord> list;
    for (const auto& name : owned_.find(subject.key)) {
        const auto stored = records_.get(name);
        if (!stored) continue;
        auto record = decoded<resource::DnsRecord>(stored);
        if (!record || !record->metadata.deletion_timestamp.empty()) continue;
        list.push_back({record->spec.dns_name, record->metadata.generation, std::move(record->status.conditions)});
    }
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.host < b.host; });
    return list;
}

Result<control::Again> DnsSources::tell(const Subject& subject, const Records& records) {
    SourceState state{subject.reading, records_of(subject), records.troubles, subject.metadata.generation};
    const bool judged =
        std::all_of(state.records.begin(), state.records.end(), [](const auto& each) { return each.judged(); });
    if (judged) {
        unjudged_.erase(subject.key);
    } else {
        const auto now = context_.clock().monotonic();
        const auto since = unjudged_.try_emplace(subject.key, now).first->second;
        const auto wait = since + options_.patience - now;
        if (wait.count() > 0 && subject.reading.problems.empty() && records.troubles.empty()) return Again::in(wait);
    }
    if (auto written = write_conditions(subject, source_conditions(state)); !written) return fail(written.error());
    // Whoever takes the name of a record away does not tell us.
    return records.troubles.empty() ? Again::no() : Again::in(trouble_wait);
}

bool DnsSources::leave_note(const Subject& subject, const std::vector<resource::Condition>& present,
                            const std::vector<resource::Condition>& wanted) {
    if (options_.notes == nullptr || word_of(subject.key) != ingress_word ||
        json::string_at(subject.object, "status.loadBalancerName").empty() || !same_but_generation(present, wanted)) {
        return false;
    }
    const auto now = context_.clock().monotonic();
    const auto due = left_.try_emplace(subject.key, now).first->second + options_.taken_within;
    if (now >= due) return false;
    options_.notes->leave(name_of(subject.key), subject.metadata.generation, wanted);
    context_.enqueue_after(subject.key, due - now);
    return true;
}

Result<void> DnsSources::write_conditions(const Subject& subject, std::vector<resource::Condition> wanted) {
    // Services and Ingresses have their conditions in the same place.
    auto status = status_of<resource::DnsRecordStatus>(subject.object);
    if (!status) return fail(status.error());
    auto list = status->conditions;
    bool different = false;
    std::vector<resource::Condition> news;
    for (const auto& each : wanted) {
        if (!set_record_condition(list, each, context_.clock().now())) continue;
        different = true;
        news.push_back(each);
    }
    if (different && leave_note(subject, status->conditions, wanted)) return {};
    left_.erase(subject.key);
    if (options_.notes != nullptr && word_of(subject.key) == ingress_word) options_.notes->forget(name_of(subject.key));
    if (!different) return {};
    auto object = subject.object;
    resource::DnsRecordStatus written;
    written.conditions = std::move(list);
    json::set_at(object, "status.conditions", *json::find(resource::encode(written), "conditions"));
    const auto done =
        context_.client().update_status(control::object_id(*subject.kind, name_of(subject.key)), std::move(object));
    // Gone or changed meanwhile: that is news of its own.
    if (!done && (done.error().code == Errc::not_found || done.error().code == Errc::conflict)) return {};
    if (!done) return fail(done.error());
    for (const auto& each : news) {
        if (each.type == "Skipped" && each.status == "True")
            context_.events().warning(subject.object, each.reason, each.message);
        if (each.type == "Planned" && each.status == "True" && !subject.reading.notes.empty())
            context_.events().normal(subject.object, "AnnotationNote", subject.reading.notes.front().text());
    }
    return {};
}

// It asks for nothing any more: what it was told about its names goes.
Result<void> DnsSources::forget(const Subject& subject) {
    auto object = subject.object;
    auto* list = json::find(object, "status.conditions");
    if (list == nullptr || !list->is_array()) return {};
    json::Array kept;
    for (const auto& each : list->get_array()) {
        const auto type = json::string_at(each, "type");
        if (std::find(std::begin(condition_types), std::end(condition_types), type) == std::end(condition_types))
            kept.push_back(each);
    }
    // Ours come all three together; some of these names alone are somebody else's.
    if (kept.size() + std::size(condition_types) != list->get_array().size()) return {};
    if (kept.empty()) {
        json::erase_at(object, "status.conditions");
    } else {
        *list = std::move(kept);
    }
    const auto done =
        context_.client().update_status(control::object_id(*subject.kind, name_of(subject.key)), std::move(object));
    if (!done && done.error().code != Errc::not_found && done.error().code != Errc::conflict) return fail(done.error());
    return {};
}

void DnsSources::count(const control::Key& key, std::optional<State> state) {
    const auto gauge = [&](State which) {
        const auto* text = which == State::published ? "published" : which == State::waiting ? "waiting" : "invalid";
        return context_.metrics().gauge("fairlead_dns_source_objects",
                                        "Services and Ingresses that ask for DNS names, by what has become of it.",
                                        {{"kind", std::string(word_of(key))}, {"state", text}});
    };
    const auto found = states_.find(key);
    if (found != states_.end()) {
        if (state == found->second) return;
        gauge(found->second).add(-1);
        states_.erase(found);
    }
    if (!state) return;
    gauge(*state).add(1);
    states_.emplace(key, *state);
}

}  // namespace fairlead::controller
