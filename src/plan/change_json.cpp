#include "plan/change_json.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "plan/endpoint_json.h"

namespace fairlead::plan {

namespace {

json::Value text(std::string_view value) { return json::Value(valid_utf8(value)); }

std::string text_at(const json::Value& value, std::string_view path) {
    return std::string(json::string_at(value, path));
}

json::Value change_json(const Change& change) {
    json::Object object;
    if (change.action == Action::update) {
        object["old"] = endpoint_json(*change.before);
        object["new"] = endpoint_json(*change.after);
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
        object["endpoint"] = endpoint_json(change.subject());
    }
    object["reason"] = text(change.reason);
    object["message"] = text(change.message);
    return object;
}

Result<dns::Endpoint> endpoint_at(const json::Value& value, std::string_view path) {
    const auto* found = json::find(value, path);
    if (found == nullptr) return fail(Errc::invalid, std::string(path), "is missing in the server's answer");
    return endpoint_of_json(*found, path);
}

Result<Change> change_of(const json::Value& value, Action action) {
    Change change;
    change.action = action;
    change.reason = text_at(value, "reason");
    change.message = text_at(value, "message");
    const bool update = action == Action::update;
    auto subject = endpoint_at(value, update ? "new" : "endpoint");
    if (!subject) return fail(subject.error());
    if (update) {
        auto before = endpoint_at(value, "old");
        if (!before) return fail(before.error());
        change.before = std::move(*before);
    }
    (action == Action::remove ? change.before : change.after) = std::move(*subject);
    const auto* differences = json::find(value, "differences");
    if (differences != nullptr && differences->is_array()) {
        for (const auto& each : differences->get_array())
            change.differences.push_back({text_at(each, "field"), text_at(each, "old"), text_at(each, "new")});
    }
    return change;
}

auto order_of(const Change& change) {
    const auto& subject = change.subject();
    return std::tuple(lower(subject.dns_name), subject.set_identifier, change.action != Action::remove,
                      subject.record_type);
}

}  // namespace

void add_changes(json::Object& object, const std::vector<const Change*>& changes) {
    json::Array creates, updates, deletes;
    for (const auto* change : changes) {
        switch (change->action) {
            case Action::create:
                creates.push_back(change_json(*change));
                break;
            case Action::update:
                updates.push_back(change_json(*change));
                break;
            case Action::remove:
                deletes.push_back(change_json(*change));
                break;
        }
    }
    object["create"] = std::move(creates);
    object["update"] = std::move(updates);
    object["delete"] = std::move(deletes);
}

void add_changes(json::Object& object, const std::vector<Change>& changes) {
    std::vector<const Change*> list;
    list.reserve(changes.size());
    for (const auto& change : changes) list.push_back(&change);
    add_changes(object, list);
}

Result<std::vector<Change>> changes_of_json(const json::Value& value) {
    std::vector<Change> changes;
    const std::pair<const char*, Action> lists[] = {
        {"create", Action::create}, {"update", Action::update}, {"delete", Action::remove}};
    for (const auto& [name, action] : lists) {
        const auto* list = json::find(value, name);
        if (list == nullptr || !list->is_array()) continue;
        for (const auto& each : list->get_array()) {
            auto change = change_of(each, action);
            if (!change) return fail(change.error());
            changes.push_back(std::move(*change));
        }
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
    return changes;
}

}  // namespace fairlead::plan
