#include "elb/names.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::elb {
namespace {

constexpr std::size_t balancer_digits = 8;
constexpr std::size_t group_digits = max_name - 3 - balancer_digits - 1;  // "fl-", and a hyphen between

}  // namespace

Result<void> check_balancer_name(const std::string& name) {
    const auto broken = [&](const std::string& rule) {
        return fail(Errc::invalid, "lbName", fmt::format("\"{}\" {}", name, rule));
    };
    if (name.empty() || name.size() > max_name)
        return broken(fmt::format("does not have 1 to {} characters", max_name));
    const bool good = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (!good) return broken("has other characters than letters, digits and hyphens");
    if (name.starts_with('-') || name.ends_with('-')) return broken("begins or ends with a hyphen");
    if (name.starts_with("internal-")) return broken("begins with \"internal-\", which is AWS's own");
    return {};
}

std::string group_prefix(std::string_view installation, std::string_view uid) {
    const auto hash = sha256_hex(fmt::format("{}\n{}", installation, uid));
    return fmt::format("fl-{}-", hash.substr(0, balancer_digits));
}

std::string group_name(std::string_view prefix, std::string_view identity) {
    return fmt::format("{}{}", prefix, sha256_hex(identity).substr(0, group_digits));
}

std::string name_of_group(const std::string& arn) {
    constexpr std::string_view mark = ":targetgroup/";
    const auto at = arn.find(mark);
    if (at == std::string::npos) return arn;
    const auto name = arn.substr(at + mark.size());
    return name.substr(0, name.find('/'));
}

}  // namespace fairlead::elb
