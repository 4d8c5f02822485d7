// PUT, and the second half of PATCH: what a submitted object makes of the stored one.
#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "apiserver/rest.h"

namespace fairlead::apiserver {

namespace {

constexpr int max_attempts = 16;  // of a write that names no resourceVersion; each lost one was somebody else's success

// Members of metadata that only the server writes.
constexpr std::string_view server_metadata[] = {"uid",
                                                "resourceVersion",
                                                "generation",
                                                "creationTimestamp",
                                                "deletionTimestamp",
                                                "deletionGracePeriodSeconds",
                                                "generateName",
                                                "namespace"};

void keep_server_metadata(const json::Value& old, json::Value& object) {
    auto& metadata = metadata_of(object);
    const auto* before = json::find(old, "metadata");
    metadata.erase("selfLink");
    for (const auto name : server_metadata) {
        const auto* value = before && before->is_object() ? before->get_object().if_contains(name) : nullptr;
        if (value) {
            metadata[name] = *value;
        } else {
            metadata.erase(name);
        }
    }
}

void copy_member(const json::Value& from, json::Value& to, std::string_view name) {
    const auto* value = from.get_object().if_contains(name);
    if (value) {
        to.get_object()[name] = *value;
    } else {
        json::erase_at(to, name);
    }
}

std::vector<std::string> finalizers_of(const json::Value& object) {
    std::vector<std::string> list;
    const auto* value = json::find(object, "metadata.finalizers");
    if (!value || !value->is_array()) return list;
    for (const auto& item : value->get_array()) {
        if (item.is_string()) list.emplace_back(json::view(item.get_string()));
    }
    return list;
}

bool differs_outside_metadata(const json::Value& a, const json::Value& b, bool status_counts) {
    const auto relevant = [status_counts](std::string_view name) {
        return name != "metadata" && (status_counts || name != "status");
    };
    const auto covers = [&](const json::Value& one, const json::Value& other) {
        for (const auto& [key, value] : one.get_object()) {
            const std::string_view name(key.data(), key.size());
            if (!relevant(name)) continue;
            const auto* match = other.get_object().if_contains(name);
            if (!match || !json::equal(value, *match)) return false;
        }
        return true;
    };
    return !covers(a, b) || !covers(b, a);
}

// What the client says about the status through the main resource is ignored, but a kind may refuse it out loud:
// members that it does not send count as unchanged.
json::Value with_claimed_status(const json::Value& old, const json::Value& submitted) {
    json::Value claimed = old;
    const auto* status = submitted.get_object().if_contains("status");
    if (!status || !status->is_object()) return claimed;
    auto& target = claimed.get_object()["status"];
    if (!target.is_object()) target.emplace_object();
    for (const auto& [name, value] : status->get_object()) target.get_object()[name] = value;
    return claimed;
}

Outcome<void> check_finalizers(const Target& target, const json::Value& old, const json::Value& object) {
    if (!being_deleted(old)) return {};
    const auto before = finalizers_of(old);
    std::string added;
    for (const auto& name : finalizers_of(object)) {
        if (std::find(before.begin(), before.end(), name) != before.end()) continue;
        added += fmt::format("{}\"{}\"", added.empty() ? "" : ", ", name);
    }
    if (added.empty()) return {};
    const resource::FieldErrors errors{
        {resource::Cause::forbidden, "metadata.finalizers",
         fmt::format("Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers "
                     "[]string{{{}}}",
                     added)}};
    return refuse(invalid(*target.kind, target.name, errors));
}

// The name, uid and resourceVersion that the client sent, against what is stored.
Outcome<void> check_sent_identity(const Target& target, const json::Value& old, const json::Value& submitted) {
    const auto name = json::string_at(submitted, "metadata.name");
    if (name != target.name) {
        return refuse(bad_request(
            name.empty() ? std::string("name must be provided")
                         : fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                                       target.name)));
    }
    const auto uid = json::string_at(submitted, "metadata.uid");
    const auto stored_uid = json::string_at(old, "metadata.uid");
    if (!uid.empty() && uid != stored_uid) {
        return refuse(conflict(
            *target.kind, target.name,
            fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, stored_uid)));
    }
    const auto revision = json::string_at(submitted, "metadata.resourceVersion");
    if (!revision.empty() && revision != json::string_at(old, "metadata.resourceVersion")) {
        return refuse(modified_meanwhile(*target.kind, target.name));
    }
    return {};
}

}  // namespace

