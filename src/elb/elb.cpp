#include "elb/elb.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "elb/names.h"
#include "elb/plan.h"

namespace fairlead::elb {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 5;  // reads and plans of one call: what was not there yet the first time
constexpr int looks = 5;   // for a balancer that AWS says is there, but does not show
constexpr std::chrono::nanoseconds between_looks = 1s;

std::string tag(const Tags& tags, std::string_view name) {
    const auto found = tags.find(std::string(name));
    return found == tags.end() ? std::string() : found->second;
}

// Without rules whose making failed: the others get their places all the same.
Step without_unmade(Step step, const Arns& arns) {
    if (auto* order = std::get_if<SetPriorities>(&step)) {
        std::erase_if(order->priorities, [&](const auto& each) {
            return each.first.starts_with('+') && !arns.rules.contains(each.first);
        });
    }
    return step;
}

bool is_empty(const Step& step) {
    const auto* order = std::get_if<SetPriorities>(&step);
    return order != nullptr && order->priorities.empty();
}

// Said about one thing of one owner: the rest of the table is none the worse for it.
bool concerns_owner(const std::string& code) {
    static const std::set<std::string, std::less<>> codes{"InvalidTarget",
                                                          "InvalidConfigurationRequest",
                                                          "ValidationError",
                                                          "UnsupportedProtocol",
                                                          "IncompatibleProtocols",
                                                          "InvalidLoadBalancerAction",
                                                          "TargetGroupAssociationLimit"};
    return code.starts_with("TooMany") || codes.contains(code);
}

// What we know is not what there is: it must be read again.
bool says_look_again(const std::string& code) {
    return code == "PriorityInUse" || code == "ResourceInUse" || code.starts_with("Duplicate") ||
           code == "TargetGroupNotFound" || code == "ListenerNotFound" || code == "RuleNotFound" ||
           code == "LoadBalancerNotFound";
}

bool removes(const Step& step) {
    return std::holds_alternative<DeleteRule>(step) || std::holds_alternative<DeleteListener>(step) ||
           std::holds_alternative<DeleteGroup>(step) || std::holds_alternative<DeregisterTargets>(step);
}

Arns arns_of(const Present& present, const Balancer& balancer, Tags tags) {
    Arns arns;
    arns.balancer = balancer.arn;
    arns.vpc = balancer.vpc;
    arns.tags = std::move(tags);
    for (const auto& group : present.groups) arns.groups.emplace(group.name, group.arn);
    for (const auto& listener : present.listeners)
        if (listener.ours) arns.listeners.emplace(listener.port, listener.arn);
    return arns;
}

std::set<std::pair<std::uint16_t, Matching>> in_force(const Present& present) {
    std::set<std::pair<std::uint16_t, Matching>> all;
    for (const auto& listener : present.listeners)
        for (const auto& rule : listener.rules)
            if (rule.ours && rule.understood) all.emplace(listener.port, rule.matching);
    return all;
}

}  // namespace

Tags Elb::tags(const balancer::Order& order) const {
    return {{std::string(installation_tag), installation_}, {std::string(uid_tag), order.uid}};
}

bool Elb::ours(const Tags& tags, const balancer::Order& order) const {
    return tag(tags, installation_tag) == installation_ && tag(tags, uid_tag) == order.uid;
}

balancer::Seen Elb::seen(const Balancer& balancer, const Tags& tags) const {
    balancer::Seen made;
    made.name = balancer.name;
    made.uid = tag(tags, uid_tag);
    made.foreign = made.uid.empty() || tag(tags, installation_tag) != installation_;
    made.message = balancer.reason;
    if (balancer.state == "active" || balancer.state == "active_impaired") {
        made.state = balancer::State::running;
        if (made.message.empty() && balancer.state == "active_impaired") made.message = "AWS says: active_impaired";
    } else if (balancer.state == "failed") {
        made.state = balancer::State::failed;
        if (made.message.empty()) made.message = "AWS says: failed";
    }
    if (!balancer.dns_name.empty()) made.addresses.push_back(balancer.dns_name);
    return made;
}

