// Namespaces: made at start, marked when they are deleted. Their content is removed, and they themselves let go, by a
// controller (src/controller/namespace_lifecycle) through the subresource `finalize`.
//
// Why a terminating namespace cannot gain content: every create checks, in its own commit, that the namespace is still
// at the revision where it was seen alive; marking it terminating changes that revision.
#include <fmt/core.h>

#include <algorithm>

#include "apiserver/object_bytes.h"
#include "apiserver/rest.h"

namespace fairlead::apiserver {

namespace {

// "default" is everybody's, from the start; "kube-system" is made by the first election, for the controllers' lease.
constexpr std::string_view immortal_namespaces[] = {"default", "kube-system"};
constexpr int max_attempts = 64;

bool empty_list(const json::Value& object, std::string_view path) {
    const auto* value = json::find(object, path);
    return !value || !value->is_array() || value->get_array().empty();
}

}  // namespace

bool Rest::nobody_holds(const json::Value& ns) {
    return empty_list(ns, "metadata.finalizers") && empty_list(ns, "spec.finalizers");
}

Result<void> Rest::prepare() {
    if (!namespaces_) return {};
    const std::string_view name = immortal_namespaces[0];
    const auto present = store_.get(store_key(*namespaces_, "", name));
    if (!present) return fail(present.error());
    if (*present) return {};
    const Target target{namespaces_, "", "", ""};
    const std::string body =
        fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", name);
    const auto reply = create(target, {}, {body, "application/json"});
    if (reply.code != 201 && reply.code != 409) {
        return fail(Errc::internal, fmt::format("cannot create the namespace \"{}\": {}", name, reply.body));
    }
    return {};
}

Outcome<Reply> Rest::delete_namespace(const Target& target, const DeleteOptions& options) {
    if (std::find(std::begin(immortal_namespaces), std::end(immortal_namespaces), target.name) !=
        std::end(immortal_namespaces)) {
        return refuse(forbidden(*namespaces_, target.name, "this namespace may not be deleted"));
    }
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        const auto current = existing(target);
        if (!current) return refuse(current.error());
        const auto object = parse_object(**current);
        if (!object) return refuse(object.error());
        if (auto ok = check_preconditions(target, *object, options); !ok) return refuse(ok.error());
        Change change{*object, being_deleted(*object) && !nobody_holds(*object), {}};
        if (!being_deleted(*object)) {
            auto& metadata = metadata_of(change.object);
            metadata["deletionTimestamp"] = now_text();
            metadata["deletionGracePeriodSeconds"] = 0;
            metadata["generation"] = json::int_at(*object, "metadata.generation").value_or(0) + 1;
            json::set_at(change.object, "status.phase", "Terminating");
        }
        QueryOptions write;
        if (options.dry_run) write.dry_run = {"All"};
        auto changed = commit_change(target, *current, std::move(change), write);
        if (!changed) return refuse(changed.error());
        if (*changed) return std::move(**changed);
    }
    return refuse(modified_meanwhile(*namespaces_, target.name));
}

}  // namespace fairlead::apiserver
