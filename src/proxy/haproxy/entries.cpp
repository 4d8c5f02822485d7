#include "proxy/haproxy/entries.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "proxy/names.h"

namespace fairlead::proxy::haproxy {

namespace {

char letter(traffic::Tls tls) {
    switch (tls) {
        case traffic::Tls::none:
            return 'n';
        case traffic::Tls::terminate:
            return 't';
        case traffic::Tls::passthrough:
            return 'p';
    }
    return 'n';
}

char letter(const traffic::Rule& rule) {
    switch (rule.plain) {
        // What is passed through unopened has no pool that speaks HTTP.
        case traffic::Plain::serve:
            return rule.tls == traffic::Tls::passthrough ? 'x' : 's';
        case traffic::Plain::redirect:
            return 'r';
        case traffic::Plain::refuse:
            return 'x';
    }
    return 'x';
}

std::string value_of(const traffic::Rule& rule, char first, const FindPool& find_pool) {
    const auto view = find_pool(rule.pool);
    const bool fits = view.pool != nullptr &&
                      (view.pool->protocol == traffic::PoolProtocol::tcp) == (rule.tls == traffic::Tls::passthrough);
    const std::string_view backend = fits && view.backend != nullptr ? std::string_view(*view.backend) : no_backend;
    const auto timeout = fits && view.pool->server_timeout ? view.pool->server_timeout->count() : 0;
    const auto sni = fits && view.pool->tls ? std::string_view(view.pool->tls->server_name) : std::string_view{};
    return fmt::format("{}{}{}:{}:{}:{}:{}", first, letter(rule.tls), letter(rule), backend, timeout,
                       percent_encode(sni), encoded(rule.pool));
}

}  // namespace

Result<void> check(const traffic::RuleKey& key) {
    const auto in_host = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    };
    if ((key.host.empty() && key.wildcard) || key.host.size() > 253 ||
        !std::all_of(key.host.begin(), key.host.end(), in_host)) {
        return fail(Errc::invalid, "host", fmt::format("'{}' is no host name in lower case", key.host));
    }
    if (key.exact && !key.path.starts_with('/')) {
        return fail(Errc::invalid, "path", fmt::format("'{}' does not begin with '/'", key.path));
    }
    if (!key.exact && !key.path.empty() && (key.path.front() != '/' || key.path.back() == '/')) {
        return fail(Errc::invalid, "path", fmt::format("'{}' does not begin with '/', or ends with it", key.path));
    }
    const auto in_path = [](char c) { return c > ' ' && c < 0x7f && c != '?' && c != '#'; };
    if (key.path.size() > 2048 || !std::all_of(key.path.begin(), key.path.end(), in_path)) {
        return fail(Errc::invalid, "path", fmt::format("'{}' is no path that a request can have", key.path));
    }
    return {};
}

std::string problem_text(const traffic::RuleKey& key, const Error& error) {
    return fmt::format("{}: {}", traffic::rule_text({key.host, key.wildcard, ""}), error.text());
}

std::string map_name(std::string_view host) { return std::string(host.empty() ? "*" : host); }

std::string exact_name(std::string_view host, bool wildcard) {
    return wildcard ? fmt::format("*.{}", host) : map_name(host);
}

GroupEntries entries_of(const traffic::RoutingTable& table, std::string_view host, bool wildcard,
                        const FindPool& find_pool) {
    GroupEntries group;
    const traffic::Rule* root = nullptr;
    auto rule = table.rules.lower_bound(traffic::RuleKey{std::string(host), wildcard, ""});
    for (; rule != table.rules.end() && rule->first.host == host && rule->first.wildcard == wildcard; ++rule) {
        if (!check(rule->first)) continue;
        const auto& path = rule->first.path;
        if (rule->first.exact) {
            group.exact.push_back({exact_name(host, wildcard) + path, value_of(rule->second, 'R', find_pool)});
        } else if (path.empty()) {
            root = &rule->second;
        } else {
            group.paths.push_back({fmt::format("{}{}/", map_name(host), path), value_of(rule->second, 'R', find_pool)});
        }
    }
    const char first = !group.exact.empty() ? 'E' : !group.paths.empty() ? 'P' : 'R';
    if (root != nullptr) {
        group.host = Entry{map_name(host), value_of(*root, first, find_pool)};
    } else if (first != 'R') {
        group.host = Entry{map_name(host), fmt::format("{}--:", first)};
    }
    return group;
}

std::string port_value(std::string_view backend, std::string_view pool) {
    return fmt::format("R--:{}:0::{}", backend, encoded(pool));
}

Target parse_value(std::string_view value) {
    const auto fields = split(value, ':');
    if (fields.size() < 5 || fields[1] == no_backend) return {};
    // Pool names are percent-encoded: they hold no colon.
    return {std::string(fields[1]), percent_decode(fields[4], false).value_or("")};
}

}  // namespace fairlead::proxy::haproxy
