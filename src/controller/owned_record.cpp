#include "controller/owned_record.h"

#include <algorithm>

#include "resource/describe.h"

namespace fairlead::controller {

resource::OwnerReference controller_reference(const resource::Kind& kind, const resource::ObjectMeta& metadata) {
    resource::OwnerReference owner;
    owner.api_version = kind.api_version();
    owner.kind = kind.name;
    owner.name = metadata.name;
    owner.uid = metadata.uid;
    owner.controller = true;
    owner.block_owner_deletion = true;
    return owner;
}

bool same_record(const resource::DnsRecord& present, const resource::DnsRecord& wanted) {
    const auto& labels = present.metadata.labels;
    const bool labelled =
        std::all_of(wanted.metadata.labels.begin(), wanted.metadata.labels.end(), [&](const auto& label) {
            const auto found = labels.find(label.first);
            return found != labels.end() && found->second == label.second;
        });
    const auto& owners = present.metadata.owner_references;
    const auto& meant = wanted.metadata.owner_references;
    return labelled && present.spec == wanted.spec &&
           (meant.empty() || std::find(owners.begin(), owners.end(), meant.front()) != owners.end());
}

json::Value mended(json::Value object, const resource::DnsRecord& wanted) {
    json::set_at(object, "spec", resource::encode(wanted.spec));
    auto labels = json::find(object, "metadata.labels") != nullptr ? *json::find(object, "metadata.labels")
                                                                   : json::Value(json::Object());
    if (!labels.is_object()) labels = json::Object();
    for (const auto& [key, value] : wanted.metadata.labels) labels.as_object()[key] = value;
    json::set_at(object, "metadata.labels", std::move(labels));
    // One controller at most; owners of other kinds stay.
    json::Array owners;
    if (const auto* list = json::find(object, "metadata.ownerReferences"); list != nullptr && list->is_array()) {
        for (const auto& item : list->get_array()) {
            if (!json::bool_at(item, "controller")) owners.push_back(item);
        }
    }
    if (!wanted.metadata.owner_references.empty())
        owners.push_back(resource::encode(wanted.metadata.owner_references.front()));
    json::set_at(object, "metadata.ownerReferences", std::move(owners));
    return object;
}

}  // namespace fairlead::controller
