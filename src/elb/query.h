// Requests of the Query API as lists of fields, and answers as values. Pure; answers come from the network and may be
// anything: what cannot be read is corrupt, saying what is missing.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "aws/xml.h"
#include "balancer/provider.h"
#include "elb/plan.h"
#include "elb/settings.h"

namespace fairlead::elb {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Query {
    std::string operation;
    Fields fields;
};

// What things are called that steps name otherwise.
struct Arns {
    std::string balancer, vpc;
    Tags tags;                                       // of all that is made
    std::map<std::string, std::string> groups;       // by name
    std::map<std::uint16_t, std::string> listeners;  // by port
    std::map<std::string, std::string> rules;        // by the names that the plan has for new ones
};
// Errors: not_found (the step needs something that could not be made).
Result<Query> query_of(const Step& step, const Arns& arns);
// Takes what the answer says that there is now.
void learn(const Step& step, const aws::Element& result, Arns& arns);

Query create_balancer(const balancer::Order& order, const BalancerSettings& settings, const Tags& tags);

// "ResourceArns.member.1", ...
Fields members(const std::string& name, const std::vector<std::string>& values);

struct Balancer {
    std::string arn, name, dns_name, scheme, type, vpc, state, reason;
    bool operator==(const Balancer&) const = default;
};
Result<Balancer> balancer_of(const aws::Element& member);
Result<PresentGroup> group_of(const aws::Element& member);        // without targets and settings
Result<PresentListener> listener_of(const aws::Element& member);  // without rules and whose it is
// The one for the rest has priority 0.
Result<PresentRule> rule_of(const aws::Element& member);
Result<std::pair<Target, std::string>> target_of(const aws::Element& member);  // and its state
Result<std::pair<std::string, Tags>> tags_of(const aws::Element& member);      // by ARN

}  // namespace fairlead::elb