Result<std::optional<Elb::Found>> Elb::find(const std::string& name) {
    auto answer = api_.call({"DescribeLoadBalancers", members("Names", {name})});
    if (!answer) {
        if (answer.error().error.code == Errc::not_found) return std::optional<Found>();
        return fail(told(answer.error()));
    }
    const auto& all = answer->list("LoadBalancers");
    if (all.empty()) return std::optional<Found>();
    auto balancer = balancer_of(all.front());
    if (!balancer) return fail(Errc::unavailable, balancer.error().message);
    auto tags = api_.tags({balancer->arn});
    if (!tags) return fail(told(tags.error()));
    const auto own = tags->find(balancer->arn);
    if (own == tags->end()) return std::optional<Found>();  // gone between the two
    return std::optional(Found{std::move(*balancer), std::move(own->second)});
}

Result<void> Elb::check_owner(const Found& found, const balancer::Order& order) const {
    if (ours(found.tags, order)) return {};
    const auto uid = tag(found.tags, uid_tag);
    return fail(Errc::conflict, "lbName",
                uid.empty() ? fmt::format("\"{}\" is a balancer that somebody else made", order.name)
                            : fmt::format("\"{}\" is the balancer of LoadBalancer {} of installation \"{}\"",
                                          order.name, uid, tag(found.tags, installation_tag)));
}

Result<void> Elb::check_fit(const Balancer& balancer, const balancer::Order& order, const BalancerSettings& settings) {
    const auto differs = [&](const char* field, const std::string& is) {
        return fail(Errc::invalid, field,
                    fmt::format("the balancer \"{}\" is {}, and that cannot be changed", order.name, is));
    };
    if ((balancer.type == "network") != (settings.type == Type::network))
        return differs("parameters.type", balancer.type);
    // Rules for the intranet must not be where the internet reaches them.
    if ((balancer.scheme == "internal") != (order.scope == balancer::Scope::intranet))
        return differs("networkScope", balancer.scheme);
    if (!settings.vpc.empty() && settings.vpc != balancer.vpc) return differs("parameters.vpc", "in " + balancer.vpc);
    return {};
}

Result<std::optional<balancer::Seen>> Elb::get(const std::string& name) {
    // No balancer of AWS has such a name.
    if (!check_balancer_name(name)) return std::optional<balancer::Seen>();
    auto found = find(name);
    if (!found) return fail(found.error());
    if (!*found) return std::optional<balancer::Seen>();
    return std::optional(seen((*found)->balancer, (*found)->tags));
}

Result<balancer::Seen> Elb::create(const balancer::Order& order) {
    if (const auto good = check_balancer_name(order.name); !good) return fail(good.error());
    if (order.uid.empty() || order.uid.size() > 256)
        return fail(Errc::invalid, "uid", "does not have 1 to 256 characters");
    const auto settings = balancer_settings(parameters_, order.parameters);
    if (!settings) return fail(settings.error());
    auto found = find(order.name);
    if (!found) return fail(found.error());
    if (!*found) return make(order, *settings);
    // Another installation's mark under this very uid: somebody was renamed. It is shown, and not touched.
    if (tag((*found)->tags, uid_tag) != order.uid) {
        if (const auto own = check_owner(**found, order); !own) return fail(own.error());
    }
    if (const auto fits = check_fit((*found)->balancer, order, *settings); !fits) return fail(fits.error());
    return seen((*found)->balancer, (*found)->tags);
}

