#include "elb/names.h"

#include <fmt/core.h>

#include "base/text.h"
#include "resource/kinds/load_balancer_source.h"

namespace fairlead::elb {
namespace {

constexpr std::size_t balancer_digits = 8;
constexpr std::size_t group_digits = resource::max_aws_name - 3 - balancer_digits - 1;  // "fl-", and a hyphen between

}  // namespace

Result<void> check_balancer_name(const std::string& name) {
    if (const auto broken = resource::broken_aws_name_rule(name)) {
        return fail(Errc::invalid, "spec.awsLoadBalancer.lbName", fmt::format("\"{}\" {}", name, *broken));
    }
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
