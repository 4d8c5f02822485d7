#include "publish/preview_json.h"

#include "base/text.h"
#include "plan/endpoint_json.h"

namespace fairlead::publish {

namespace {

json::Value text(std::string_view value) { return json::Value(valid_utf8(value)); }

json::Value change_json(const plan::Change& change) {
    json::Object object;
    if (change.action == plan::Action::update) {
        object["old"] = plan::endpoint_json(*change.before);
        object["new"] = plan::endpoint_json(*change.after);
        json::Array differences;
        for (const auto& difference : change.differences) {
            json::Object each;
            each["field"] = text(difference.field);
            each["old"] = text(difference.before);
            each["new"] = text(difference.after);
            differences.push_back(std::move(each));
        }
        object["differences"] = std::move(differences);
    } else {
        object["endpoint"] = plan::endpoint_json(change.subject());
    }
    object["reason"] = text(change.reason);
    object["message"] = text(change.message);
    return object;
}

void add_changes(json::Object& object, const std::vector<const plan::Change*>& changes) {
    json::Array creates, updates, deletes;
    for (const auto* change : changes) {
        switch (change->action) {
            case plan::Action::create:
                creates.push_back(change_json(*change));
                break;
            case plan::Action::update:
                updates.push_back(change_json(*change));
                break;
            case plan::Action::remove:
                deletes.push_back(change_json(*change));
                break;
        }
    }
    object["create"] = std::move(creates);
    object["update"] = std::move(updates);
    object["delete"] = std::move(deletes);
}

std::vector<const plan::Change*> pointers(const std::vector<plan::Change>& changes) {
    std::vector<const plan::Change*> list;
    list.reserve(changes.size());
    for (const auto& change : changes) list.push_back(&change);
    return list;
}

json::Object held_json(const plan::Guarded& guarded) {
    json::Object held;
    held["digest"] = text(guarded.digest);
    held["reason"] = text(guarded.reason);
    held["message"] = text(guarded.message);
    add_changes(held, pointers(guarded.held));
    return held;
}

}  // namespace

json::Value preview_json(const Preview& preview) {
    json::Object zone;
    const auto& order = preview.order;
    zone["zone"] = text(order.key);
    zone["domain"] = text(order.settings.apex.host());
    zone["provider"] = text(order.settings.provider);
    zone["owner"] = text(order.registry.owner);
    zone["policy"] = text(plan::policy_text(order.policy));
    zone["dryRun"] = order.dry_run;
    zone["readAt"] = preview.read_at ? json::Value(rfc3339(*preview.read_at)) : json::Value();
    zone["error"] = text(preview.error);
    add_changes(zone, pointers(preview.guarded.go.changes));
    json::Array skipped;
    for (const auto& skip : preview.guarded.go.skipped) {
        json::Object each;
        each["endpoint"] = plan::endpoint_json(skip.endpoint);
        each["reason"] = text(skip.reason);
        each["message"] = text(skip.message);
        skipped.push_back(std::move(each));
    }
    zone["skipped"] = std::move(skipped);
    if (!preview.guarded.held.empty()) zone["held"] = held_json(preview.guarded);
    std::vector<const plan::Change*> ownership;
    for (const auto& group : preview.groups) {
        for (const auto& change : group.ownership) {
            if (change.before != change.after) ownership.push_back(&change);  // others are only compared
        }
    }
    json::Object texts;
    add_changes(texts, ownership);
    zone["ownership"] = std::move(texts);
    json::Array failed;
    for (const auto& [name, message] : preview.failed) {
        json::Object each;
        each["name"] = text(name);
        each["message"] = text(message);
        failed.push_back(std::move(each));
    }
    zone["failed"] = std::move(failed);
    json::Array problems;
    for (const auto& problem : preview.problems) problems.push_back(text(problem));
    zone["problems"] = std::move(problems);
    return zone;
}

}  // namespace fairlead::publish
