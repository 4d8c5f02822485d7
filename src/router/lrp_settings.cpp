#include "router/lrp_settings.h"

#include <fmt/core.h>

#include <map>

namespace fairlead::router {

namespace {

constexpr auto secret_annotation = "fairlead.dev/tls-secret";
constexpr auto policy_annotation = "fairlead.dev/insecure-policy";

}  // namespace

LrpSettings lrp_settings(const json::Value& object) {
    LrpSettings settings;
    const auto* found = json::find(object, "metadata.annotations");
    if (found == nullptr || !found->is_object()) return settings;
    std::map<std::string, std::string> annotations;
    for (const auto& member : found->get_object()) {
        if (const auto* text = member.value().if_string()) annotations.emplace(member.key(), std::string(*text));
    }
    const auto at = [&annotations](const char* name) {
        const auto one = annotations.find(name);
        return one != annotations.end() ? one->second : std::string();
    };
    if (const auto name = at(secret_annotation); !name.empty()) {
        settings.secret = fmt::format("{}/{}", json::string_at(object, "metadata.namespace"), name);
    }
    if (const auto policy = at(policy_annotation); policy == "None") {
        settings.plain = traffic::Plain::refuse;
    } else if (!policy.empty() && policy != "Redirect") {
        settings.problems.push_back(
            {"InvalidAnnotation",
             fmt::format("annotation {} is \"{}\": Redirect or None is expected", policy_annotation, policy)});
    }
    settings.check = route::check_of(annotations, settings.problems);
    return settings;
}

}  // namespace fairlead::router