Result<balancer::Seen> Elb::make(const balancer::Order& order, const BalancerSettings& settings) {
    const std::size_t least = settings.type == Type::network ? 1 : 2;
    if (settings.subnets.size() < least) {
        return fail(Errc::invalid, "parameters.subnets",
                    fmt::format("names {} subnets: such a balancer takes at least {}", settings.subnets.size(), least));
    }
    auto answer = api_.call(create_balancer(order, settings, tags(order)));
    if (answer) {
        const auto& all = answer->list("LoadBalancers");
        auto balancer = all.empty() ? Result<Balancer>(fail(Errc::corrupt, "the answer names no balancer"))
                                    : balancer_of(all.front());
        if (!balancer) return fail(Errc::unavailable, "CreateLoadBalancer: " + balancer.error().message);
        // AWS takes a second order for the same as the first one's echo: whoever came first, the tags say it.
        auto made = api_.tags({balancer->arn});
        if (!made) return fail(told(made.error()));
        const auto own = made->find(balancer->arn);
        if (own == made->end()) return seen(*balancer, tags(order));  // not shown to everybody yet
        const Found found{std::move(*balancer), own->second};
        if (const auto good = check_owner(found, order); !good) return fail(good.error());
        return seen(found.balancer, found.tags);
    }
    if (answer.error().code != "DuplicateLoadBalancerName") return fail(told(answer.error()));
    // There is one after all, with other settings or not shown to everybody yet.
    for (int look = 0; look < looks; ++look) {
        auto found = find(order.name);
        if (!found) return fail(found.error());
        if (*found) {
            if (const auto own = check_owner(**found, order); !own) return fail(own.error());
            return seen((*found)->balancer, (*found)->tags);
        }
        if (!surroundings_.wait(between_looks)) return fail(Errc::unavailable, "the server is stopping");
    }
    return fail(Errc::unavailable,
                fmt::format("AWS says that there is a balancer \"{}\", but does not show it", order.name));
}

