#include "controller/namespace_lifecycle.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "control/finalizers.h"
#include "resource/kinds/namespace.h"

namespace fairlead::controller {

namespace {

constexpr std::size_t batch = 64;  // removals per turn; each waits for the disk
constexpr std::string_view own_finalizer = "kubernetes";
constexpr std::chrono::milliseconds store_trouble{100};
constexpr std::chrono::seconds failed_again{5};

struct Said {
    const char* type;
    bool status;
    const char* reason;
    std::string message;
};

std::string counts(const std::map<std::string, std::size_t>& numbers, std::string_view format_word) {
    std::string text;
    for (const auto& [name, count] : numbers) {
        text += fmt::format("{}{} {} {} resource instances", text.empty() ? "" : ", ", name, format_word, count);
    }
    return text;
}

Said content_failure(const Remaining& remaining) {
    if (remaining.failures.empty()) {
        return {"NamespaceDeletionContentFailure", false, "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization"};
    }
    return {"NamespaceDeletionContentFailure", true, "ContentDeletionFailed",
            fmt::format("Failed to delete all resource types, {} remaining: {}", remaining.failures.size(),
                        join(remaining.failures, ", "))};
}

Said content_remaining(const Remaining& remaining) {
    if (remaining.objects.empty()) {
        return {"NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"};
    }
    return {"NamespaceContentRemaining", true, "SomeResourcesRemain",
            "Some resources are remaining: " + counts(remaining.objects, "has")};
}

Said finalizers_remaining(const Remaining& remaining) {
    if (remaining.finalizers.empty()) {
        return {"NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
                "All content-preserving finalizers finished"};
    }
    return {"NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: " + counts(remaining.finalizers, "in")};
}

const json::Value* condition_of(const json::Value& object, std::string_view type) {
    const auto* list = json::find(object, "status.conditions");
    if (!list || !list->is_array()) return nullptr;
    for (const auto& item : list->get_array()) {
        if (json::string_at(item, "type") == type) return &item;
    }
    return nullptr;
}

void count_remaining(const resource::Kind& kind, const json::Value& object, Remaining& remaining) {
    ++remaining.objects[kind.qualified_resource()];
    const auto* list = json::find(object, "metadata.finalizers");
    if (!list || !list->is_array()) return;
    for (const auto& item : list->get_array()) {
        if (item.is_string()) ++remaining.finalizers[std::string(json::view(item.get_string()))];
    }
}

}  // namespace

json::Array namespace_conditions(const Remaining& remaining, const json::Value& object, std::string_view now) {
    const Said all[] = {
        {"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered", "All resources successfully discovered"},
        {"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
         "All legacy kube types successfully parsed"},
        content_failure(remaining),
        content_remaining(remaining),
        finalizers_remaining(remaining)};
    json::Array conditions;
    conditions.reserve(std::size(all));
    for (const auto& said : all) {
        const std::string_view status = said.status ? "True" : "False";
        const auto* before = condition_of(object, said.type);
        const bool same = before && json::string_at(*before, "status") == status;
        json::Value condition;
        json::set_at(condition, "type", said.type);
        json::set_at(condition, "status", json::Value(status));
        json::set_at(condition, "lastTransitionTime",
                     json::Value(same ? json::string_at(*before, "lastTransitionTime") : now));
        json::set_at(condition, "reason", said.reason);
        json::set_at(condition, "message", json::Value(said.message));
        conditions.push_back(std::move(condition));
    }
    return conditions;
}

NamespaceLifecycle::NamespaceLifecycle(control::Context& context) : context_(context) {
    namespaces_ = &context.informer(resource::namespace_kind());
    namespaces_->add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { namespace_changed(before, after); });
    for (const auto& kind : context.kinds().all()) {
        if (kind.create_only || kind.scope != resource::Scope::namespaced) continue;
        auto& informer = context.informer(kind);
        content_.push_back(&informer);
        informer.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
            if (terminating_.empty()) return;
            const auto name = after ? after->name() : before->name();
            const auto ns = terminating_.find(name.substr(0, name.find('/')));
            if (ns != terminating_.end()) context_.enqueue(*ns);
        });
    }
}

