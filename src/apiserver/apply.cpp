// Server-side apply (PATCH with application/apply-patch+yaml), and the bookkeeping of managedFields for every write.
// The decisions are resource/managed_fields.h's; here are the refusals, the reads and the commits.
#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "apiserver/rest.h"
#include "base/text.h"
#include "json/duplicates.h"
#include "json/yaml.h"
#include "resource/typed_fields.h"

namespace fairlead::apiserver {

namespace {

constexpr int max_attempts = 5;                 // as kube-apiserver, for applies that name no resourceVersion
constexpr std::size_t max_manager_bytes = 128;  // as kube-apiserver
constexpr std::size_t max_shown_body_bytes = 256;
constexpr std::size_t max_shown_conflicts = 100;
// The manager of `kubectl apply --server-side`, which goes on where client-side apply left off.
constexpr std::string_view kubectl = "kubectl";

// Of a User-Agent: what can be shown. ASCII alone, since nobody promises that a header is UTF-8.
std::string manager_name(std::string_view agent) {
    std::string name;
    for (const char c : agent) {
        if (c >= ' ' && c <= '~' && name.size() < max_manager_bytes) name += c;
    }
    return name;
}

// "default/a; route.openshift.io/v1, Kind=Route": how Kubernetes names an applied object in errors.
std::string applied_name(const Target& target) {
    return fmt::format("{}{}; {}, Kind={}", target.namespace_.empty() ? "" : target.namespace_ + "/", target.name,
                       target.kind->api_version(), target.kind->name);
}

Outcome<json::Value> parse_config(std::string_view bytes, std::vector<std::string>& duplicates) {
    // JSON is YAML; read as JSON it is faster, and repeated members are told instead of refused.
    if (trim(bytes).starts_with('{')) {
        auto value = json::parse(bytes, json::max_sent_values, duplicates);
        if (value) return std::move(*value);
    }
    auto documents = json::parse_yaml(bytes);
    if (!documents) return refuse(bad_request("error decoding YAML: " + documents.error().text()));
    if (documents->size() != 1) {
        return refuse(bad_request(fmt::format(
            "error decoding YAML: the body holds {} documents, exactly one is expected", documents->size())));
    }
    return std::move(documents->front().value);
}

// As kube-apiserver words it; an answer must not grow with its question.
Status apply_conflict(const std::vector<resource::FieldConflict>& conflicts) {
    const bool one = conflicts.size() == 1;
    Status status{.code = 409, .reason = "Conflict", .message = {}, .details = StatusDetails{}, .continue_token = {}};
    auto& causes = status.details->causes;
    status.message = fmt::format("Apply failed with {} conflict{}: ", conflicts.size(), one ? "" : "s");
    const std::string* manager = nullptr;
    for (const auto& conflict : conflicts) {
        if (causes.size() == max_shown_conflicts) {
            status.message += fmt::format("\n- and {} more", conflicts.size() - max_shown_conflicts);
            break;
        }
        causes.push_back({"FieldManagerConflict", "conflict with " + conflict.manager, conflict.path});
        if (one) {
            status.message += fmt::format("conflict with {}: {}", conflict.manager, conflict.path);
            continue;
        }
        if (manager == nullptr || *manager != conflict.manager) {
            status.message += fmt::format("{}conflicts with {}:", manager == nullptr ? "" : "\n", conflict.manager);
            manager = &conflict.manager;
        }
        status.message += "\n- " + conflict.path;
    }
    return status;
}

// What client-side apply would compare with next time, kept in step if it is there.
void refresh_last_applied(json::Value& object, const json::Value& config) {
    auto* annotations = json::find(object, "metadata.annotations");
    if (annotations == nullptr || !annotations->is_object()) return;
    auto* text = annotations->get_object().if_contains(resource::last_applied_annotation);
    if (text == nullptr) return;
    json::Value kept = config;
    if (auto* sent = json::find(kept, "metadata.annotations"); sent != nullptr && sent->is_object()) {
        sent->get_object().stable_erase(resource::last_applied_annotation);
    }
    *text = json::serialize(kept) + "\n";
}

}  // namespace

resource::FieldWriter Rest::writer_of(const Target& target, const QueryOptions& options) const {
    return {options.field_manager.empty() ? manager_name(options.caller.agent) : options.field_manager,
            target.subresource, now_text()};
}

void Rest::settle_ownership(const Target& target, const json::Value& old, Change& change, const QueryOptions& options,
                            std::optional<resource::ManagedFields> managed) const {
    auto& metadata = metadata_of(change.object);
    const auto* stored = json::find(old, "metadata.managedFields");
    const auto* sent = metadata.if_contains("managedFields");
    const bool keeps = managed || !target.subresource.empty() || sent == nullptr;
    const json::Value wanted = keeps ? json::Value() : *sent;
    if (stored != nullptr) {
        metadata["managedFields"] = *stored;
    } else {
        metadata.erase("managedFields");
    }
    const bool same_object = json::equal(change.object, old);
    if (managed) {
        change.unchanged = same_object && resource::same_ownership(*managed, resource::managed_fields_of(old));
        if (!change.unchanged) resource::set_managed_fields(change.object, std::move(*managed));
        return;
    }
    change.unchanged = same_object && (keeps || (stored != nullptr && json::equal(wanted, *stored)));
    if (change.unchanged) return;
    resource::ManagedFields entries;
    if (keeps || !resource::is_reset(wanted)) {
        // What cannot be read, or says nothing, comes from a client that does not know what it is: as if not sent.
        if (!keeps) {
            auto decoded = resource::decode_managed_fields(wanted);
            if (decoded) entries = std::move(*decoded);
        }
        if (entries.empty()) entries = resource::managed_fields_of(old);
    }
    entries = resource::track_update(*target.kind, &old, change.object, std::move(entries), writer_of(target, options));
    resource::set_managed_fields(change.object, std::move(entries));
    change.unchanged = json::equal(change.object, old);
}

Outcome<json::Value> Rest::decode_config(const Target& target, const Body& body, const QueryOptions& options,
                                         std::vector<std::string>& warnings) const {
    const auto& kind = *target.kind;
    std::vector<std::string> duplicates;
    auto config = parse_config(body.bytes, duplicates);
    if (!config) return refuse(config.error());
    if (auto ok = check_strictly("duplicate", duplicates, options, warnings); !ok) return refuse(ok.error());
    if (!config->is_object()) return refuse(bad_request("error decoding YAML: the body must be an object"));
    if (json::string_at(*config, "kind").empty()) {
        return refuse(
            bad_request(fmt::format("Object 'Kind' is missing in '{}'", body.bytes.substr(0, max_shown_body_bytes))));
    }
    const auto version = json::string_at(*config, "apiVersion");
    if (version != kind.api_version()) {
        return refuse(bad_request(
            fmt::format("Incorrect version specified in apply patch. Specified patch version: {}, expected: {}",
                        version, kind.api_version())));
    }
    if (json::string_at(*config, "kind") != kind.name) {
        return refuse(bad_request(fmt::format("the kind in the data ({}) does not match the expected kind ({})",
                                              json::string_at(*config, "kind"), kind.name)));
    }
    if (auto checked = check_identity(target, *config); !checked) return refuse(checked.error());
    if (json::find(*config, "metadata.managedFields") != nullptr) {
        return refuse(bad_request("metadata.managedFields must be nil"));
    }
    const auto name = json::string_at(*config, "metadata.name");
    if (!name.empty() && name != target.name) {
        return refuse(bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, target.name)));
    }
    if (const auto problems = resource::untypable(*config, kind.schema); !problems.empty()) {
        return refuse(bad_request(fmt::format("failed to create typed patch object ({}): {}{}{}", applied_name(target),
                                              problems.size() > 1 ? "errors:\n  " : "", join(problems, "\n  "), "")));
    }
    return config;
}