Result<std::vector<balancer::Seen>> Elb::list() {
    auto answer = api_.list({"DescribeLoadBalancers", {}}, "LoadBalancers");
    if (!answer) return fail(told(answer.error()));
    std::map<std::string, Balancer> all;  // by ARN
    std::vector<std::string> arns;
    for (const auto& member : *answer) {
        auto balancer = balancer_of(member);
        if (!balancer) return fail(Errc::unavailable, "DescribeLoadBalancers: " + balancer.error().message);
        arns.push_back(balancer->arn);
        all.emplace(balancer->arn, std::move(*balancer));
    }
    auto tags = api_.tags(arns);
    if (!tags) return fail(told(tags.error()));
    std::vector<balancer::Seen> ours;
    for (const auto& [arn, own] : *tags)
        if (tag(own, installation_tag) == installation_ && all.contains(arn)) ours.push_back(seen(all.at(arn), own));
    std::sort(ours.begin(), ours.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return ours;
}

Result<std::vector<PresentGroup>> Elb::read_groups(const balancer::Order& order, bool with_targets) {
    const auto prefix = group_prefix(installation_, order.uid);
    auto answer = api_.list({"DescribeTargetGroups", {}}, "TargetGroups");
    if (!answer) return fail(told(answer.error()));
    std::vector<PresentGroup> groups;
    std::vector<std::string> arns;
    for (const auto& member : *answer) {
        if (!member.at("TargetGroupName").starts_with(prefix)) continue;
        auto group = group_of(member);
        if (!group) return fail(Errc::unavailable, "DescribeTargetGroups: " + group.error().message);
        arns.push_back(group->arn);
        groups.push_back(std::move(*group));
    }
    auto tags = api_.tags(arns);
    if (!tags) return fail(told(tags.error()));
    std::erase_if(groups, [&](const auto& group) { return !ours((*tags)[group.arn], order); });
    for (auto& group : groups) {
        group.settings = tag((*tags)[group.arn], settings_tag);
        if (!with_targets) continue;
        auto health = api_.call({"DescribeTargetHealth", {{"TargetGroupArn", group.arn}}});
        if (!health && health.error().error.code == Errc::not_found) continue;  // its removal is what is read next time
        if (!health) return fail(told(health.error()));
        for (const auto& member : health->list("TargetHealthDescriptions")) {
            auto target = target_of(member);
            if (!target) return fail(Errc::unavailable, "DescribeTargetHealth: " + target.error().message);
            if (target->second != "draining") group.targets.insert(std::move(target->first));
        }
    }
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return groups;
}

Result<void> Elb::read_rules(PresentListener& listener, const balancer::Order& order) {
    if (listener.protocol == "TCP") return {};
    auto answer = api_.list({"DescribeRules", {{"ListenerArn", listener.arn}}}, "Rules");
    if (!answer) return fail(told(answer.error()));
    std::vector<std::string> arns;
    for (const auto& member : *answer) {
        auto rule = rule_of(member);
        if (!rule) return fail(Errc::unavailable, "DescribeRules: " + rule.error().message);
        if (rule->priority == 0) continue;
        arns.push_back(rule->arn);
        listener.rules.push_back(std::move(*rule));
    }
    auto tags = api_.tags(arns);
    if (!tags) return fail(told(tags.error()));
    for (auto& rule : listener.rules) rule.ours = ours((*tags)[rule.arn], order);
    std::sort(listener.rules.begin(), listener.rules.end(),
              [](const auto& a, const auto& b) { return a.priority < b.priority; });
    if (listener.protocol != "HTTPS") return {};
    auto certificates = api_.list({"DescribeListenerCertificates", {{"ListenerArn", listener.arn}}}, "Certificates");
    if (!certificates) return fail(told(certificates.error()));
    std::set<std::string> others;
    for (const auto& member : *certificates)
        if (member.at("IsDefault") != "true") others.insert(member.at("CertificateArn"));
    listener.certificates.insert(listener.certificates.end(), others.begin(), others.end());
    return {};
}

Result<Present> Elb::read(const Found& found, const balancer::Order& order) {
    Present present;
    auto groups = read_groups(order, true);
    if (!groups) return fail(groups.error());
    present.groups = std::move(*groups);
    auto answer = api_.list({"DescribeListeners", {{"LoadBalancerArn", found.balancer.arn}}}, "Listeners");
    if (!answer) return fail(told(answer.error()));
    std::vector<std::string> arns;
    for (const auto& member : *answer) {
        auto listener = listener_of(member);
        if (!listener) return fail(Errc::unavailable, "DescribeListeners: " + listener.error().message);
        arns.push_back(listener->arn);
        present.listeners.push_back(std::move(*listener));
    }
    auto tags = api_.tags(arns);
    if (!tags) return fail(told(tags.error()));
    for (auto& listener : present.listeners) {
        listener.ours = ours((*tags)[listener.arn], order);
        if (!listener.ours) continue;
        if (auto rules = read_rules(listener, order); !rules) return fail(rules.error());
    }
    std::sort(present.listeners.begin(), present.listeners.end(),
              [](const auto& a, const auto& b) { return a.port < b.port; });
    return present;
}

Result<Elb::Done> Elb::act(const Plan& plan, Arns arns) {
    Done done;
    for (const auto& planned : plan.steps) {
        const auto step = without_unmade(planned, arns);
        if (is_empty(step)) continue;
        const auto owners = owners_of(step);
        const auto blame = [&](const std::string& why) {
            for (const auto& owner : owners) done.problems[owner] = why;
            if (owners.empty()) done.all = false;
        };
        const auto query = query_of(step, arns);
        if (!query) {
            // What leads to a group that could not be made is planned anew, without it.
            if (done.unmade.empty()) blame(query.error().message);
            done.all = done.all && done.unmade.empty();
            continue;
        }
        auto answer = api_.call(*query);
        if (answer) {
            done.anything = true;
            done.freed = done.freed || std::holds_alternative<DeleteGroup>(step);
            learn(step, *answer, arns);
            continue;
        }
        const auto& error = answer.error();
        if (removes(step) && error.error.code == Errc::not_found) continue;
        surroundings_.log.debug("aws refused a step", {{"step", text_of(step)}, {"error", error.error.message}});
        if (concerns_owner(error.code) && !owners.empty()) {
            blame(error.error.message);
            if (const auto* group = std::get_if<CreateGroup>(&step)) {
                done.unmade.insert(group->group.name);
                done.all = false;
            }
        } else if (says_look_again(error.code)) {
            done.all = false;
        } else {
            return fail(told(error));
        }
    }
    return done;
}

Result<balancer::Applied> Elb::update_rules(const balancer::Order& order, const traffic::RoutingTable& table) {
    if (const auto good = check_balancer_name(order.name); !good) return fail(good.error());
    const auto settings = balancer_settings(parameters_, order.parameters);
    if (!settings) return fail(settings.error());
    const auto found = find(order.name);
    if (!found) return fail(found.error());
    if (!*found) return fail(Errc::unavailable, fmt::format("there is no balancer \"{}\", or not yet", order.name));
    if (const auto own = check_owner(**found, order); !own) return fail(own.error());
    const auto& there = (*found)->balancer;
    if (seen(there, (*found)->tags).state != balancer::State::running) return balancer::Applied{};
    if (const auto fits = check_fit(there, order, *settings); !fits) return fail(fits.error());

    balancer::Applied applied;
    std::set<std::string> unmade;
    std::map<std::string, std::string> unmade_problems;
    bool retried = false;
    for (int round = 0; round < rounds && !applied.settled; ++round) {
        const auto present = read(**found, order);
        if (!present) return fail(present.error());
        const Terms terms{*settings, group_prefix(installation_, order.uid), there.vpc, in_force(*present)};
        auto wanted = wanted_of(table, terms);
        leave_out(wanted, unmade);
        const auto plan = plan_of(*present, wanted);
        auto done = act(plan, arns_of(*present, there, tags(order)));
        if (!done) return fail(done.error());
        applied.problems = wanted.problems;
        applied.problems.insert(plan.problems.begin(), plan.problems.end());
        applied.problems.insert(done->problems.begin(), done->problems.end());
        applied.problems.insert(unmade_problems.begin(), unmade_problems.end());
        // Where steps of owners failed and others changed something, room may have come free.
        applied.settled = done->all && (done->problems.empty() || !done->anything);
        if (!done->all && !done->anything && done->unmade.empty()) break;  // waiting helps, asking at once does not
        if (done->freed && !retried) {
            retried = true;
        } else {
            unmade.insert(done->unmade.begin(), done->unmade.end());
            if (!done->unmade.empty()) unmade_problems.insert(done->problems.begin(), done->problems.end());
        }
    }
    return applied;
}

Result<bool> Elb::remove(const balancer::Order& order) {
    if (!check_balancer_name(order.name)) return true;  // there cannot be one
    const auto found = find(order.name);
    if (!found) return fail(found.error());
    if (*found) {
        if (const auto own = check_owner(**found, order); !own) return fail(own.error());
        // Its listeners and their rules go with it.
        const auto gone = api_.call({"DeleteLoadBalancer", {{"LoadBalancerArn", (*found)->balancer.arn}}});
        if (!gone && gone.error().error.code != Errc::not_found) return fail(told(gone.error()));
    }
    const auto groups = read_groups(order, false);
    if (!groups) return fail(groups.error());
    for (const auto& group : *groups) {
        const auto gone = api_.call({"DeleteTargetGroup", {{"TargetGroupArn", group.arn}}});
        // While the balancer goes, its groups are in use.
        const bool later =
            !gone && (gone.error().code == "ResourceInUse" || gone.error().error.code == Errc::not_found);
        if (!gone && !later) return fail(told(gone.error()));
    }
    return !*found && groups->empty();
}

}  // namespace fairlead::elb
