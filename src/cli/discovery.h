// What kinds the server has, and what a person means by "routes", "route", "rt" or "routes.route.openshift.io". Asks
// the server once per group and keeps the answers for the length of the command.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/api.h"

namespace fairlead::cli {

struct ResourceType {
    std::string group;  // "" for core
    std::string version;
    std::string plural, singular, kind;
    std::vector<std::string> short_names, categories, verbs;
    bool namespaced = false;

    [[nodiscard]] std::string api_version() const { return group.empty() ? version : group + "/" + version; }
    // "route.route.openshift.io/shop": how results name an object.
    [[nodiscard]] std::string object_name(std::string_view name) const;
    // "route.route.openshift.io"
    [[nodiscard]] std::string qualified_singular() const;
    // Path of the collection; an empty namespace means all of them.
    [[nodiscard]] std::string path(std::string_view name_space) const;
    [[nodiscard]] std::string path(std::string_view name_space, std::string_view name) const;
    [[nodiscard]] bool can(std::string_view verb) const;
    bool operator==(const ResourceType&) const = default;
};

// The resources of one APIResourceList, without subresources.
std::vector<ResourceType> types_from(const json::Value& resource_list);

// Plural, singular, short name or kind, with or without group ("routes.route.openshift.io", "routes.v1.route.…").
bool answers_to(const ResourceType& type, std::string_view name);

class Discovery {
public:
    explicit Discovery(Api& api) : api_(api) {}

    // One type, or all of a category ("all"). Errors: not_found, with what was probably meant.
    Answer<std::vector<ResourceType>> resolve(const std::string& name);
    // For manifests: asks only that group.
    Answer<ResourceType> find_kind(const std::string& api_version, const std::string& kind);

private:
    Answer<const std::vector<ResourceType>*> load_all();
    Answer<const std::vector<ResourceType>*> load(const std::string& api_version);

    Api& api_;
    std::map<std::string, std::vector<ResourceType>> by_version_;
    std::vector<ResourceType> all_;
    bool complete_ = false;
};

}  // namespace fairlead::cli
