#include "cli/discovery.h"

#include <fmt/core.h>

#include <numeric>

#include "base/text.h"

namespace fairlead::cli {
namespace {

std::vector<std::string> strings_at(const json::Value& value, std::string_view path) {
    std::vector<std::string> texts;
    const auto* list = json::find(value, path);
    if (list == nullptr || !list->is_array()) return texts;
    for (const auto& item : list->get_array()) {
        if (item.is_string()) texts.emplace_back(json::view(item.get_string()));
    }
    return texts;
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

// Levenshtein distance: how many letters a person mistyped.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0U);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const auto replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

Failure not_found(std::string message) {
    Failure failure;
    failure.error = {Errc::not_found, {}, std::move(message)};
    return failure;
}

Failure unknown_type(const std::string& name, const std::vector<ResourceType>& types) {
    std::string best;
    std::size_t best_distance = 3;  // further away is no typing mistake
    for (const auto& type : types) {
        for (const auto& candidate : {type.plural, type.singular}) {
            const auto away = distance(lower(name), candidate);
            if (away < best_distance) std::tie(best, best_distance) = std::pair(candidate, away);
        }
    }
    const auto hint = best.empty() ? std::string() : fmt::format(" (did you mean {}?)", best);
    return not_found(fmt::format("error: the server doesn't have a resource type \"{}\"{}", name, hint));
}

}  // namespace

std::string ResourceType::qualified_singular() const {
    const std::string name = singular.empty() ? lower(kind) : singular;
    return group.empty() ? name : name + "." + group;
}
std::string ResourceType::object_name(std::string_view name) const {
    return fmt::format("{}/{}", qualified_singular(), name);
}
std::string ResourceType::path(std::string_view name_space) const {
    std::string path = group.empty() ? "/api/" + version : fmt::format("/apis/{}/{}", group, version);
    if (namespaced && !name_space.empty()) path += "/namespaces/" + percent_encode(name_space);
    return path + "/" + plural;
}
std::string ResourceType::path(std::string_view name_space, std::string_view name) const {
    return path(name_space) + "/" + percent_encode(name);
}
bool ResourceType::can(std::string_view verb) const { return contains(verbs, verb); }

std::vector<ResourceType> types_from(const json::Value& resource_list) {
    std::vector<ResourceType> types;
    const std::string group_version(json::string_at(resource_list, "groupVersion"));
    const auto slash = group_version.find('/');
    const auto* list = json::find(resource_list, "resources");
    if (list == nullptr || !list->is_array()) return types;
    for (const auto& item : list->get_array()) {
        ResourceType type;
        type.plural = json::string_at(item, "name");
        if (type.plural.empty() || type.plural.find('/') != std::string::npos) continue;
        type.group = slash == std::string::npos ? "" : group_version.substr(0, slash);
        type.version = slash == std::string::npos ? group_version : group_version.substr(slash + 1);
        type.singular = json::string_at(item, "singularName");
        type.kind = json::string_at(item, "kind");
        if (type.singular.empty()) type.singular = lower(type.kind);
        type.short_names = strings_at(item, "shortNames");
        type.categories = strings_at(item, "categories");
        type.verbs = strings_at(item, "verbs");
        type.namespaced = json::bool_at(item, "namespaced");
        types.push_back(std::move(type));
    }
    return types;
}

bool answers_to(const ResourceType& type, std::string_view name) {
    const std::string text = lower(name);
    const auto dot = text.find('.');
    const auto first = text.substr(0, dot);
    if (dot != std::string::npos) {
        const auto rest = text.substr(dot + 1);
        if (rest != type.group && rest != type.version + "." + type.group && rest != type.version) return false;
    }
    return first == type.plural || first == type.singular || first == lower(type.kind) ||
           contains(type.short_names, first);
}

Answer<const std::vector<ResourceType>*> Discovery::load(const std::string& api_version) {
    if (const auto known = by_version_.find(api_version); known != by_version_.end()) return &known->second;
    const bool core = api_version.find('/') == std::string::npos;
    const auto slash = api_version.find('/');
    const auto path = core ? "/api/" + percent_encode(api_version)
                           : fmt::format("/apis/{}/{}", percent_encode(api_version.substr(0, slash)),
                                         percent_encode(api_version.substr(slash + 1)));
    auto list = api_.get(path);
    if (!list) return tl::unexpected(std::move(list.error()));
    return &(by_version_[api_version] = types_from(*list));
}

Answer<const std::vector<ResourceType>*> Discovery::load_all() {
    if (complete_) return &all_;
    auto core = api_.get("/api");
    if (!core) return tl::unexpected(std::move(core.error()));
    auto versions = strings_at(*core, "versions");
    auto groups = api_.get("/apis");
    if (!groups) return tl::unexpected(std::move(groups.error()));
    if (const auto* list = json::find(*groups, "groups"); list != nullptr && list->is_array()) {
        for (const auto& group : list->get_array()) {
            std::string preferred(json::string_at(group, "preferredVersion.groupVersion"));
            const auto* all = json::find(group, "versions");
            if (preferred.empty() && all != nullptr && all->is_array() && !all->get_array().empty()) {
                preferred = json::string_at(all->get_array().front(), "groupVersion");
            }
            if (!preferred.empty()) versions.push_back(std::move(preferred));
        }
    }
    for (const auto& version : versions) {
        auto types = load(version);
        if (!types) return tl::unexpected(std::move(types.error()));
        all_.insert(all_.end(), (*types)->begin(), (*types)->end());
    }
    complete_ = true;
    return &all_;
}

Answer<std::vector<ResourceType>> Discovery::resolve(const std::string& name) {
    auto types = load_all();
    if (!types) return tl::unexpected(std::move(types.error()));
    for (const auto& type : **types) {
        if (answers_to(type, name)) return std::vector{type};
    }
    std::vector<ResourceType> members;
    for (const auto& type : **types) {
        if (contains(type.categories, lower(name)) && type.can("list")) members.push_back(type);
    }
    if (members.empty()) return tl::unexpected(unknown_type(name, **types));
    return members;
}

Answer<ResourceType> Discovery::find_kind(const std::string& api_version, const std::string& kind) {
    auto types = load(api_version);
    if (!types && types.error().status != 404) return tl::unexpected(std::move(types.error()));
    if (types) {
        for (const auto& type : **types) {
            if (type.kind == kind) return type;
        }
    }
    return tl::unexpected(not_found(fmt::format("no matches for kind \"{}\" in version \"{}\"", kind, api_version)));
}

}  // namespace fairlead::cli