Outcome<Rest::Change> Rest::prepare_update(const Target& target, const json::Value& old, json::Value submitted,
                                           const QueryOptions& options,
                                           std::optional<resource::ManagedFields> managed) const {
    const auto& kind = *target.kind;
    if (auto checked = check_identity(target, submitted); !checked) return refuse(checked.error());
    if (auto checked = check_sent_identity(target, old, submitted); !checked) return refuse(checked.error());
    Change change;
    if (target.subresource == "status") {
        change.object = old;
        copy_member(submitted, change.object, "status");
    } else if (target.subresource == "finalize") {
        change.object = old;
        const auto* finalizers = json::find(submitted, "spec.finalizers");
        json::set_at(change.object, "spec.finalizers", finalizers ? *finalizers : json::Value(json::Array()));
    } else {
        const bool refusable = kind.admit && kind.status_subresource && submitted.get_object().contains("status");
        if (refusable) {
            auto claimed = with_claimed_status(old, submitted);
            resource::FieldErrors errors;
            resource::Violations violations("", errors);
            kind.admit(claimed, &old, violations);
            if (!errors.empty()) return refuse(invalid(kind, target.name, errors));
        }
        change.object = std::move(submitted);
        keep_server_metadata(old, change.object);
        if (kind.status_subresource) copy_member(old, change.object, "status");
        // Who may let a namespace go is decided through /finalize alone.
        if (is_namespace(kind)) copy_member(old, change.object, "spec");
    }
    if (auto ok = admit(kind, change.object, &old, StatusOf::client, options, change.warnings); !ok) {
        return refuse(ok.error());
    }
    if (auto ok = check_finalizers(target, old, change.object); !ok) return refuse(ok.error());
    if (target.subresource.empty() && differs_outside_metadata(change.object, old, !kind.status_subresource)) {
        metadata_of(change.object)["generation"] = json::int_at(old, "metadata.generation").value_or(0) + 1;
    }
    settle_ownership(target, old, change, options, std::move(managed));
    return change;
}

Outcome<std::optional<Reply>> Rest::commit_change(const Target& target, const store::ObjectRef& current, Change change,
                                                  const QueryOptions& options) {
    const auto& kind = *target.kind;
    Reply reply;
    reply.warnings = std::move(change.warnings);
    if (change.unchanged) {
        reply.body = current->value();
        return reply;
    }
    if (auto allowed = guarded(kind, change.object, current, options); !allowed) return refuse(allowed.error());
    if (options.is_dry_run()) {
        reply.body = object_text(change.object, std::to_string(current->modified()));
        return reply;
    }
    const auto key = store_key(kind, target.namespace_, target.name);
    const auto expect = store::Expect::at(current->modified());
    const bool free = is_namespace(kind) ? nobody_holds(change.object) : finalizers_of(change.object).empty();
    const bool complete = free && being_deleted(change.object);
    std::vector<store::Op> ops;
    if (complete) {
        ops.push_back(store::remove(key, expect, stored_form(change.object)));
    } else {
        ops.push_back(store::put(key, expect, stored_form(change.object)));
    }
    const auto committed = store_.commit_and_wait(std::move(ops));
    if (!committed) {
        const auto code = committed.error().code;
        if (code == Errc::conflict || code == Errc::not_found || code == Errc::already_exists) return std::nullopt;
        return refuse(from_error(committed.error()));
    }
    reply.body = committed->objects.front()->value();
    return reply;
}

Outcome<Reply> Rest::update_object(const Target& target, const QueryOptions& options, const Body& body) {
    const auto& kind = *target.kind;
    if (auto checked = check_write_options(Writing::update, options); !checked) return refuse(checked.error());
    std::vector<std::string> warnings;
    auto submitted = decode(target, body, options, warnings);
    if (!submitted) return refuse(submitted.error());
    if (auto checked = check_identity(target, *submitted); !checked) return refuse(checked.error());
    const bool conditional = !json::string_at(*submitted, "metadata.resourceVersion").empty();
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        const auto current = existing(target);
        if (!current) return refuse(current.error());
        const auto old = parse_object(**current);
        if (!old) return refuse(old.error());
        if (!conditional && !kind.built_in) {
            const resource::FieldErrors errors{{resource::Cause::invalid, "metadata.resourceVersion",
                                                "Invalid value: 0x0: must be specified for an update"}};
            return refuse(invalid(kind, target.name, errors));
        }
        auto change = prepare_update(target, *old, *submitted, options);
        if (!change) return refuse(change.error());
        change->warnings.insert(change->warnings.begin(), warnings.begin(), warnings.end());
        auto reply = commit_change(target, *current, std::move(*change), options);
        if (!reply) return refuse(reply.error());
        if (*reply) return std::move(**reply);
        if (conditional) break;
    }
    return refuse(modified_meanwhile(kind, target.name));
}

}  // namespace fairlead::apiserver
