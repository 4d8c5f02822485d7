// Present and wanted into calls, in their order. Pure. Make before break: groups and their targets first, then
// listeners and rules, and only then is removed what nothing leads to any more. Nothing that is not ours is in any
// step.
//
// Steps name groups by name and listeners by port, because what does not exist yet has no ARN; rules that are there by
// ARN.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "elb/state.h"

namespace fairlead::elb {

struct CreateGroup {
    WantedGroup group;
    bool operator==(const CreateGroup&) const = default;
};
// The health check, of a group that was made with another.
struct ModifyGroup {
    WantedGroup group;
    bool operator==(const ModifyGroup&) const = default;
};
struct SetAttributes {
    WantedGroup group;
    bool operator==(const SetAttributes&) const = default;
};
// The tag that says that all settings of the group are in force.
struct MarkGroup {
    WantedGroup group;
    bool operator==(const MarkGroup&) const = default;
};
struct RegisterTargets {
    std::string group;
    std::vector<Target> targets;
    std::set<std::string> owners;
    bool operator==(const RegisterTargets&) const = default;
};
struct DeregisterTargets {
    std::string group;
    std::vector<Target> targets;
    bool operator==(const DeregisterTargets&) const = default;
};
struct DeleteGroup {
    std::string group;
    bool operator==(const DeleteGroup&) const = default;
};
struct CreateListener {
    WantedListener listener;  // without its rules
    bool operator==(const CreateListener&) const = default;
};
struct ModifyListener {
    WantedListener listener;  // without its rules
    bool operator==(const ModifyListener&) const = default;
};
struct AddCertificates {
    std::uint16_t port = 0;
    std::vector<std::string> arns;
    bool operator==(const AddCertificates&) const = default;
};
struct RemoveCertificates {
    std::uint16_t port = 0;
    std::vector<std::string> arns;
    bool operator==(const RemoveCertificates&) const = default;
};
struct DeleteListener {
    std::uint16_t port = 0;
    bool operator==(const DeleteListener&) const = default;
};
// All at once, so that rules never stand in a wrong order.
struct SetPriorities {
    std::uint16_t port = 0;
    std::vector<std::pair<std::string, int>> priorities;  // by ARN, or by the name that the plan has for a new one
    bool operator==(const SetPriorities&) const = default;
};
struct CreateRule {
    std::uint16_t port = 0;
    int priority = 0;
    WantedRule rule;
    std::string name;  // for later steps: "+80/3"
    bool operator==(const CreateRule&) const = default;
};
struct ModifyRule {
    std::string arn;
    WantedRule rule;
    bool operator==(const ModifyRule&) const = default;
};
struct DeleteRule {
    std::string arn;
    bool operator==(const DeleteRule&) const = default;
};

using Step = std::variant<CreateGroup, ModifyGroup, SetAttributes, MarkGroup, RegisterTargets, CreateListener,
                          ModifyListener, AddCertificates, SetPriorities, ModifyRule, CreateRule, DeleteRule,
                          RemoveCertificates, DeleteListener, DeregisterTargets, DeleteGroup>;

struct Plan {
    std::vector<Step> steps;
    std::map<std::string, std::string> problems;  // by owner, of what somebody else is in the way of
    bool operator==(const Plan&) const = default;
};

Plan plan_of(const Present& present, const Wanted& wanted);

// "CreateRule 80 #3 acme.test /cart,/cart/* -> fl-...=1", for logs and tests.
std::string text_of(const Step& step);
// Whose the step is; none: nobody's alone.
std::set<std::string> owners_of(const Step& step);

}  // namespace fairlead::elb
