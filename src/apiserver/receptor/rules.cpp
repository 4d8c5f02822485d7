// What the Receptor demands of a process: "Invalid field: F" for each rule that is broken. Rules that our kind has
// beyond these are told by the kind. Routes are not looked at.
#include <fmt/core.h>

#include <algorithm>

#include "apiserver/receptor/shape.h"
#include "base/text.h"
#include "resource/kinds/desired_lrp.h"
#include "resource/kinds/lrp_rules.h"
#include "resource/kinds/rules.h"

namespace fairlead::apiserver::receptor {

namespace {

using resource::int_of;
using resource::list_of;
using resource::text_of;

class Broken {
public:
    void field(std::string_view name) {
        if (texts_.size() < max_told) texts_.push_back("Invalid field: " + std::string(name));
    }
    void unless(bool kept, std::string_view name) {
        if (!kept) field(name);
    }
    [[nodiscard]] std::string text() const { return join(texts_, ", "); }

private:
    static constexpr std::size_t max_told = 100;  // an answer must not grow with its question
    std::vector<std::string> texts_;
};

bool guid_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool has_scheme(std::string_view url) {
    const auto colon = url.find(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto scheme = url.substr(0, colon);
    return letter(scheme.front()) && std::all_of(scheme.begin(), scheme.end(), [&](char c) {
               return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
           });
}

}  // namespace

std::string broken_desired_rules(const json::Object& spec) {
    Broken broken;
    const auto guid = text_of(spec, "process_guid");
    const auto* action = spec.if_contains("action");
    const resource::Path root;
    const auto tell = [&](const resource::BrokenLrpRule& one) { broken.field(one.field); };
    broken.unless(!text_of(spec, "domain").empty(), "domain");
    broken.unless(!guid.empty() && std::all_of(guid.begin(), guid.end(), guid_character), "process_guid");
    broken.unless(has_scheme(text_of(spec, "rootfs")), "rootfs");
    if (action == nullptr) {
        broken.field("action");
    } else {
        resource::check_lrp_action(*action, root.member("action"), tell);
    }
    for (const auto* other : {"setup", "monitor"}) {
        if (const auto* value = spec.if_contains(other)) resource::check_lrp_action(*value, root.member(other), tell);
    }
    const auto at_least_zero = [&](std::string_view name) {
        if (spec.contains(name)) broken.unless(int_of(spec, name).value_or(-1) >= 0, name);
    };
    at_least_zero("instances");
    if (spec.contains("cpu_weight")) {
        const auto weight = int_of(spec, "cpu_weight").value_or(-1);
        broken.unless(weight >= 0 && weight <= 100, "cpu_weight");
    }
    for (const auto* name : {"memory_mb", "disk_mb", "start_timeout"}) at_least_zero(name);
    broken.unless(text_of(spec, "annotation").size() <= resource::max_lrp_annotation_bytes, "annotation");
    if (const auto* rules = list_of(spec, "egress_rules")) {
        for (const auto& rule : *rules) resource::check_egress_rule(rule, root.member("egress_rules"), tell);
    }
    if (const auto* ports = list_of(spec, "ports")) {
        for (const auto& [index, repeated] : resource::broken_lrp_ports(*ports)) {
            const auto value = json::serialize((*ports)[index]);
            broken.field(repeated
                             ? fmt::format("ports[{}] (Duplicate value: {})", index, value)
                             : fmt::format("ports[{}] (Invalid value: {}: {})", index, value, resource::lrp_port_rule));
        }
    }
    return broken.text();
}

}  // namespace fairlead::apiserver::receptor
