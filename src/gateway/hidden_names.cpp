#include "gateway/hidden_names.h"

#include <fmt/core.h>

#include <set>

#include "dns/name.h"

namespace fairlead::gateway {

std::vector<TreeProblem> hidden_names(const std::vector<HostTree>& hosts, const std::vector<HostTree>& all) {
    std::vector<TreeProblem> problems;
    std::set<std::string> published;
    for (const auto& each : all) published.insert(each.host);
    for (const auto& wild : hosts) {
        const auto wildcard = dns::Name::parse(wild.host);
        if (!wildcard || !wildcard->is_wildcard()) continue;
        const auto base = wildcard->parent();
        for (const auto& other : all) {
            auto name = dns::Name::parse(other.host);
            if (!name || *name == *wildcard || !name->at_or_below(base) || *name == base) continue;
            // Each name from the host up to the wildcard's domain exists now, if only because of what is below it.
            std::vector<std::string> hidden;
            if (name->is_wildcard()) *name = name->parent();
            for (; *name != base; *name = name->parent()) {
                const auto host = name->host();
                if (!published.contains(host)) hidden.push_back(host);
                if (!published.contains("*." + host)) hidden.push_back("*." + host);
            }
            if (hidden.empty()) continue;
            std::string list;
            for (const auto& each : hidden) list += (list.empty() ? "" : ", ") + each;
            problems.push_back({TreeProblem::Kind::hidden_names, wild.host,
                                fmt::format("{}: since {} is published, DNS does not answer for {}, which its listener "
                                            "would route; add listeners for these hosts if they are wanted",
                                            wild.host, other.host, list)});
        }
    }
    return problems;
}

}  // namespace fairlead::gateway
