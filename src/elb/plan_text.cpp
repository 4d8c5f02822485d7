// Steps for people, and whose they are.
#include <fmt/core.h>

#include "base/text.h"
#include "elb/overloaded.h"
#include "elb/plan.h"

namespace fairlead::elb {
namespace {

std::string targets_text(const std::vector<Target>& targets) {
    std::vector<std::string> words;
    words.reserve(targets.size());
    for (const auto& target : targets) words.push_back(fmt::format("{}:{}", target.address, target.port));
    return join(words, ",");
}

std::string action_text(const Action& action) {
    switch (action.type) {
        case Action::Type::redirect:
            return "redirect";
        case Action::Type::fixed:
            return std::to_string(action.status);
        case Action::Type::forward:
            break;
    }
    std::vector<std::string> words;
    words.reserve(action.shares.size());
    for (const auto& share : action.shares) words.push_back(fmt::format("{}={}", share.group, share.weight));
    return join(words, ",") + (action.sticky ? " sticky" : "");
}

std::string rule_text(const WantedRule& rule) {
    return fmt::format("{} {} -> {}", rule.matching.host.empty() ? "*" : rule.matching.host,
                       rule.matching.paths.empty() ? "*" : join(rule.matching.paths, ","), action_text(rule.action));
}

std::string listener_text(const WantedListener& listener) {
    return fmt::format("{} {}{}{} -> {}", listener.port, listener.protocol, listener.certificates.empty() ? "" : " ",
                       listener.certificates.empty() ? "" : listener.certificates.front(),
                       action_text(listener.fallback));
}

std::set<std::string> owners_of_listener(const WantedListener& listener) {
    if (listener.owner.empty()) return {};
    return {listener.owner};
}

}  // namespace

std::string text_of(const Step& step) {
    return std::visit(Overloaded{
                          [](const CreateGroup& s) {
                              return fmt::format("CreateTargetGroup {} {} {}", s.group.name, s.group.protocol,
                                                 s.group.family);
                          },
                          [](const ModifyGroup& s) { return "ModifyTargetGroup " + s.group.name; },
                          [](const SetAttributes& s) { return "ModifyTargetGroupAttributes " + s.group.name; },
                          [](const MarkGroup& s) { return "AddTags " + s.group.name; },
                          [](const RegisterTargets& s) {
                              return fmt::format("RegisterTargets {} {}", s.group, targets_text(s.targets));
                          },
                          [](const CreateListener& s) { return "CreateListener " + listener_text(s.listener); },
                          [](const ModifyListener& s) { return "ModifyListener " + listener_text(s.listener); },
                          [](const AddCertificates& s) {
                              return fmt::format("AddListenerCertificates {} {}", s.port, join(s.arns, ","));
                          },
                          [](const SetPriorities& s) {
                              std::vector<std::string> words;
                              words.reserve(s.priorities.size());
                              for (const auto& [arn, priority] : s.priorities)
                                  words.push_back(fmt::format("{}=#{}", arn, priority));
                              return fmt::format("SetRulePriorities {} {}", s.port, join(words, ","));
                          },
                          [](const ModifyRule& s) { return fmt::format("ModifyRule {} {}", s.arn, rule_text(s.rule)); },
                          [](const CreateRule& s) {
                              return fmt::format("CreateRule {} #{} {}", s.port, s.priority, rule_text(s.rule));
                          },
                          [](const DeleteRule& s) { return "DeleteRule " + s.arn; },
                          [](const RemoveCertificates& s) {
                              return fmt::format("RemoveListenerCertificates {} {}", s.port, join(s.arns, ","));
                          },
                          [](const DeleteListener& s) { return fmt::format("DeleteListener {}", s.port); },
                          [](const DeregisterTargets& s) {
                              return fmt::format("DeregisterTargets {} {}", s.group, targets_text(s.targets));
                          },
                          [](const DeleteGroup& s) { return "DeleteTargetGroup " + s.group; },
                      },
                      step);
}

std::set<std::string> owners_of(const Step& step) {
    using Owners = std::set<std::string>;
    return std::visit(Overloaded{
                          [](const CreateGroup& s) { return s.group.owners; },
                          [](const ModifyGroup& s) { return s.group.owners; },
                          [](const SetAttributes& s) { return s.group.owners; },
                          [](const MarkGroup& s) { return s.group.owners; },
                          [](const RegisterTargets& s) { return s.owners; },
                          [](const CreateListener& s) { return owners_of_listener(s.listener); },
                          [](const ModifyListener& s) { return owners_of_listener(s.listener); },
                          [](const ModifyRule& s) { return Owners{s.rule.owner}; },
                          [](const CreateRule& s) { return Owners{s.rule.owner}; },
                          [](const auto&) { return Owners{}; },
                      },
                      step);
}

}  // namespace fairlead::elb
