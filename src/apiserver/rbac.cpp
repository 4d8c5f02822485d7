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

// All of `wanted` by one rule: the usual case, without looking at its combinations.
bool covers_whole(const Rule& held, const Rule& wanted) {
    const auto every = [](const Texts& texts, const auto& test) {
        return std::all_of(texts.begin(), texts.end(), test);
    };
    if (!every(wanted.verbs, [&](const auto& verb) { return has_or_star(held.verbs, verb); })) return false;
    if (!every(wanted.non_resource_urls, [&](const auto& url) { return path_matches(held.non_resource_urls, url); })) {
        return false;
    }
    if (!every(wanted.api_groups, [&](const auto& group) { return has_or_star(held.api_groups, group); })) return false;
    if (!every(wanted.resources, [&](const auto& resource) { return resource_covered(held.resources, resource); })) {
        return false;
    }
    if (wanted.resources.empty() || held.resource_names.empty()) return true;
    return !wanted.resource_names.empty() && has_all(held.resource_names, wanted.resource_names);
}

// Calls visit(part) for every combination of the rule until it says false.
template <class Visit>
bool each_part(const Rule& rule, const Visit& visit) {
    const Texts any_name = {""};
    const auto& names = rule.resource_names.empty() ? any_name : rule.resource_names;
    for (const auto& verb : rule.verbs) {
        for (const auto& group : rule.api_groups) {
            for (const auto& resource : rule.resources) {
                for (const auto& name : names) {
                    Rule part{{verb}, {group}, {resource}, {}, {}};
                    if (!rule.resource_names.empty()) part.resource_names = {name};
                    if (!visit(std::move(part))) return false;
                }
            }
        }
        for (const auto& url : rule.non_resource_urls) {
            if (!visit(Rule{{verb}, {}, {}, {}, {url}})) return false;
        }
    }
    return true;
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
    std::vector<Rule> missing;
    std::size_t looked_at = 0;
    for (const auto& rule : wanted) {
        if (std::any_of(held.begin(), held.end(), [&](const Rule& one) { return covers_whole(one, rule); })) continue;
        const bool all = each_part(rule, [&](Rule part) {
            if (++looked_at > max_parts) return false;
            if (std::none_of(held.begin(), held.end(), [&](const Rule& one) { return covers(one, part); })) {
                missing.push_back(std::move(part));
            }
            return missing.size() < max_missing;
        });
        if (all) continue;
        if (looked_at > max_parts) missing.push_back(rule);
        return missing;
    }
    return missing;
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
