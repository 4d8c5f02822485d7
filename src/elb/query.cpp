#include "elb/query.h"

#include <fmt/core.h>

#include <algorithm>

#include "elb/names.h"
#include "elb/overloaded.h"
#include "elb/wanted.h"

namespace fairlead::elb {
namespace {

constexpr int stick_seconds = 86'400;              // a day, as AWS's cookie for targets lasts
constexpr std::string_view port_of_groups = "80";  // each target has its own

class Writer {
public:
    explicit Writer(const Arns& arns) : arns_(arns) {}

    Writer& put(std::string name, std::string value) {
        fields_.emplace_back(std::move(name), std::move(value));
        return *this;
    }
    Writer& tags(const Tags& tags) {
        std::size_t n = 0;
        for (const auto& [key, value] : tags) {
            ++n;
            put(fmt::format("Tags.member.{}.Key", n), key).put(fmt::format("Tags.member.{}.Value", n), value);
        }
        return *this;
    }
    Writer& group(const std::string& field, const std::string& name) {
        return known(field, arns_.groups, name, "target group");
    }
    Writer& listener(std::uint16_t port) {
        return known("ListenerArn", arns_.listeners, port, fmt::format("listener of port {}", port));
    }
    Writer& rule(const std::string& field, const std::string& name) {
        if (!name.starts_with('+')) return put(field, name);
        return known(field, arns_.rules, name, "rule");
    }
    Writer& targets(const std::vector<Target>& all) {
        std::size_t n = 0;
        for (const auto& target : all) {
            ++n;
            put(fmt::format("Targets.member.{}.Id", n), target.address);
            put(fmt::format("Targets.member.{}.Port", n), std::to_string(target.port));
        }
        return *this;
    }
    Writer& certificates(const std::vector<std::string>& arns) {
        for (std::size_t i = 0; i < arns.size(); ++i)
            put(fmt::format("Certificates.member.{}.CertificateArn", i + 1), arns[i]);
        return *this;
    }
    Writer& action(const std::string& list, const Action& action);
    Writer& conditions(const Matching& matching);
    Writer& check(const HealthCheck& check);
    Writer& listener_settings(const WantedListener& listener);

    Result<Query> done(std::string operation) {
        if (!missing_.empty()) return fail(Errc::not_found, fmt::format("its {} could not be made", missing_));
        return Query{std::move(operation), std::move(fields_)};
    }

private:
    template <class Map, class Key>
    Writer& known(const std::string& field, const Map& map, const Key& key, const std::string& what) {
        const auto found = map.find(key);
        if (found == map.end()) {
            missing_ = what;
            return *this;
        }
        return put(field, found->second);
    }

