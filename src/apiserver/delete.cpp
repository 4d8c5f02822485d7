// DELETE of one object and of a collection: preconditions, finalizers, propagation policies, dry run.
#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "apiserver/rest.h"
#include "base/text.h"

namespace fairlead::apiserver {

namespace {

constexpr int max_attempts = 64;  // each lost one means that somebody else's write to the object succeeded
constexpr std::string_view orphan_finalizer = "orphan";
constexpr std::string_view foreground_finalizer = "foregroundDeletion";

bool known_policy(std::string_view policy) {
    return policy == "Foreground" || policy == "Background" || policy == "Orphan";
}

// The finalizers that the object waits for once it is being deleted under this policy, as kube-apiserver derives them:
// an explicit policy replaces what earlier requests asked of the garbage collector, none keeps it.
std::vector<std::string> finalizers_for(const json::Value& object, const std::optional<std::string>& policy) {
    std::vector<std::string> list;
    bool orphan = false;
    bool foreground = false;
    if (const auto* value = json::find(object, "metadata.finalizers"); value && value->is_array()) {
        for (const auto& item : value->get_array()) {
            if (!item.is_string()) continue;
            const auto name = json::view(item.get_string());
            if (name == orphan_finalizer) {
                orphan = true;
            } else if (name == foreground_finalizer) {
                foreground = true;
            } else {
                list.emplace_back(name);
            }
        }
    }
    if (policy) {
        orphan = *policy == "Orphan";
        foreground = *policy == "Foreground";
    }
    if (orphan) list.emplace_back(orphan_finalizer);
    if (foreground) list.emplace_back(foreground_finalizer);
    return list;
}

// The members of DeleteOptions that came in the body.
struct FromBody {
    std::vector<std::string> dry_run;
    std::optional<std::string> propagation, uid, resource_version;
    std::optional<bool> orphan;
};

Outcome<FromBody> read_body(const Body& body) {
    FromBody options;
    // Some clients announce JSON and send nothing: their options are in the query.
    if (trim(body.bytes).empty()) return options;
    const auto format = body_format(body.content_type);
    if (!format) return refuse(format.error());
    const auto value = json::parse(body.bytes, json::max_sent_values);
    if (!value) return refuse(bad_request("couldn't get version/kind; json parse error: " + value.error().text()));
    if (!value->is_object()) return refuse(bad_request("the body must be DeleteOptions"));
    const auto kind = json::string_at(*value, "kind");
    if (!kind.empty() && kind != "DeleteOptions") {
        return refuse(bad_request(fmt::format("the body must be DeleteOptions, not {}", kind)));
    }
    const auto text = [&](std::string_view path) -> std::optional<std::string> {
        const auto* member = json::find(*value, path);
        if (!member || !member->is_string()) return std::nullopt;
        return std::string(json::view(member->get_string()));
    };
    options.propagation = text("propagationPolicy");
    options.uid = text("preconditions.uid");
    options.resource_version = text("preconditions.resourceVersion");
    if (const auto* orphan = json::find(*value, "orphanDependents"); orphan && orphan->is_bool()) {
        options.orphan = orphan->get_bool();
    }
    if (const auto* dry = json::find(*value, "dryRun"); dry && dry->is_array()) {
        for (const auto& item : dry->get_array()) {
            if (item.is_string()) options.dry_run.emplace_back(json::view(item.get_string()));
        }
    }
    return options;
}

}  // namespace

Outcome<Rest::DeleteOptions> Rest::delete_options(const QueryOptions& options, const Body& body) const {
    auto sent = read_body(body);
    if (!sent) return refuse(sent.error());
    DeleteOptions result;
    result.uid = sent->uid;
    result.resource_version = sent->resource_version;
    result.propagation = sent->propagation ? sent->propagation : options.propagation_policy;
    const auto orphan = sent->orphan ? sent->orphan : options.orphan_dependents;
    auto dry_run = sent->dry_run.empty() ? options.dry_run : sent->dry_run;
    resource::FieldErrors errors;
    for (const auto& value : dry_run) {
        if (value == "All") continue;
        errors.push_back({resource::Cause::not_supported, "dryRun",
                          fmt::format("Unsupported value: []string{{\"{}\"}}: supported values: \"All\"", value)});
        break;
    }
    if (result.propagation && !known_policy(*result.propagation)) {
        errors.push_back({resource::Cause::not_supported, "propagationPolicy",
                          fmt::format("Unsupported value: \"{}\": supported values: \"Foreground\", \"Background\", "
                                      "\"Orphan\", \"nil\"",
                                      *result.propagation)});
    }
    if (result.propagation && orphan) {
        errors.push_back(
            {resource::Cause::invalid, "propagationPolicy",
             fmt::format("Invalid value: \"{}\": orphanDependents and deletionPropagation cannot be both set",
                         *result.propagation)});
    }
    if (!errors.empty()) return refuse(invalid_options("DeleteOptions", errors));
    if (orphan) result.propagation = *orphan ? "Orphan" : "Background";
    result.dry_run = !dry_run.empty();
    return result;
}

Outcome<void> Rest::check_preconditions(const Target& target, const json::Value& object,
                                        const DeleteOptions& options) const {
    const auto uid = json::string_at(object, "metadata.uid");
    if (options.uid && *options.uid != uid) {
        return refuse(
            conflict(*target.kind, target.name,
                     fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). The "
                                 "object might have been deleted and then recreated",
                                 *options.uid, uid)));
    }
    const auto revision = json::string_at(object, "metadata.resourceVersion");
    if (options.resource_version && *options.resource_version != revision) {
        return refuse(conflict(*target.kind, target.name,
                               fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                                           "ResourceVersion in record ({}). The object might have been modified",
                                           *options.resource_version, revision)));
    }
    return {};
}

