#include "apiserver/health.h"

#include <fmt/core.h>

namespace fairlead::apiserver {

std::optional<net::Response> Health::serve(std::string_view path, const QueryOptions& options,
                                           bool show_reasons) const {
    std::string_view group;
    for (const std::string_view name : {"livez", "readyz", "healthz"}) {
        if (path.substr(1) == name || path.substr(1).starts_with(std::string(name) + "/")) group = name;
    }
    if (group.empty()) return std::nullopt;
    const auto rest = path.substr(1 + group.size());
    const std::string_view only = rest.empty() ? rest : rest.substr(1);

    std::vector<const Named*> checks;
    for (const auto& check : live_) checks.push_back(&check);
    if (group != "livez") {
        for (const auto& check : ready_) checks.push_back(&check);
    }
    net::Response response;
    response.headers.set("Content-Type", "text/plain; charset=utf-8");
    response.headers.set("Cache-Control", "no-cache, private");
    response.headers.set("X-Content-Type-Options", "nosniff");
    std::string lines;
    bool failed = false;
    bool found = only.empty();
    std::vector<std::string> excluded = options.exclude;
    for (const auto* named : checks) {
        if (!only.empty() && named->name != only) continue;
        found = true;
        const auto exclusion = std::find(excluded.begin(), excluded.end(), named->name);
        if (exclusion != excluded.end()) {
            excluded.erase(exclusion);
            lines += fmt::format("[+]{} excluded: ok\n", named->name);
            continue;
        }
        const auto problem = named->check();
        if (problem) {
            failed = true;
            lines += fmt::format("[-]{} failed: {}\n", named->name, show_reasons ? *problem : "reason withheld");
        } else {
            lines += fmt::format("[+]{} ok\n", named->name);
        }
    }
    if (!found) {
        response.status = 404;
        response.body = "404 page not found\n";
        return response;
    }
    for (const auto& name : excluded)
        lines += fmt::format("warn: some health checks cannot be excluded: no matches for \"{}\"\n", name);
    if (failed) {
        response.status = 500;
        response.body = lines + fmt::format("{} check failed\n", group);
    } else {
        response.body = options.verbose ? lines + fmt::format("{} check passed\n", group) : std::string("ok");
    }
    return response;
}

}  // namespace fairlead::apiserver
