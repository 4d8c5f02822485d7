#include "apiserver/discovery.h"

#include <sys/utsname.h>

#include "apiserver/access_review.h"
#include "json/value.h"

namespace fairlead::apiserver {

namespace {

json::Array texts(const std::vector<std::string>& list) {
    json::Array array;
    for (const auto& text : list) array.emplace_back(text);
    return array;
}

json::Object resource_entry(const std::string& name, std::string_view singular, bool namespaced, std::string_view kind,
                            std::vector<std::string> verbs) {
    json::Object entry;
    entry["name"] = name;
    entry["singularName"] = singular;
    entry["namespaced"] = namespaced;
    entry["kind"] = kind;
    entry["verbs"] = texts(verbs);
    return entry;
}

void add_kind(const resource::Kind& kind, json::Array& out) {
    const bool namespaced = kind.scope == resource::Scope::namespaced;
    // patch: server-side apply, which creates.
    auto verbs = kind.create_only ? std::vector<std::string>{"create", "patch"}
                                  : std::vector<std::string>{"create", "delete", "deletecollection", "get",
                                                             "list",   "patch",  "update",           "watch"};
    auto entry = resource_entry(kind.plural, kind.singular, namespaced, kind.name, std::move(verbs));
    if (!kind.short_names.empty()) entry["shortNames"] = texts(kind.short_names);
    if (!kind.categories.empty()) entry["categories"] = texts(kind.categories);
    out.push_back(std::move(entry));
    if (kind.create_only) return;
    if (kind.group.empty() && kind.plural == "namespaces") {
        out.push_back(resource_entry("namespaces/finalize", "", false, kind.name, {"update"}));
    }
    if (kind.status_subresource) {
        out.push_back(resource_entry(kind.plural + "/status", "", namespaced, kind.name, {"get", "patch", "update"}));
    }
}

std::string resource_list(std::string_view group_version, json::Array resources) {
    json::Object list;
    list["kind"] = "APIResourceList";
    list["apiVersion"] = "v1";
    list["groupVersion"] = group_version;
    list["resources"] = std::move(resources);
    return json::serialize(list);
}

json::Object group_entry(const std::string& name, const std::vector<std::string>& versions) {
    json::Array list;
    for (const auto& version : versions) {
        list.push_back(json::Object{{"groupVersion", name + "/" + version}, {"version", version}});
    }
    json::Object entry;
    entry["name"] = name;
    entry["preferredVersion"] = list.front();
    entry["versions"] = std::move(list);
    return entry;
}

std::string version_document(std::string_view version) {
    utsname machine{};
    uname(&machine);
    const std::string architecture = machine.machine;
    json::Object info;
    // The level of the Kubernetes API that is served; what runs here stands behind the plus.
    info["major"] = "1";
    info["minor"] = "26";
    info["gitVersion"] = "v1.26.0+fairlead." + std::string(version);
    info["gitCommit"] = "";
    info["gitTreeState"] = "clean";
    info["buildDate"] = "1970-01-01T00:00:00Z";
    info["goVersion"] = "";
    info["compiler"] = "gcc " __VERSION__;
    info["platform"] = "linux/" + (architecture == "x86_64" ? "amd64" : architecture);
    return json::serialize(info);
}

}  // namespace

Discovery::Discovery(const resource::Kinds& kinds, std::string_view version) : version_(version_document(version)) {
    std::map<std::string, std::vector<std::string>> versions;
    std::map<std::string, json::Array> resources;
    for (const auto& kind : kinds.all()) {
        add_kind(kind, resources[kind.api_version()]);
        auto& list = versions[kind.group];
        if (std::find(list.begin(), list.end(), kind.version) == list.end()) list.push_back(kind.version);
    }
    for (const auto& review : review_kinds) {
        const std::string group(review.group);
        versions[group] = {"v1"};
        resources[group + "/v1"].push_back(
            resource_entry(std::string(review.resource), "", review.namespaced, review.kind, {"create"}));
    }

    json::Array paths{"/api",        "/apis",       "/healthz", "/livez",  "/metrics",
                      "/openapi/v2", "/openapi/v3", "/readyz",  "/version"};
    for (auto& [group_version, list] : resources) {
        paths.emplace_back((group_version.find('/') == std::string::npos ? "/api/" : "/apis/") + group_version);
        resources_[group_version] = resource_list(group_version, std::move(list));
    }
    paths_ = json::serialize(json::Object{{"paths", std::move(paths)}});

    api_versions_ = json::serialize(json::Object{
        {"kind", "APIVersions"}, {"versions", json::Array{"v1"}}, {"serverAddressByClientCIDRs", json::Array()}});
    json::Array groups;
    for (const auto& [name, list] : versions) {
        if (name.empty()) continue;
        auto entry = group_entry(name, list);
        json::Object alone{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
        for (const auto& [key, value] : entry) alone[key] = value;
        group_[name] = json::serialize(alone);
        groups.push_back(std::move(entry));
    }
    groups_ =
        json::serialize(json::Object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
}

const std::string* Discovery::find(const RequestInfo& info) const {
    switch (info.type) {
        case RequestInfo::Type::api_versions:
            return &api_versions_;
        case RequestInfo::Type::api_groups:
            return &groups_;
        case RequestInfo::Type::api_group: {
            const auto found = group_.find(info.group);
            return found == group_.end() ? nullptr : &found->second;
        }
        case RequestInfo::Type::group_resources: {
            const auto found = resources_.find(info.group.empty() ? info.version : info.group + "/" + info.version);
            return found == resources_.end() ? nullptr : &found->second;
        }
        case RequestInfo::Type::unknown:
        case RequestInfo::Type::resource:
        case RequestInfo::Type::other:
            return nullptr;
    }
    return nullptr;
}

}  // namespace fairlead::apiserver