    const Arns& arns_;
    Fields fields_;
    std::string missing_;
};

Writer& Writer::action(const std::string& list, const Action& action) {
    const auto one = list + ".member.1.";
    switch (action.type) {
        case Action::Type::redirect:
            put(one + "Type", "redirect").put(one + "RedirectConfig.Protocol", "HTTPS");
            return put(one + "RedirectConfig.Port", "443").put(one + "RedirectConfig.StatusCode", "HTTP_301");
        case Action::Type::fixed:
            put(one + "Type", "fixed-response");
            return put(one + "FixedResponseConfig.StatusCode", std::to_string(action.status));
        case Action::Type::forward:
            break;
    }
    put(one + "Type", "forward");
    for (std::size_t i = 0; i < action.shares.size(); ++i) {
        const auto to = fmt::format("{}ForwardConfig.TargetGroups.member.{}.", one, i + 1);
        group(to + "TargetGroupArn", action.shares[i].group);
        if (action.shares.size() > 1) put(to + "Weight", std::to_string(action.shares[i].weight));
    }
    if (action.sticky) {
        put(one + "ForwardConfig.TargetGroupStickinessConfig.Enabled", "true");
        put(one + "ForwardConfig.TargetGroupStickinessConfig.DurationSeconds", std::to_string(stick_seconds));
    }
    return *this;
}

Writer& Writer::conditions(const Matching& matching) {
    int n = 0;
    if (!matching.host.empty()) {
        const auto one = fmt::format("Conditions.member.{}.", ++n);
        put(one + "Field", "host-header").put(one + "HostHeaderConfig.Values.member.1", matching.host);
    }
    if (!matching.paths.empty()) {
        const auto one = fmt::format("Conditions.member.{}.", ++n);
        put(one + "Field", "path-pattern");
        for (std::size_t i = 0; i < matching.paths.size(); ++i)
            put(fmt::format("{}PathPatternConfig.Values.member.{}", one, i + 1), matching.paths[i]);
    }
    return *this;
}

Writer& Writer::check(const HealthCheck& check) {
    put("HealthCheckProtocol", check.protocol);
    put("HealthCheckIntervalSeconds", std::to_string(check.interval_seconds));
    put("HealthCheckTimeoutSeconds", std::to_string(check.timeout_seconds));
    put("HealthyThresholdCount", std::to_string(check.healthy));
    put("UnhealthyThresholdCount", std::to_string(check.unhealthy));
    if (!check.path.empty()) put("HealthCheckPath", check.path);
    if (!check.matcher.empty()) put("Matcher.HttpCode", check.matcher);
    return *this;
}

Writer& Writer::listener_settings(const WantedListener& listener) {
    put("Port", std::to_string(listener.port)).put("Protocol", listener.protocol);
    if (!listener.ssl_policy.empty()) put("SslPolicy", listener.ssl_policy);
    if (!listener.certificates.empty()) certificates({listener.certificates.front()});
    return action("DefaultActions", listener.fallback);
}

Result<std::string> needed(const aws::Element& member, const char* name) {
    auto text = member.at(name);
    if (text.empty()) return fail(Errc::corrupt, fmt::format("the answer has a {} without {}", member.name, name));
    return text;
}

Action action_of(const std::vector<aws::Element>& actions) {
    Action made;
    made.status = 0;
    // Authentication before it, or something newer: not as we would have written it.
    if (actions.size() != 1) return made;
    const auto& member = actions.front();
    const auto type = member.at("Type");
    if (type == "redirect") {
        const auto* config = member.child("RedirectConfig");
        if (config != nullptr && config->at("Protocol") == "HTTPS" && config->at("Port") == "443" &&
            config->at("StatusCode") == "HTTP_301")
            made.type = Action::Type::redirect;
    } else if (type == "fixed-response") {
        const auto* config = member.child("FixedResponseConfig");
        if (config != nullptr) made.status = static_cast<int>(config->int_at("StatusCode").value_or(0));
    } else if (type == "forward") {
        made.type = Action::Type::forward;
        if (const auto* config = member.child("ForwardConfig")) {
            for (const auto& group : config->list("TargetGroups")) {
                made.shares.push_back(
                    {name_of_group(group.at("TargetGroupArn")), static_cast<int>(group.int_at("Weight").value_or(1))});
            }
            if (const auto* sticky = config->child("TargetGroupStickinessConfig"))
                made.sticky = sticky->at("Enabled") == "true";
        }
        if (made.shares.empty()) made.shares.push_back({name_of_group(member.at("TargetGroupArn")), 1});
        // Of one alone the weight says nothing.
        if (made.shares.size() == 1) made.shares.front().weight = 1;
        std::sort(made.shares.begin(), made.shares.end());
    }
    return made;
}

std::vector<std::string> texts(const aws::Element& condition, const char* config) {
    std::vector<std::string> all;
    const auto* of = condition.child(config);
    const auto& values = of == nullptr ? condition.list("Values") : of->list("Values");
    for (const auto& value : values) all.push_back(value.text);
    return all;
}

}  // namespace

Fields members(const std::string& name, const std::vector<std::string>& values) {
    Fields fields;
    for (std::size_t i = 0; i < values.size(); ++i)
        fields.emplace_back(fmt::format("{}.member.{}", name, i + 1), values[i]);
    return fields;
}

Query create_balancer(const balancer::Order& order, const BalancerSettings& settings, const Tags& tags) {
    const Arns none;
    Writer writer(none);
    writer.put("Name", order.name);
    writer.put("Type", settings.type == Type::network ? "network" : "application");
    writer.put("Scheme", order.scope == balancer::Scope::intranet ? "internal" : "internet-facing");
    writer.put("IpAddressType", settings.ip_address_type);
    for (auto& [name, value] : members("Subnets", settings.subnets)) writer.put(name, value);
    for (auto& [name, value] : members("SecurityGroups", settings.security_groups)) writer.put(name, value);
    writer.tags(tags);
    return std::move(*writer.done("CreateLoadBalancer"));
}

Result<Query> query_of(const Step& step, const Arns& arns) {
    Writer w(arns);
    return std::visit(
        Overloaded{
            [&](const CreateGroup& s) {
                w.put("Name", s.group.name).put("Protocol", s.group.protocol).put("Port", std::string(port_of_groups));
                w.put("VpcId", arns.vpc).put("TargetType", "ip").put("IpAddressType", s.group.family);
                return w.check(s.group.check).tags(arns.tags).done("CreateTargetGroup");
            },
            [&](const ModifyGroup& s) {
                return w.group("TargetGroupArn", s.group.name).check(s.group.check).done("ModifyTargetGroup");
            },
            [&](const SetAttributes& s) {
                w.group("TargetGroupArn", s.group.name);
                std::size_t n = 0;
                for (const auto& [key, value] : s.group.attributes) {
                    const auto one = fmt::format("Attributes.member.{}.", ++n);
                    w.put(one + "Key", key).put(one + "Value", value);
                }
                return w.done("ModifyTargetGroupAttributes");
            },
            [&](const MarkGroup& s) {
                w.group("ResourceArns.member.1", s.group.name);
                return w.tags({{std::string(settings_tag), settings_mark(s.group)}}).done("AddTags");
            },
            [&](const RegisterTargets& s) {
                return w.group("TargetGroupArn", s.group).targets(s.targets).done("RegisterTargets");
            },
            [&](const DeregisterTargets& s) {
                return w.group("TargetGroupArn", s.group).targets(s.targets).done("DeregisterTargets");
            },
            [&](const DeleteGroup& s) { return w.group("TargetGroupArn", s.group).done("DeleteTargetGroup"); },
            [&](const CreateListener& s) {
                w.put("LoadBalancerArn", arns.balancer).listener_settings(s.listener);
                return w.tags(arns.tags).done("CreateListener");
            },
            [&](const ModifyListener& s) {
                return w.listener(s.listener.port).listener_settings(s.listener).done("ModifyListener");
            },
            [&](const AddCertificates& s) {
                return w.listener(s.port).certificates(s.arns).done("AddListenerCertificates");
            },
            [&](const RemoveCertificates& s) {
                return w.listener(s.port).certificates(s.arns).done("RemoveListenerCertificates");
            },
            [&](const DeleteListener& s) { return w.listener(s.port).done("DeleteListener"); },
            [&](const SetPriorities& s) {
                std::size_t n = 0;
                for (const auto& [rule, priority] : s.priorities) {
                    const auto one = fmt::format("RulePriorities.member.{}.", ++n);
                    w.rule(one + "RuleArn", rule).put(one + "Priority", std::to_string(priority));
                }
                return w.done("SetRulePriorities");
            },
            [&](const CreateRule& s) {
                w.listener(s.port).put("Priority", std::to_string(s.priority));
                return w.conditions(s.rule.matching)
                    .action("Actions", s.rule.action)
                    .tags(arns.tags)
                    .done("CreateRule");
            },
            [&](const ModifyRule& s) {
                w.put("RuleArn", s.arn).conditions(s.rule.matching);
                return w.action("Actions", s.rule.action).done("ModifyRule");
            },
            [&](const DeleteRule& s) { return w.put("RuleArn", s.arn).done("DeleteRule"); },
        },
        step);
}

void learn(const Step& step, const aws::Element& result, Arns& arns) {
    const auto first = [&](const char* list, const char* arn) {
        const auto& all = result.list(list);
        return all.empty() ? std::string() : all.front().at(arn);
    };
    if (const auto* made = std::get_if<CreateGroup>(&step)) {
        arns.groups.insert_or_assign(made->group.name, first("TargetGroups", "TargetGroupArn"));
    } else if (const auto* opened = std::get_if<CreateListener>(&step)) {
        arns.listeners.insert_or_assign(opened->listener.port, first("Listeners", "ListenerArn"));
    } else if (const auto* ruled = std::get_if<CreateRule>(&step)) {
        arns.rules.insert_or_assign(ruled->name, first("Rules", "RuleArn"));
    }
}

Result<Balancer> balancer_of(const aws::Element& member) {
    auto arn = needed(member, "LoadBalancerArn");
    auto name = needed(member, "LoadBalancerName");
    if (!arn || !name) return fail((arn ? name : arn).error());
    const auto* state = member.child("State");
    return Balancer{std::move(*arn),
                    std::move(*name),
                    member.at("DNSName"),
                    member.at("Scheme"),
                    member.at("Type"),
                    member.at("VpcId"),
                    state == nullptr ? std::string() : state->at("Code"),
                    state == nullptr ? std::string() : state->at("Reason")};
}

Result<PresentGroup> group_of(const aws::Element& member) {
    auto arn = needed(member, "TargetGroupArn");
    auto name = needed(member, "TargetGroupName");
    if (!arn || !name) return fail((arn ? name : arn).error());
    PresentGroup group;
    group.arn = std::move(*arn);
    group.name = std::move(*name);
    group.protocol = member.at("Protocol");
    group.family = member.at("IpAddressType");
    group.vpc = member.at("VpcId");
    return group;
}

Result<PresentListener> listener_of(const aws::Element& member) {
    auto arn = needed(member, "ListenerArn");
    if (!arn) return fail(arn.error());
    PresentListener listener;
    listener.arn = std::move(*arn);
    const auto port = member.int_at("Port");
    if (!port || *port < 1 || *port > 65'535) return fail(Errc::corrupt, "the answer has a listener without Port");
    listener.port = static_cast<std::uint16_t>(*port);
    listener.protocol = member.at("Protocol");
    listener.ssl_policy = member.at("SslPolicy");
    for (const auto& each : member.list("Certificates")) listener.certificates.push_back(each.at("CertificateArn"));
    listener.fallback = action_of(member.list("DefaultActions"));
    return listener;
}

Result<PresentRule> rule_of(const aws::Element& member) {
    auto arn = needed(member, "RuleArn");
    if (!arn) return fail(arn.error());
    PresentRule rule;
    rule.arn = std::move(*arn);
    if (member.at("IsDefault") != "true") {
        const auto priority = member.int_at("Priority");
        if (!priority || *priority < 1 || *priority > 50'000)
            return fail(Errc::corrupt, "the answer has a rule without Priority");
        rule.priority = static_cast<int>(*priority);
    }
    for (const auto& condition : member.list("Conditions")) {
        const auto field = condition.at("Field");
        if (field == "host-header" && rule.matching.host.empty()) {
            const auto hosts = texts(condition, "HostHeaderConfig");
            rule.understood = rule.understood && hosts.size() == 1;
            if (!hosts.empty()) rule.matching.host = hosts.front();
        } else if (field == "path-pattern" && rule.matching.paths.empty()) {
            rule.matching.paths = texts(condition, "PathPatternConfig");
            std::sort(rule.matching.paths.begin(), rule.matching.paths.end());
        } else {
            rule.understood = false;
        }
    }
    rule.action = action_of(member.list("Actions"));
    return rule;
}

Result<std::pair<Target, std::string>> target_of(const aws::Element& member) {
    const auto* target = member.child("Target");
    const auto port = target == nullptr ? std::nullopt : target->int_at("Port");
    if (!port || *port < 1 || *port > 65'535 || target->at("Id").empty())
        return fail(Errc::corrupt, "the answer has a target without Id or Port");
    const auto* health = member.child("TargetHealth");
    return std::pair(Target{target->at("Id"), static_cast<std::uint16_t>(*port)},
                     health == nullptr ? std::string() : health->at("State"));
}

Result<std::pair<std::string, Tags>> tags_of(const aws::Element& member) {
    auto arn = needed(member, "ResourceArn");
    if (!arn) return fail(arn.error());
    Tags tags;
    for (const auto& tag : member.list("Tags")) tags.insert_or_assign(tag.at("Key"), tag.at("Value"));
    return std::pair(std::move(*arn), std::move(tags));
}

}  // namespace fairlead::elb
