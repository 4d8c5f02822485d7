// Plans walked step by step over a model of AWS, from any table to any other and with an end at any step: nothing that
// is in use is removed, no two rules have one place, kept rules stay in order, and what is wanted is what there is at
// the end.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "elb/plan.h"
#include "tables.h"

namespace fairlead::elb {
namespace {

class Model {
public:
    Present present;

    void perform(const Step& step) {
        std::visit([&](const auto& each) { take(each); }, step);
        check(step);
    }

private:
    PresentGroup& group(const std::string& name) {
        const auto found =
            std::find_if(present.groups.begin(), present.groups.end(), [&](const auto& g) { return g.name == name; });
        if (found == present.groups.end()) ADD_FAILURE() << "no group " << name;
        return *found;
    }
    PresentListener& listener(std::uint16_t port) {
        const auto found = std::find_if(present.listeners.begin(), present.listeners.end(),
                                        [&](const auto& l) { return l.port == port; });
        if (found == present.listeners.end()) ADD_FAILURE() << "no listener " << port;
        return *found;
    }
    std::pair<PresentListener*, std::size_t> rule(const std::string& name) {
        const auto arn = names_.contains(name) ? names_.at(name) : name;
        for (auto& each : present.listeners)
            for (std::size_t i = 0; i < each.rules.size(); ++i)
                if (each.rules[i].arn == arn) return {&each, i};
        ADD_FAILURE() << "no rule " << name;
        return {};
    }

    void take(const CreateGroup& s) {
        present.groups.push_back(
            {"g:" + s.group.name, s.group.name, s.group.protocol, s.group.family, "vpc-1", "", {}});
    }
    void take(const ModifyGroup& s) { (void)group(s.group.name); }
    void take(const SetAttributes& s) { (void)group(s.group.name); }
    void take(const MarkGroup& s) { group(s.group.name).settings = settings_mark(s.group); }
    void take(const RegisterTargets& s) { group(s.group).targets.insert(s.targets.begin(), s.targets.end()); }
    void take(const DeregisterTargets& s) {
        for (const auto& target : s.targets) EXPECT_EQ(group(s.group).targets.erase(target), 1U);
    }
    void take(const DeleteGroup& s) {
        std::erase_if(present.groups, [&](const auto& each) { return each.name == s.group; });
    }
    void take(const CreateListener& s) {
        const auto& from = s.listener;
        std::vector<std::string> first;
        if (!from.certificates.empty()) first.push_back(from.certificates.front());
        present.listeners.push_back({"l" + std::to_string(from.port),
                                     from.port,
                                     from.protocol,
                                     from.ssl_policy,
                                     first,
                                     from.fallback,
                                     true,
                                     {}});
        std::sort(present.listeners.begin(), present.listeners.end(),
                  [](const auto& a, const auto& b) { return a.port < b.port; });
    }
    void take(const ModifyListener& s) {
        auto& to = listener(s.listener.port);
        to.protocol = s.listener.protocol;
        to.fallback = s.listener.fallback;
        if (!s.listener.certificates.empty()) to.certificates.at(0) = s.listener.certificates.front();
    }
    void take(const AddCertificates& s) {
        auto& all = listener(s.port).certificates;
        all.insert(all.end(), s.arns.begin(), s.arns.end());
        std::sort(all.begin() + 1, all.end());
    }
    void take(const RemoveCertificates& s) {
        for (const auto& arn : s.arns) std::erase(listener(s.port).certificates, arn);
    }
    void take(const DeleteListener& s) {
        std::erase_if(present.listeners, [&](const auto& each) { return each.port == s.port && each.ours; });
    }
    void take(const SetPriorities& s) {
        for (const auto& [name, priority] : s.priorities) {
            auto [on, at] = rule(name);
            ASSERT_EQ(on->port, s.port);
            ASSERT_TRUE(on->rules[at].ours);
            on->rules[at].priority = priority;
        }
    }
    void take(const CreateRule& s) {
        const auto arn = "r" + std::to_string(++made_);
        names_.insert_or_assign(s.name, arn);
        listener(s.port).rules.push_back({arn, s.priority, s.rule.matching, true, s.rule.action, true});
    }
    void take(const ModifyRule& s) {
        auto [on, at] = rule(s.arn);
        on->rules[at].action = s.rule.action;
    }
    void take(const DeleteRule& s) {
        auto [on, at] = rule(s.arn);
        ASSERT_TRUE(on->rules[at].ours);
        on->rules.erase(on->rules.begin() + static_cast<std::ptrdiff_t>(at));
    }