std::optional<json::Value> Rest::mark_deleted(const json::Value& object, const DeleteOptions& options) const {
    const auto finalizers = finalizers_for(object, options.propagation);
    if (being_deleted(object)) return object;
    if (finalizers.empty()) return std::nullopt;
    json::Value marked = object;
    auto& metadata = metadata_of(marked);
    json::Array list;
    for (const auto& name : finalizers) list.emplace_back(name);
    metadata["finalizers"] = std::move(list);
    metadata["deletionTimestamp"] = now_text();
    metadata["deletionGracePeriodSeconds"] = 0;
    metadata["generation"] = json::int_at(object, "metadata.generation").value_or(0) + 1;
    return marked;
}

Outcome<Reply> Rest::delete_object(const Target& target, const DeleteOptions& options) {
    const auto& kind = *target.kind;
    const auto key = store_key(kind, target.namespace_, target.name);
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        const auto current = existing(target);
        if (!current) return refuse(current.error());
        const auto object = parse_object(**current);
        if (!object) return refuse(object.error());
        if (auto ok = check_preconditions(target, *object, options); !ok) return refuse(ok.error());
        const auto expect = store::Expect::at((*current)->modified());
        const auto marked = mark_deleted(*object, options);
        Reply reply;
        if (!marked) {
            reply.content = Reply::Content::status;
            reply.body = success_json(kind, target.name, json::string_at(*object, "metadata.uid"));
            if (options.dry_run) return reply;
            const auto removed = store_.commit_and_wait({store::remove(key, expect, last_state(**current))});
            if (removed) return reply;
            if (removed.error().code != Errc::conflict && removed.error().code != Errc::not_found) {
                return refuse(from_error(removed.error()));
            }
            continue;
        }
        Change change{*marked, json::equal(*marked, *object), {}};
        QueryOptions write;
        if (options.dry_run) write.dry_run = {"All"};
        auto changed = commit_change(target, *current, std::move(change), write);
        if (!changed) return refuse(changed.error());
        if (*changed) return std::move(**changed);
    }
    return refuse(modified_meanwhile(kind, target.name));
}

Outcome<Reply> Rest::delete_collection(const Target& target, const QueryOptions& options, const Body& body) {
    const auto parsed = delete_options(options, body);
    if (!parsed) return refuse(parsed.error());
    const auto& kind = *target.kind;
    const auto filter = Filter::make(kind, target.namespace_, "", options);
    if (!filter) return refuse(filter.error());
    const auto snapshot = store_.snapshot(kind.table());
    if (!snapshot) return refuse(from_error(snapshot.error()));
    const auto limit = options.limit.value_or(0);
    std::vector<store::ObjectRef> victims;
    snapshot->scan(filter->prefix(), "", [&](const store::ObjectRef& object) {
        if (filter->matches(*object)) victims.push_back(object);
        return limit <= 0 || static_cast<std::int64_t>(victims.size()) < limit;
    });
    const auto prefix = type_prefix(kind);
    Reply reply;
    reply.content = Reply::Content::list;
    reply.body = fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"{}"}},"items":[)",
                             kind.name, kind.api_version(), snapshot->revision());
    bool first = true;
    for (const auto& victim : victims) {
        const auto slash = victim->name().find('/');
        Target one{&kind, "", std::string(victim->name()), ""};
        if (kind.scope == resource::Scope::namespaced && slash != std::string_view::npos) {
            one.namespace_ = victim->name().substr(0, slash);
            one.name = victim->name().substr(slash + 1);
        }
        auto removed = is_namespace(kind) ? delete_namespace(one, *parsed) : delete_object(one, *parsed);
        // Somebody else deleted it meanwhile: the collection is without it either way.
        if (!removed && removed.error().code == 404) continue;
        if (!removed) return refuse(removed.error());
        if (!std::exchange(first, false)) reply.body += ',';
        append_list_item(*victim, kind, prefix, reply.body);
    }
    reply.body += "]}";
    return reply;
}

}  // namespace fairlead::apiserver
