#include "elb/matching.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace fairlead::elb {
namespace {

constexpr std::size_t max_value = 128;  // of a condition
constexpr std::string_view path_marks = "_-.$/~\"'@:+&";

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool digit(char c) { return c >= '0' && c <= '9'; }

Result<void> check_host(std::string_view host) {
    const auto broken = [&](std::string_view why) {
        return fail(Errc::invalid, "host", fmt::format("\"{}\" {}", host, why));
    };
    if (host.size() > max_value) return broken(fmt::format("has more than {} characters", max_value));
    const auto name = host.starts_with("*.") ? host.substr(2) : host;
    if (!std::all_of(name.begin(), name.end(), [](char c) { return letter(c) || digit(c) || c == '-' || c == '.'; }))
        return broken("has other characters than letters, digits, hyphens and dots");
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos) return broken("has no dot, which conditions of AWS take");
    const auto last = name.substr(dot + 1);
    if (last.empty() || !std::all_of(last.begin(), last.end(), letter))
        return broken("has other characters than letters behind its last dot");
    return {};
}

Result<void> check_path(std::string_view path) {
    const auto broken = [&](std::string_view why) {
        return fail(Errc::invalid, "path", fmt::format("\"{}\" {}", path, why));
    };
    if (path.size() + 2 > max_value) return broken(fmt::format("has more than {} characters", max_value - 2));
    for (const char c : path) {
        if (letter(c) || digit(c) || path_marks.find(c) != std::string_view::npos) continue;
        return broken(fmt::format("has the character '{}', which conditions of AWS do not take as it stands", c));
    }
    return {};
}

int host_class(const Matching& matching) {
    if (matching.host.empty()) return 2;
    return matching.host.starts_with("*.") ? 1 : 0;
}

// The path itself, and whether it is meant alone.
std::pair<std::string_view, bool> path_of(const Matching& matching) {
    if (matching.paths.empty()) return {"", false};
    return {matching.paths.front(), matching.paths.size() == 1};
}

}  // namespace

Result<Matching> matching_of(std::string_view host, bool wildcard, std::string_view path, bool exact) {
    Matching matching;
    if (!host.empty()) {
        matching.host = fmt::format("{}{}", wildcard ? "*." : "", host);
        if (const auto good = check_host(matching.host); !good) return fail(good.error());
    }
    if (path.empty() && !exact) return matching;
    const std::string only(path.empty() ? "/" : path);
    if (const auto good = check_path(only); !good) return fail(good.error());
    matching.paths.push_back(only);
    if (!exact) matching.paths.push_back(only + "/*");
    return matching;
}

bool tried_before(const Matching& a, const Matching& b) {
    const auto row = [](const Matching& m) {
        const auto [path, alone] = path_of(m);
        const auto kind = host_class(m);
        // Of exact hosts it does not matter, and by name they are found by people.
        const auto length = kind == 1 ? -static_cast<std::int64_t>(m.host.size()) : 0;
        return std::tuple(kind, length, std::string_view(m.host), -static_cast<std::int64_t>(path.size()), !alone,
                          path);
    };
    if (row(a) != row(b)) return row(a) < row(b);
    return a < b;
}

bool may_overlap(const Matching& a, const Matching& b) {
    if (a.host.empty() || b.host.empty() || a.host == b.host) return true;
    const auto below = [](const Matching& wild, const Matching& other) {
        return wild.host.starts_with("*.") &&
               std::string_view(other.host).ends_with(std::string_view(wild.host).substr(1));
    };
    return below(a, b) || below(b, a);
}

bool covers(std::string_view pattern, std::string_view host) {
    if (pattern.empty() || pattern == host) return true;
    if (!pattern.starts_with("*.")) return false;
    const auto dot = host.find('.');
    return dot != std::string_view::npos && host.substr(dot) == pattern.substr(1);
}

}  // namespace fairlead::elb
