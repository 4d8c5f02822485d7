#include "publish/preview_json.h"

#include "base/text.h"
#include "plan/change_json.h"
#include "plan/endpoint_json.h"

namespace fairlead::publish {

namespace {

json::Value text(std::string_view value) { return json::Value(valid_utf8(value)); }

json::Object held_json(const plan::Guarded& guarded) {
    json::Object held;
    held["digest"] = text(guarded.digest);
    held["reason"] = text(guarded.reason);
    held["message"] = text(guarded.message);
    plan::add_changes(held, guarded.held);
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
    plan::add_changes(zone, preview.guarded.go.changes);
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
    plan::add_changes(texts, ownership);
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
