#include "control/finalizers.h"

#include <algorithm>

namespace fairlead::control {

namespace {

json::Array finalizers_without(const json::Value& object, std::string_view finalizer) {
    json::Array list;
    const auto* value = json::find(object, "metadata.finalizers");
    if (!value || !value->is_array()) return list;
    for (const auto& item : value->get_array()) {
        if (!item.is_string() || json::view(item.get_string()) != finalizer) list.push_back(item);
    }
    return list;
}

Result<json::Value> write_finalizers(Client& client, const ObjectId& id, const json::Value& object, json::Array list) {
    json::Value patch;
    for (const auto* member : {"metadata.uid", "metadata.resourceVersion"}) {
        json::set_at(patch, member, json::Value(json::string_at(object, member)));
    }
    json::set_at(patch, "metadata.finalizers", list.empty() ? json::Value(nullptr) : json::Value(std::move(list)));
    return client.merge_patch(id, std::move(patch));
}

}  // namespace

bool has_finalizer(const json::Value& object, std::string_view finalizer) {
    const auto* value = json::find(object, "metadata.finalizers");
    if (!value || !value->is_array()) return false;
    const auto& list = value->get_array();
    return std::any_of(list.begin(), list.end(), [&](const json::Value& item) {
        return item.is_string() && json::view(item.get_string()) == finalizer;
    });
}

bool has_finalizer(const resource::ObjectMeta& metadata, std::string_view finalizer) {
    return std::find(metadata.finalizers.begin(), metadata.finalizers.end(), finalizer) != metadata.finalizers.end();
}

bool being_deleted(const json::Value& object) { return !json::string_at(object, "metadata.deletionTimestamp").empty(); }

Result<json::Value> add_finalizer(Client& client, const ObjectId& id, const json::Value& object,
                                  std::string_view finalizer) {
    if (has_finalizer(object, finalizer)) return object;
    auto list = finalizers_without(object, finalizer);
    list.emplace_back(json::Value(finalizer));
    return write_finalizers(client, id, object, std::move(list));
}

Result<json::Value> remove_finalizer(Client& client, const ObjectId& id, const json::Value& object,
                                     std::string_view finalizer) {
    if (!has_finalizer(object, finalizer)) return object;
    return write_finalizers(client, id, object, finalizers_without(object, finalizer));
}

}  // namespace fairlead::control