void NamespaceLifecycle::namespace_changed(const store::ObjectRef& before, const store::ObjectRef& after) {
    const std::string name(after ? after->name() : before->name());
    const bool might = after && after->value().find("\"deletionTimestamp\"") != std::string_view::npos;
    const auto value = might ? json::parse(after->value()) : Result<json::Value>(json::Value());
    if (might && value && control::being_deleted(*value)) {
        terminating_.insert(name);
        context_.enqueue(name);
    } else {
        terminating_.erase(name);
    }
}

std::optional<control::Again> NamespaceLifecycle::behind(store::Revision revision) {
    std::optional<Again> again;
    for (auto* informer : content_) {
        if (informer->caught_up(revision)) continue;
        if (informer->due()) return Again::in(store_trouble);
        again = Again::now();
    }
    return again;
}

Result<control::Again> NamespaceLifecycle::reconcile(const control::Key& key) {
    const auto id = control::object_id(namespaces_->kind(), key);
    auto object = context_.client().get(id);
    if (!object && object.error().code == Errc::not_found) return Again::no();
    if (!object) return fail(object.error());
    if (!control::being_deleted(*object)) return Again::no();
    const auto revision = parse_int(json::string_at(*object, "metadata.resourceVersion")).value_or(0);
    if (const auto again = behind(static_cast<store::Revision>(revision))) return *again;
    Remaining remaining;
    if (!delete_content(key, remaining)) return Again::now();
    if (remaining.objects.empty()) return finish(id, std::move(*object));
    return report(id, std::move(*object), remaining);
}

bool NamespaceLifecycle::delete_content(const std::string& ns, Remaining& remaining) {
    std::size_t left = batch;
    for (auto* content : content_) {
        if (!delete_content_of(*content, ns, left, remaining)) return false;
    }
    return true;
}

bool NamespaceLifecycle::delete_content_of(control::Informer& content, const std::string& ns, std::size_t& left,
                                           Remaining& remaining) {
    const auto& kind = content.kind();
    bool wrote = false;
    // What is deleted here leaves the informer later, when it is pumped: the scan is not disturbed.
    content.scan(ns + "/", "", [&](const store::ObjectRef& stored) {
        const auto value = json::parse(stored->value());
        if (value && control::being_deleted(*value)) {
            count_remaining(kind, *value, remaining);
            return true;
        }
        if (left == 0) return false;
        --left;
        control::DeleteOptions options;
        options.propagation = control::Propagation::background;
        const auto id = control::object_id(kind, stored->name());
        const auto removed = context_.client().remove(id, options);
        if (removed) {
            wrote = true;
        } else if (removed.error().code != Errc::not_found) {
            remaining.failures.push_back(fmt::format("{}: {}", id.text(), removed.error().text()));
            ++remaining.objects[kind.qualified_resource()];
        }
        return true;
    });
    // What was written has to be seen before the rest counts.
    return !wrote && left > 0;
}

Result<control::Again> NamespaceLifecycle::finish(const control::ObjectId& id, json::Value object) {
    json::Array others;
    bool ours = false;
    if (const auto* list = json::find(object, "spec.finalizers"); list && list->is_array()) {
        for (const auto& item : list->get_array()) {
            if (item.is_string() && json::view(item.get_string()) == own_finalizer) {
                ours = true;
            } else {
                others.push_back(item);
            }
        }
    }
    if (!ours) return Again::no();
    json::set_at(object, "spec.finalizers", std::move(others));
    const auto written = context_.client().update_finalize(id, std::move(object));
    if (!written && written.error().code != Errc::not_found) return fail(written.error());
    return Again::no();
}

Result<control::Again> NamespaceLifecycle::report(const control::ObjectId& id, json::Value object,
                                                  const Remaining& remaining) {
    const bool failed = !remaining.failures.empty();
    const auto again = failed ? Again::in(failed_again) : Again::no();
    auto conditions = namespace_conditions(remaining, object, rfc3339(context_.clock().now()));
    const auto* before = json::find(object, "status.conditions");
    if (before && json::equal(*before, json::Value(conditions))) return again;
    json::set_at(object, "status.conditions", std::move(conditions));
    const auto written = context_.client().update_status(id, std::move(object));
    if (!written && written.error().code != Errc::not_found) return fail(written.error());
    return again;
}

}  // namespace fairlead::controller
