#include "apiserver/rbac.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace fairlead::apiserver {

namespace {

using Texts = std::vector<std::string>;

bool has(const Texts& list, std::string_view text) { return std::find(list.begin(), list.end(), text) != list.end(); }

bool has_all(const Texts& list, const Texts& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& text) { return has(list, text); });
}

bool has_or_star(const Texts& list, std::string_view text) {
    return std::any_of(list.begin(), list.end(), [&](const auto& item) { return item == "*" || item == text; });
}

// "*" covers subresources too; "*/status" covers the status of everything.
bool resource_matches(const Texts& resources, std::string_view resource, std::string_view subresource) {
    for (const std::string_view text : resources) {
        if (text == "*") return true;
        if (subresource.empty()) {
            if (text == resource) return true;
            continue;
        }
        const auto slash = text.find('/');
        if (slash == std::string_view::npos || text.substr(slash + 1) != subresource) continue;
        const auto before = text.substr(0, slash);
        if (before == "*" || before == resource) return true;
    }
    return false;
}

bool path_covers(std::string_view rule, std::string_view path) {
    if (rule == path) return true;
    return rule.ends_with('*') && path.starts_with(rule.substr(0, rule.size() - 1));
}

bool path_matches(const Texts& rules, std::string_view path) {
    return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return path_covers(rule, path); });
}

// `resource` as it stands in a rule, with its subresource.
bool resource_covered(const Texts& held, std::string_view resource) {
    if (has(held, "*") || has(held, resource)) return true;
    const auto slash = resource.find('/');
    return slash != std::string_view::npos && has(held, "*" + std::string(resource.substr(slash)));
}

// `part` has one verb, and one group and resource or one path.
bool covers(const Rule& held, const Rule& part) {
    if (!has_or_star(held.verbs, part.verbs.front())) return false;
    if (!part.non_resource_urls.empty()) return path_matches(held.non_resource_urls, part.non_resource_urls.front());
    if (!has_or_star(held.api_groups, part.api_groups.front())) return false;
    if (!resource_covered(held.resources, part.resources.front())) return false;
    if (part.resource_names.empty()) return held.resource_names.empty();
    return held.resource_names.empty() || has_all(held.resource_names, part.resource_names);
}

void break_down(const Rule& rule, std::vector<Rule>& parts) {
    Rule part;
    for (const auto& group : rule.api_groups) {
        for (const auto& resource : rule.resources) {
            for (const auto& verb : rule.verbs) {
                part = Rule{{verb}, {group}, {resource}, {}, {}};
                if (rule.resource_names.empty()) parts.push_back(part);
                for (const auto& name : rule.resource_names) {
                    part.resource_names = {name};
                    parts.push_back(part);
                }
            }
        }
    }
    for (const auto& url : rule.non_resource_urls) {
        for (const auto& verb : rule.verbs) parts.push_back(Rule{{verb}, {}, {}, {}, {url}});
    }
}

std::string text_of(const Rule& rule) {
    std::string text;
    const auto add = [&text](std::string_view name, const Texts& list) {
        if (!list.empty()) text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", name, quoted_list(list));
    };
    add("APIGroups", rule.api_groups);
    add("Resources", rule.resources);
    add("NonResourceURLs", rule.non_resource_urls);
    add("ResourceNames", rule.resource_names);
    add("Verbs", rule.verbs);
    return "{" + text + "}";
}

}  // namespace

bool allows(const Rule& rule, const Attributes& wish) {
    if (!has_or_star(rule.verbs, wish.verb)) return false;
    if (!wish.path.empty()) return path_matches(rule.non_resource_urls, wish.path);
    return has_or_star(rule.api_groups, wish.group) &&
           resource_matches(rule.resources, wish.resource, wish.subresource) &&
           (rule.resource_names.empty() || has(rule.resource_names, wish.name));
}

std::vector<Rule> not_covered(std::span<const Rule> held, std::span<const Rule> wanted) {
    std::vector<Rule> parts;
    for (const auto& rule : wanted) break_down(rule, parts);
    const auto is_held = [&](const Rule& part) {
        return std::any_of(held.begin(), held.end(), [&](const Rule& rule) { return covers(rule, part); });
    };
    parts.erase(std::remove_if(parts.begin(), parts.end(), is_held), parts.end());
    return parts;
}

const std::vector<Rule>& every_right() {
    static const std::vector<Rule> all = {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
    return all;
}

std::string describe_missing(const std::vector<Rule>& rules) {
    using Place = std::tuple<Texts, Texts, Texts, Texts>;
    std::map<Place, Texts> verbs;
    for (const auto& rule : rules) {
        auto& list = verbs[{rule.api_groups, rule.resources, rule.resource_names, rule.non_resource_urls}];
        for (const auto& verb : rule.verbs) {
            if (!has(list, verb)) list.push_back(verb);
        }
    }
    std::set<std::string> lines;
    for (const auto& [place, list] : verbs) {
        const auto& [groups, resources, names, urls] = place;
        lines.insert(text_of(Rule{list, groups, resources, names, urls}));
    }
    std::string text;
    for (const auto& line : lines) text += (text.empty() ? "" : "\n") + line;
    return text;
}

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string quoted_list(const std::vector<std::string>& texts) {
    std::string out = "[";
    for (const auto& text : texts) out += (out.size() > 1 ? " " : "") + in_quotes(text);
    return out + "]";
}

}  // namespace fairlead::apiserver
