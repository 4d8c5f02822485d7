// Answers of Elastic Load Balancing: whatever arrives is an error or values that keep their promises, and a plan can be
// made from them.
#include "elb/api.h"
#include "elb/plan.h"
#include "fuzz.h"

using namespace fairlead;

namespace {

void check(const aws::Element& member, elb::Present& present) {
    if (const auto balancer = elb::balancer_of(member))
        fuzz::require(!balancer->arn.empty() && !balancer->name.empty(), "a balancer has an ARN and a name");
    if (const auto group = elb::group_of(member)) {
        fuzz::require(!group->arn.empty() && !group->name.empty(), "a group has an ARN and a name");
        present.groups.push_back(*group);
    }
    if (const auto listener = elb::listener_of(member)) {
        fuzz::require(listener->port != 0, "a listener has a port");
        present.listeners.push_back(*listener);
        present.listeners.back().ours = true;
    }
    if (auto rule = elb::rule_of(member)) {
        fuzz::require(rule->priority >= 0 && rule->priority <= 50'000, "a rule has a priority");
        rule->ours = true;
        if (!present.listeners.empty()) present.listeners.back().rules.push_back(*rule);
    }
    if (const auto target = elb::target_of(member))
        fuzz::require(target->first.port != 0 && !target->first.address.empty(), "a target has an address and a port");
    if (const auto tags = elb::tags_of(member)) fuzz::require(!tags->first.empty(), "tags are of something");
    for (const auto& child : member.children) check(child, present);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view xml(reinterpret_cast<const char*>(data), size);
    (void)aws::parse_error(xml);
    const auto document = aws::parse_xml(xml);
    if (!document) return 0;
    elb::Present present;
    check(*document, present);
    for (const auto& step : elb::plan_of(present, {}).steps)
        fuzz::require(!elb::text_of(step).empty(), "a step can be told");
    return 0;
}
