// PATCH: merge patch, JSON patch, and strategic merge for the kinds of Kubernetes itself.
#include "json/patch.h"

#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "apiserver/rest.h"
#include "json/duplicates.h"
#include "resource/strategic_merge.h"

namespace fairlead::apiserver {

namespace {

constexpr int max_attempts = 5;  // as kube-apiserver, for patches that name no resourceVersion

enum class PatchType { merge, json, strategic };

Outcome<PatchType> patch_type(std::string_view content_type, const resource::Kind& kind) {
    const auto type = media_type(content_type);
    if (type == "application/merge-patch+json") return PatchType::merge;
    if (type == "application/json-patch+json") return PatchType::json;
    std::vector<std::string> accepted = {"application/json-patch+json", "application/merge-patch+json"};
    if (kind.built_in) {
        if (type == "application/strategic-merge-patch+json") return PatchType::strategic;
        accepted.emplace_back("application/strategic-merge-patch+json");
    }
    accepted.emplace_back(apply_patch_type);
    return refuse(unsupported_media_type(accepted));
}

Outcome<json::Value> apply(PatchType type, const Target& target, json::Value object, const json::Value& patch) {
    switch (type) {
        case PatchType::merge:
            json::merge_patch(object, patch);
            return object;
        case PatchType::json: {
            auto patched = json::json_patch(std::move(object), patch);
            if (patched) return std::move(*patched);
            if (patched.error().code == Errc::too_large) {
                return refuse(request_too_large(patched.error().text()));
            }
            if (patched.error().code == Errc::conflict) return refuse(rejected_patch(patched.error()));
            return refuse(bad_request("error decoding patch: " + patched.error().text()));
        }
        case PatchType::strategic: {
            auto patched = resource::strategic_merge(std::move(object), patch, target.kind->schema);
            if (patched) return std::move(*patched);
            return refuse(bad_request("error applying patch: " + patched.error().text()));
        }
    }
    return refuse(internal_error("unknown patch type"));
}

}  // namespace

Outcome<Reply> Rest::patch_object(const Target& target, const QueryOptions& options, const Body& body) {
    const auto& kind = *target.kind;
    // Server-side apply is its own verb under the name of PATCH.
    if (media_type(body.content_type) == apply_patch_type) return apply_object(target, options, body);
    // Nothing of such a kind is kept, so there is nothing that any other patch could change.
    if (kind.create_only) return refuse(unsupported_media_type({std::string(apply_patch_type)}));
    const auto type = patch_type(body.content_type, kind);
    if (!type) return refuse(type.error());
    if (auto checked = check_write_options(Writing::patch, options); !checked) return refuse(checked.error());
    std::vector<std::string> duplicates;
    const auto patch = json::parse(body.bytes, json::max_sent_values, duplicates);
    if (!patch) return refuse(bad_request("error decoding patch: " + patch.error().text()));
    std::vector<std::string> warnings;
    if (auto ok = check_strictly("duplicate", duplicates, options, warnings); !ok) return refuse(ok.error());
    if (*type != PatchType::json && !patch->is_object()) {
        return refuse(bad_request("error decoding patch: the patch must be an object"));
    }
    if (*type == PatchType::json && !patch->is_array()) {
        return refuse(bad_request("error decoding patch: the patch must be a list of operations"));
    }
    for (int attempt = 0; attempt <= max_attempts; ++attempt) {
        const auto current = existing(target);
        if (!current) return refuse(current.error());
        const auto old = parse_object(**current);
        if (!old) return refuse(old.error());
        auto patched = apply(*type, target, *old, *patch);
        if (!patched) return refuse(patched.error());
        // A patch that leaves resourceVersion alone carries the stored one; any other is a precondition that fails.
        auto change = prepare_update(target, *old, std::move(*patched), options);
        if (!change) return refuse(change.error());
        change->warnings.insert(change->warnings.begin(), warnings.begin(), warnings.end());
        auto reply = commit_change(target, *current, std::move(*change), options);
        if (!reply) return refuse(reply.error());
        if (*reply) return std::move(**reply);
        // A merge patch that named the stored resourceVersion meets another one on the next turn and is refused there.
    }
    return refuse(modified_meanwhile(kind, target.name));
}

}  // namespace fairlead::apiserver
