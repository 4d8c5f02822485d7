#include "gce/url_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "gce/names.h"

namespace fairlead::gce {
namespace {

constexpr std::size_t max_path_bytes = 1024;
constexpr std::size_t max_host_bytes = 253;  // RFC 1035

// One path of a host, and where it leads.
struct Entry {
    std::string path;
    bool exact = false;
    Target target;
};
using Entries = std::vector<Entry>;

bool covers(const Entry& entry, const Entry& other) {
    if (entry.exact) return other.exact && entry.path == other.path;
    return other.path == entry.path || (other.path.starts_with(entry.path) && other.path[entry.path.size()] == '/');
}

// Entries of `below` that `entries` leaves room for: a rule of the nearer host wins, however short its path is.
void fall_back(Entries& entries, const Entries& below) {
    const auto own = entries.size();
    for (const auto& entry : below) {
        const auto covered = [&](const Entry& mine) { return covers(mine, entry); };
        if (std::none_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(own), covered))
            entries.push_back(entry);
    }
}

json::Object weighted(const Target& target) {
    json::Array services;
    for (const auto& [service, weight] : target.services) {
        json::Object one;
        one["backendService"] = service;
        one["weight"] = weight;
        services.emplace_back(std::move(one));
    }
    json::Object action;
    action["weightedBackendServices"] = std::move(services);
    return action;
}

json::Object not_found() {
    json::Object abort;
    abort["httpStatus"] = 404;
    abort["percentage"] = 100;
    json::Object policy;
    policy["abort"] = std::move(abort);
    json::Object action;
    action["faultInjectionPolicy"] = std::move(policy);
    return action;
}

// Under the names that the members have in this place: "service" and "routeAction", or "defaultService" and so on.
struct Spelling {
    std::string_view service, action, redirect;
};
constexpr Spelling of_rule{"service", "routeAction", "urlRedirect"};
constexpr Spelling of_default{"defaultService", "defaultRouteAction", "defaultUrlRedirect"};

void put(json::Object& into, const Target& target, const std::string& nothing, const Spelling& spelling) {
    switch (target.what) {
        case Target::What::missing:
            into[spelling.service] = nothing;
            into[spelling.action] = not_found();
            break;
        case Target::What::redirect: {
            json::Object redirect;
            redirect["httpsRedirect"] = true;
            redirect["redirectResponseCode"] = "FOUND";
            redirect["stripQuery"] = false;
            into[spelling.redirect] = std::move(redirect);
            break;
        }
        case Target::What::services:
            if (target.services.size() == 1) {
                into[spelling.service] = target.services.front().first;
            } else {
                into[spelling.action] = weighted(target);
            }
            break;
    }
}

json::Object path_matcher(const Entries& entries, const std::string& nothing) {
    json::Object matcher;
    Target otherwise;
    json::Array rules;
    std::set<std::string> exact;
    for (const auto& entry : entries) {
        if (entry.exact) exact.insert(entry.path);
    }
    for (const auto& entry : entries) {
        if (entry.path.empty() && !entry.exact) {
            otherwise = entry.target;
            continue;
        }
        json::Array paths;
        if (entry.exact || !exact.contains(entry.path)) paths.emplace_back(entry.path.empty() ? "/" : entry.path);
        if (!entry.exact) paths.emplace_back(entry.path + "/*");
        json::Object rule;
        rule["paths"] = std::move(paths);
        put(rule, entry.target, nothing, of_rule);
        rules.emplace_back(std::move(rule));
    }
    put(matcher, otherwise, nothing, of_default);
    matcher["pathRules"] = std::move(rules);
    // Hosts that are treated alike share one, and nothing is renamed when another host comes.
    matcher["name"] = "m-" + short_hash(json::serialize(matcher));
    return matcher;
}

struct Host {
    std::string name;
    bool wildcard = false;
    auto operator<=>(const Host&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

// Each host with all that a request for it may come to; "" is any host.
std::map<std::string, Entries> by_pattern(const Targets& targets) {
    std::map<Host, Entries> own;
    for (const auto& [key, target] : targets)
        own[{key.host, key.wildcard}].push_back({key.path, is_exact(key), target});
    std::map<std::string, Entries> made;
    for (const auto& [host, entries] : own) {
        auto all = entries;
        const auto dot = host.name.find('.');
        if (!host.wildcard && dot != std::string::npos) {
            const auto parent = own.find({host.name.substr(dot + 1), true});
            if (parent != own.end()) fall_back(all, parent->second);
        }
        std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
            return std::pair(a.path, !a.exact) < std::pair(b.path, !b.exact);
        });
        const auto pattern = host.name.empty() ? "*" : (host.wildcard ? "*." : "") + host.name;
        made.emplace(pattern, std::move(all));
    }
    return made;
}

}  // namespace

Result<void> check_key(const traffic::RuleKey& key) {
    const auto host_byte = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    };
    if (key.host.size() > max_host_bytes || !std::all_of(key.host.begin(), key.host.end(), host_byte))
        return fail(Errc::invalid, "host", fmt::format("\"{}\" is no host that a URL map takes", key.host));
    const bool odd = std::any_of(key.path.begin(), key.path.end(), [](char c) {
        return c == '*' || c == '?' || c == '#' || static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    });
    if (odd || key.path.size() + 2 > max_path_bytes || (!key.path.empty() && !key.path.starts_with('/')))
        return fail(Errc::invalid, "path",
                    fmt::format("\"{}\" is no path that a URL map takes", key.path.substr(0, 100)));
    return {};
}

json::Object url_map(const Targets& targets, const std::string& nothing) {
    std::map<std::string, json::Object> matchers;              // by name
    std::map<std::string, std::vector<std::string>> hosts_of;  // by name of the matcher
    for (const auto& [pattern, entries] : by_pattern(targets)) {
        auto matcher = path_matcher(entries, nothing);
        const std::string name{json::view(matcher.at("name").get_string())};
        hosts_of[name].push_back(pattern);
        matchers.try_emplace(name, std::move(matcher));
    }
    json::Array rules;
    json::Array all;
    for (const auto& [name, hosts] : hosts_of) {
        json::Array list;
        for (const auto& host : hosts) list.emplace_back(host);
        json::Object rule;
        rule["hosts"] = std::move(list);
        rule["pathMatcher"] = name;
        rules.emplace_back(std::move(rule));
        all.emplace_back(std::move(matchers.at(name)));
    }
    json::Object map;
    map["hostRules"] = std::move(rules);
    map["pathMatchers"] = std::move(all);
    put(map, Target{}, nothing, of_default);
    return map;
}

}  // namespace fairlead::gce