    void check(const Step& step) {
        const auto known = [&](const Action& action) {
            for (const auto& share : action.shares) {
                EXPECT_TRUE(std::any_of(present.groups.begin(), present.groups.end(),
                                        [&](const auto& g) { return g.name == share.group; }))
                    << text_of(step) << " leaves " << share.group << " without a group";
            }
        };
        for (auto& each : present.listeners) {
            known(each.fallback);
            std::sort(each.rules.begin(), each.rules.end(),
                      [](const auto& a, const auto& b) { return a.priority < b.priority; });
            const PresentRule* before = nullptr;
            for (const auto& own : each.rules) {
                known(own.action);
                if (!own.ours) continue;
                if (before != nullptr) {
                    EXPECT_LT(before->priority, own.priority) << text_of(step);
                    EXPECT_TRUE(tried_before(before->matching, own.matching)) << text_of(step);
                }
                before = &own;
            }
            for (std::size_t i = 1; i < each.rules.size(); ++i)
                EXPECT_NE(each.rules[i - 1].priority, each.rules[i].priority) << text_of(step);
        }
    }

    std::map<std::string, std::string> names_;
    int made_ = 0;
};

traffic::RoutingTable random_table(SeededRandom& random) {
    traffic::RoutingTable table;
    const auto pick = [&](std::uint64_t below) { return random.next() % below; };
    for (const auto* name : {"a", "b", "c"}) {
        std::vector<traffic::Member> members;
        for (std::uint64_t i = pick(4); i > 0; --i)
            members.push_back(member("10.0.0." + std::to_string(pick(5) + 1),
                                     static_cast<std::uint16_t>(1 + pick(2) * 99), pick(2) == 0 ? "x" : "y"));
        add_pool(table, name, members);
        for (std::uint64_t i = pick(5); i > 0; --i) {
            static const std::vector<std::string> hosts{"", "one.test", "two.test", "deep.two.test"};
            static const std::vector<std::string> paths{"", "/a", "/a/b", "/c"};
            const auto& host = hosts[pick(hosts.size())];
            add_rule(table, name, host, paths[pick(paths.size())], !host.empty() && pick(3) == 0,
                     static_cast<traffic::Plain>(pick(3)), pick(2) == 0 ? traffic::Tls::none : traffic::Tls::terminate);
        }
    }
    return table;
}

Terms random_terms(SeededRandom& random) {
    return terms({{"certificateArns", random.next() % 2 == 0 ? "arn:one" : "arn:two,x.test=arn:three"}});
}

TEST(ElbPlanWalk, FromAnyTableToAnyOther) {
    SeededRandom random(7);
    std::size_t steps = 0;
    for (int round = 0; round < 400 && !HasFailure(); ++round) {
        SCOPED_TRACE(round);
        Model model;
        const auto first = wanted_of(random_table(random), random_terms(random));
        for (const auto& step : plan_of(model.present, first).steps) model.perform(step);
        ASSERT_TRUE(plan_of(model.present, first).steps.empty());
        const bool shared = round % 3 == 0 && !model.present.listeners.empty();
        if (shared) {
            auto& rules = model.present.listeners.front().rules;
            const int priority = rules.empty() ? 1 : rules.back().priority + 1;
            rules.push_back({"theirs", priority, {"theirs.test", {}}, true, {}, false});
        }
        const auto second = wanted_of(random_table(random), random_terms(random));
        const auto whole = plan_of(model.present, second).steps;
        // The server ends after some of them, and starts again.
        const auto until = whole.empty() ? 0 : random.next() % (whole.size() + 1);
        for (std::size_t i = 0; i < until; ++i) model.perform(whole[i]);
        for (const auto& step : plan_of(model.present, second).steps) model.perform(step);
        const auto left = plan_of(model.present, second).steps;
        ASSERT_TRUE(left.empty()) << text_of(left.front());
        steps += whole.size();
        std::size_t theirs_left = 0;
        for (const auto& each : model.present.listeners)
            for (const auto& rule : each.rules) theirs_left += rule.ours ? 0 : 1;
        ASSERT_EQ(theirs_left, shared ? 1U : 0U);
        for (const auto& listener : model.present.listeners) {
            std::size_t ours = 0;
            for (const auto& rule : listener.rules) ours += rule.ours ? 1 : 0;
            const auto wanted = std::find_if(second.listeners.begin(), second.listeners.end(),
                                             [&](const auto& l) { return l.port == listener.port; });
            // One that somebody else has a rule on stays without ours.
            const bool theirs = ours < listener.rules.size();
            ASSERT_TRUE(theirs || wanted != second.listeners.end());
            ASSERT_EQ(ours, wanted == second.listeners.end() ? 0 : wanted->rules.size());
        }
    }
    EXPECT_GT(steps, 2'000U);
}

}  // namespace
}  // namespace fairlead::elb
