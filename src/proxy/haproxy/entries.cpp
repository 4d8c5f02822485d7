#include "proxy/haproxy/entries.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

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

// As a value of a map: no colon, no space; "/" stays, because people read it in the access log.
std::string encode(std::string_view name) {
    std::string text;
    for (const auto part : split(name, '/')) {
        if (!text.empty() || part.data() != name.data()) text += '/';
        text += percent_encode(part);
    }
    return text;
}

std::string value_of(const traffic::Rule& rule, bool has_paths, const FindPool& find_pool) {
    const auto view = find_pool(rule.pool);
    const bool fits = view.pool != nullptr &&
                      (view.pool->protocol == traffic::PoolProtocol::tcp) == (rule.tls == traffic::Tls::passthrough);
    const std::string_view backend = fits && view.backend != nullptr ? std::string_view(*view.backend) : no_backend;
    const auto timeout = fits && view.pool->server_timeout ? view.pool->server_timeout->count() : 0;
    const auto sni = fits && view.pool->tls ? std::string_view(view.pool->tls->server_name) : std::string_view{};
    return fmt::format("{}{}{}:{}:{}:{}:{}", has_paths ? 'P' : 'R', letter(rule.tls), letter(rule), backend, timeout,
                       percent_encode(sni), encode(rule.pool));
}

}  // namespace

Result<void> check(const traffic::RuleKey& key) {
    const auto in_host = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    };
    if (key.host.empty() || key.host.size() > 253 || !std::all_of(key.host.begin(), key.host.end(), in_host)) {
        return fail(Errc::invalid, "host", fmt::format("'{}' is no host name in lower case", key.host));
    }
    if (!key.path.empty() && (key.path.front() != '/' || key.path.back() == '/')) {
        return fail(Errc::invalid, "path", fmt::format("'{}' does not begin with '/', or ends with it", key.path));
    }
    const auto in_path = [](char c) { return c > ' ' && c < 0x7f && c != '?' && c != '#'; };
    if (key.path.size() > 2048 || !std::all_of(key.path.begin(), key.path.end(), in_path)) {
        return fail(Errc::invalid, "path", fmt::format("'{}' is no path that a request can have", key.path));
    }
    return {};
}

GroupEntries entries_of(const traffic::RoutingTable& table, std::string_view host, bool wildcard,
                        const FindPool& find_pool) {
    GroupEntries group;
    const traffic::Rule* root = nullptr;
    auto rule = table.rules.lower_bound(traffic::RuleKey{std::string(host), wildcard, ""});
    for (; rule != table.rules.end() && rule->first.host == host && rule->first.wildcard == wildcard; ++rule) {
        if (!check(rule->first)) continue;
        if (rule->first.path.empty()) {
            root = &rule->second;
        } else {
            group.paths.push_back(
                {fmt::format("{}{}/", host, rule->first.path), value_of(rule->second, false, find_pool)});
        }
    }
    if (root != nullptr) {
        group.host = Entry{std::string(host), value_of(*root, !group.paths.empty(), find_pool)};
    } else if (!group.paths.empty()) {
        group.host = Entry{std::string(host), "P--:"};
    }
    return group;
}

std::string port_value(std::string_view backend, std::string_view pool) {
    return fmt::format("R--:{}:0::{}", backend, encode(pool));
}

Target parse_value(std::string_view value) {
    const auto fields = split(value, ':');
    if (fields.size() < 5 || fields[1] == no_backend) return {};
    // Pool names are percent-encoded: they hold no colon.
    return {std::string(fields[1]), percent_decode(fields[4], false).value_or("")};
}

}  // namespace fairlead::proxy::haproxy
