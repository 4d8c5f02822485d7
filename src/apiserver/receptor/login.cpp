#include "apiserver/receptor/login.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::apiserver::receptor {

namespace {

// The text behind "Basic " or the like, whatever its case; nothing for another scheme.
std::optional<std::string_view> after_scheme(std::string_view header, std::string_view scheme) {
    header = trim(header);
    if (header.size() <= scheme.size() || !equal_ignoring_case(header.substr(0, scheme.size()), scheme)) {
        return std::nullopt;
    }
    if (header[scheme.size()] != ' ') return std::nullopt;
    return trim(header.substr(scheme.size()));
}

std::optional<Login> basic_login(std::string_view header) {
    const auto encoded = after_scheme(header, "basic");
    if (!encoded) return std::nullopt;
    const auto text = from_base64(*encoded);
    if (!text) return Login{};  // shown, and no good
    const auto colon = text->find(':');
    if (colon == std::string::npos) return Login{};
    return Login{text->substr(0, colon), text->substr(colon + 1)};
}

std::string_view cookie_of(const net::Headers& headers) {
    for (const auto& [name, value] : headers.items()) {
        if (!equal_ignoring_case(name, "Cookie")) continue;
        for (auto pair : split(value, ';')) {
            pair = trim(pair);
            const auto equals = pair.find('=');
            if (equals == std::string_view::npos || pair.substr(0, equals) != cookie_name) continue;
            auto text = pair.substr(equals + 1);
            const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
            return quoted ? text.substr(1, text.size() - 2) : text;
        }
    }
    return {};
}

bool listed(std::string_view origin, const std::vector<std::string>& origins) {
    return std::any_of(origins.begin(), origins.end(),
                       [&](const std::string& one) { return equal_ignoring_case(one, origin); });
}

bool own_site(const net::Request& request) {
    const auto origin = request.headers.get("Origin");
    const auto site = request.headers.get("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") return false;
    if (origin.empty()) return true;
    const auto slashes = origin.find("://");
    return slashes != std::string_view::npos &&
           equal_ignoring_case(origin.substr(slashes + 3), request.headers.get("Host"));
}

}  // namespace

std::optional<Login> login_of(const net::Request& request, const std::vector<std::string>& origins) {
    if (request.headers.has("Authorization")) return basic_login(request.headers.get("Authorization"));
    const auto cookie = cookie_of(request.headers);
    if (cookie.empty()) return std::nullopt;
    if (!own_site(request) && !listed(request.headers.get("Origin"), origins)) return std::nullopt;
    if (auto login = basic_login(cookie)) return login;
    const auto token = after_scheme(cookie, "bearer");
    return token ? std::optional(Login{"", std::string(*token)}) : Login{};
}

std::string cookie_for(const net::Request& request, bool shared) {
    const auto header = trim(request.headers.get("Authorization"));
    const auto fits = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != ';' && c != ','; };
    if (header.empty() || !std::all_of(header.begin(), header.end(), fits)) return {};
    return std::string(cookie_name) + "=\"" + std::string(header) +
           "\"; Path=/v1/; HttpOnly; Secure; SameSite=" + (shared ? "None" : "Strict");
}

net::Headers cors_headers(const net::Request& request, const std::vector<std::string>& origins) {
    net::Headers headers;
    const auto origin = request.headers.get("Origin");
    if (!origins.empty()) headers.set("Vary", "Origin");
    if (origin.empty() || origin == "*" || !listed(origin, origins)) return headers;
    headers.set("Access-Control-Allow-Origin", std::string(origin));
    headers.set("Access-Control-Allow-Credentials", "true");
    return headers;
}

net::Headers preflight_headers(const net::Request& request) {
    net::Headers headers;
    for (const std::string what : {"Method", "Headers"}) {
        const auto asked = request.headers.get("Access-Control-Request-" + what);
        if (asked.empty()) continue;
        headers.set(what == "Method" ? "Access-Control-Allow-Methods" : "Access-Control-Allow-Headers",
                    std::string(asked));
    }
    return headers;
}

}  // namespace fairlead::apiserver::receptor