Outcome<Reply> Rest::apply_as_new(const Target& target, const QueryOptions& options, const json::Value& config,
                                  std::vector<std::string> warnings) {
    const auto& kind = *target.kind;
    if (options_.guard) {
        auto allowed = options_.guard->may_create(kind, target.namespace_, target.name, options.caller.user);
        if (!allowed) return refuse(allowed.error());
    }
    if (json::string_at(config, "metadata.name").empty()) return refuse(bad_request("name must be provided"));
    if (const auto uid = json::string_at(config, "metadata.uid"); !uid.empty()) {
        return refuse(conflict(
            kind, target.name,
            fmt::format("uid mismatch: the provided object specified uid {}, and no existing object was found", uid)));
    }
    if (const auto revision = json::string_at(config, "metadata.resourceVersion"); !revision.empty()) {
        return refuse(conflict(kind, target.name,
                               fmt::format("the provided object specified resourceVersion {}, and no existing object "
                                           "was found",
                                           revision)));
    }
    auto applied = resource::apply_config(kind, nullptr, config, writer_of(target, options), {});
    if (!applied) return refuse(apply_conflict(applied.error()));
    return make_object(target, std::move(applied->object), options, std::move(warnings), std::move(applied->managed));
}

Outcome<std::optional<Reply>> Rest::apply_to(const Target& target, const QueryOptions& options,
                                             const json::Value& config, const store::ObjectRef& current,
                                             std::vector<std::string> warnings) {
    const auto& kind = *target.kind;
    const auto old = parse_object(*current);
    if (!old) return refuse(old.error());
    const bool is_kubectl = options.field_manager == kubectl && target.subresource.empty();
    resource::ApplyOptions how;
    how.force = options.force.value_or(false);
    if (is_kubectl) how.allowed = resource::last_applied_fields(kind, *old);
    auto applied = resource::apply_config(kind, &*old, config, writer_of(target, options), how);
    if (!applied) return refuse(apply_conflict(applied.error()));
    // What the client knows about the object is a precondition, also where nothing else changes.
    for (const auto* member : {"uid", "resourceVersion"}) {
        const auto* sent = config.at("metadata").as_object().if_contains(member);
        if (sent != nullptr) metadata_of(applied->object)[member] = *sent;
    }
    if (is_kubectl) refresh_last_applied(applied->object, config);
    auto change = prepare_update(target, *old, std::move(applied->object), options, std::move(applied->managed));
    if (!change) return refuse(change.error());
    change->warnings.insert(change->warnings.begin(), warnings.begin(), warnings.end());
    return commit_change(target, current, std::move(*change), options);
}

Outcome<Reply> Rest::apply_object(const Target& target, const QueryOptions& options, const Body& body) {
    const auto& kind = *target.kind;
    if (auto checked = check_write_options(Writing::apply, options); !checked) return refuse(checked.error());
    std::vector<std::string> warnings;
    auto config = decode_config(target, body, options, warnings);
    if (!config) return refuse(config.error());
    metadata_of(*config);
    // Nothing of such a kind is kept, so there is never anything to merge with.
    if (kind.create_only) return apply_as_new(target, options, *config, std::move(warnings));
    for (int attempt = 0; attempt <= max_attempts; ++attempt) {
        const auto current = store_.get(store_key(kind, target.namespace_, target.name));
        if (!current) return refuse(from_error(current.error()));
        if (!*current) {
            if (!target.subresource.empty()) return refuse(not_found(kind, target.name));
            auto made = apply_as_new(target, options, *config, warnings);
            if (made || made.error().reason != "AlreadyExists") return made;
            continue;
        }
        auto reply = apply_to(target, options, *config, *current, warnings);
        if (!reply) return refuse(reply.error());
        if (*reply) return std::move(**reply);
    }
    return refuse(modified_meanwhile(kind, target.name));
}

}  // namespace fairlead::apiserver
