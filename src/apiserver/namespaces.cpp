// The life cycle of namespaces: made at start, terminated with their content, gone when nothing is left in them.
//
// Why a terminating namespace cannot gain content: every create checks, in its own commit, that the namespace is still
// at the revision where it was seen alive; marking it terminating changes that revision.
#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "apiserver/rest.h"

namespace fairlead::apiserver {

namespace {

constexpr std::string_view immortal_namespace = "default";
constexpr std::string_view own_finalizer = "kubernetes";
constexpr std::size_t removal_batch = 256;  // objects per commit: bounds how long other writers wait behind it
constexpr int max_attempts = 64;

bool list_empty_but(const json::Value& object, std::string_view path, std::string_view allowed) {
    const auto* value = json::find(object, path);
    if (!value || !value->is_array()) return true;
    for (const auto& item : value->get_array()) {
        if (!item.is_string() || allowed.empty() || json::view(item.get_string()) != allowed) return false;
    }
    return true;
}

}  // namespace

Result<void> Rest::prepare() {
    if (!namespaces_) return {};
    const auto present = store_.get(store_key(*namespaces_, "", immortal_namespace));
    if (!present) return fail(present.error());
    if (!*present) {
        const Target target{namespaces_, "", "", ""};
        const std::string body =
            fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", immortal_namespace);
        const auto reply = create(target, {}, {body, "application/json"});
        if (reply.code != 201 && reply.code != 409) {
            return fail(Errc::internal, fmt::format("cannot create the namespace \"default\": {}", reply.body));
        }
    }
    const auto snapshot = store_.snapshot(namespaces_->table());
    if (!snapshot) return fail(snapshot.error());
    std::vector<std::string> terminating;
    snapshot->scan("", "", [&](const store::ObjectRef& object) {
        const auto value = parse_object(*object);
        if (value && being_deleted(*value)) terminating.emplace_back(object->name());
        return true;
    });
    for (const auto& name : terminating) {
        if (auto done = delete_content(name); !done) return fail(Errc::internal, done.error().message);
        finish_namespace(name);
    }
    return {};
}

Outcome<Reply> Rest::delete_namespace(const Target& target, const DeleteOptions& options) {
    if (target.name == immortal_namespace) {
        return refuse(forbidden(*namespaces_, target.name, "this namespace may not be deleted"));
    }
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        const auto current = existing(target);
        if (!current) return refuse(current.error());
        const auto object = parse_object(**current);
        if (!object) return refuse(object.error());
        if (auto ok = check_preconditions(target, *object, options); !ok) return refuse(ok.error());
        Change change{*object, being_deleted(*object), {}};
        if (!change.unchanged) {
            auto& metadata = metadata_of(change.object);
            metadata["deletionTimestamp"] = now_text();
            metadata["deletionGracePeriodSeconds"] = 0;
            metadata["generation"] = json::int_at(*object, "metadata.generation").value_or(0) + 1;
            json::set_at(change.object, "status.phase", "Terminating");
        }
        Reply reply;
        if (options.dry_run) {
            reply.body = object_text(change.object, std::to_string((*current)->modified()));
            return reply;
        }
        if (!change.unchanged) {
            const auto committed = store_.commit_and_wait(
                {store::put(store_key(*namespaces_, "", target.name), store::Expect::at((*current)->modified()),
                            stored_form(change.object))});
            if (!committed) {
                if (committed.error().code == Errc::conflict || committed.error().code == Errc::not_found) continue;
                return refuse(from_error(committed.error()));
            }
            reply.body = committed->objects.front()->value();
        } else {
            reply.body = (*current)->value();
        }
        if (auto done = delete_content(target.name); !done) return refuse(done.error());
        finish_namespace(target.name);
        return reply;
    }
    return refuse(modified_meanwhile(*namespaces_, target.name));
}

Outcome<void> Rest::delete_content(std::string_view ns) {
    const DeleteOptions background{.propagation = "Background", .uid = {}, .resource_version = {}, .dry_run = false};
    const std::string prefix = std::string(ns) + "/";
    for (const auto& kind : kinds_.all()) {
        if (kind.scope != resource::Scope::namespaced || kind.create_only) continue;
        const auto snapshot = store_.snapshot(kind.table());
        if (!snapshot) return refuse(from_error(snapshot.error()));
        std::vector<store::ObjectRef> batch;
        std::vector<std::string> alone;  // held by finalizers, or changed while its batch was being committed
        const auto flush = [&] {
            std::vector<store::Op> ops;
            for (const auto& object : batch) {
                ops.push_back(store::remove({kind.table(), std::string(object->name())},
                                            store::Expect::at(object->modified()), last_state(*object)));
            }
            if (!ops.empty() && !store_.commit_and_wait(std::move(ops))) {
                for (const auto& object : batch) alone.emplace_back(object->name());
            }
            batch.clear();
        };
        snapshot->scan(prefix, "", [&](const store::ObjectRef& object) {
            if (object->value().find(R"("finalizers":)") != std::string_view::npos) {
                alone.emplace_back(object->name());
            } else {
                batch.push_back(object);
            }
            if (batch.size() == removal_batch) flush();
            return true;
        });
        flush();
        for (const auto& name : alone) {
            const Target target{&kind, std::string(ns), name.substr(prefix.size()), ""};
            auto removed = delete_object(target, background);
            if (!removed && removed.error().code != 404) return refuse(removed.error());
        }
    }
    return {};
}

bool Rest::has_content(std::string_view ns) const {
    const std::string prefix = std::string(ns) + "/";
    for (const auto& kind : kinds_.all()) {
        if (kind.scope != resource::Scope::namespaced || kind.create_only) continue;
        const auto snapshot = store_.snapshot(kind.table());
        bool found = !snapshot;  // what cannot be read might be there
        if (snapshot) snapshot->scan(prefix, "", [&](const store::ObjectRef&) { return found = true, false; });
        if (found) return true;
    }
    return false;
}

void Rest::finish_namespace(std::string_view ns) {
    if (!namespaces_ || ns.empty()) return;
    const auto key = store_key(*namespaces_, "", ns);
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        const auto current = store_.get(key);
        if (!current || !*current) return;
        if ((*current)->value().find("deletionTimestamp") == std::string_view::npos) return;
        const auto object = parse_object(**current);
        if (!object || !being_deleted(*object)) return;
        if (!list_empty_but(*object, "metadata.finalizers", "") ||
            !list_empty_but(*object, "spec.finalizers", own_finalizer) || has_content(ns)) {
            return;
        }
        const auto removed = store_.commit_and_wait(
            {store::remove(key, store::Expect::at((*current)->modified()), last_state(**current))});
        // A failure other than a conflict leaves it terminating; the next removal or the next start finishes it.
        if (removed || removed.error().code != Errc::conflict) return;
    }
}

}  // namespace fairlead::apiserver
