// Present and wanted into calls: which, and in which order.
#include "elb/plan.h"

#include <gmock/gmock.h>

#include "tables.h"

namespace fairlead::elb {
namespace {

using Lines = std::vector<std::string>;

Lines texts(const Plan& plan) {
    Lines all;
    for (const auto& step : plan.steps) all.push_back(text_of(step));
    return all;
}

WantedGroup group(const std::string& name, std::set<Target> targets) {
    WantedGroup made;
    made.name = name;
    made.protocol = "HTTP";
    made.targets = std::move(targets);
    made.owners = {owner_of("web")};
    return made;
}

WantedRule rule(const std::string& host, const std::string& to) {
    return {{host, {}},
            {.type = Action::Type::forward, .shares = {{to, 1}}, .sticky = false, .status = 0},
            owner_of("web")};
}

WantedListener listener(std::vector<WantedRule> rules) {
    WantedListener made;
    made.port = 80;
    made.protocol = "HTTP";
    made.rules = std::move(rules);
    return made;
}

// As if a plan had been carried out: what is wanted, with ARNs "r:HOST".
Present present_of(const Wanted& wanted) {
    Present made;
    for (const auto& each : wanted.groups)
        made.groups.push_back(
            {"g:" + each.name, each.name, each.protocol, each.family, "vpc-1", settings_mark(each), each.targets});
    for (const auto& each : wanted.listeners) {
        PresentListener there{"l:" + std::to_string(each.port),
                              each.port,
                              each.protocol,
                              each.ssl_policy,
                              each.certificates,
                              each.fallback,
                              true,
                              {}};
        int priority = 0;
        for (const auto& own : each.rules)
            there.rules.push_back({"r:" + own.matching.host, ++priority, own.matching, true, own.action, true});
        made.listeners.push_back(std::move(there));
    }
    return made;
}

Wanted state(std::vector<WantedGroup> groups, std::vector<WantedListener> listeners) {
    return {std::move(groups), std::move(listeners), {}};
}

const Target one{"10.0.0.1", 80}, two{"10.0.0.2", 80};

TEST(ElbPlan, FromNothing) {
    EXPECT_EQ(texts(plan_of({}, state({group("g", {one, two})}, {listener({rule("a.test", "g")})}))),
              (Lines{"CreateTargetGroup g HTTP ipv4", "ModifyTargetGroupAttributes g", "AddTags g",
                     "RegisterTargets g 10.0.0.1:80,10.0.0.2:80", "CreateListener 80 HTTP -> 404",
                     "CreateRule 80 #1 a.test * -> g=1"}));
}

TEST(ElbPlan, NothingToDo) {
    const auto wanted = state({group("g", {one})}, {listener({rule("a.test", "g"), rule("b.test", "g")})});
    EXPECT_TRUE(plan_of(present_of(wanted), wanted).steps.empty());
}

TEST(ElbPlan, ToNothing) {
    const auto before = state({group("g", {one})}, {listener({rule("a.test", "g")})});
    EXPECT_EQ(texts(plan_of(present_of(before), {})), (Lines{"DeleteListener 80", "DeleteTargetGroup g"}));
}

// The old group goes after nothing leads to it, the new one is there before something does.
TEST(ElbPlan, MakesBeforeItBreaks) {
    const auto before = state({group("old", {one})}, {listener({rule("a.test", "old")})});
    const auto after = state({group("new", {two})}, {listener({rule("a.test", "new")})});
    EXPECT_EQ(
        texts(plan_of(present_of(before), after)),
        (Lines{"CreateTargetGroup new HTTP ipv4", "ModifyTargetGroupAttributes new", "AddTags new",
               "RegisterTargets new 10.0.0.2:80", "ModifyRule r:a.test a.test * -> new=1", "DeleteTargetGroup old"}));
    const auto moved = state({group("old", {two})}, {listener({rule("a.test", "old")})});
    EXPECT_EQ(texts(plan_of(present_of(before), moved)),
              (Lines{"RegisterTargets old 10.0.0.2:80", "DeregisterTargets old 10.0.0.1:80"}));
}

TEST(ElbPlan, Priorities) {
    struct Case {
        const char* name;
        std::vector<std::string> before, after;
        Lines steps;
    };
    for (const auto& each : {
             Case{"at the end", {"a.test"}, {"a.test", "b.test"}, {"CreateRule 80 #2 b.test * -> g=1"}},
             Case{"in between",
                  {"a.test", "c.test"},
                  {"a.test", "b.test", "c.test"},
                  {"SetRulePriorities 80 r:c.test=#3", "CreateRule 80 #2 b.test * -> g=1"}},
             Case{"first goes",
                  {"a.test", "b.test", "c.test"},
                  {"b.test", "c.test"},
                  {"DeleteRule r:a.test", "SetRulePriorities 80 r:b.test=#1,r:c.test=#2"}},
             Case{"one for another",
                  {"a.test", "c.test"},
                  {"b.test", "c.test"},
                  {"SetRulePriorities 80 r:c.test=#3", "CreateRule 80 #2 b.test * -> g=1", "DeleteRule r:a.test",
                   "SetRulePriorities 80 +80/2=#1,r:c.test=#2"}},
         }) {
        const auto rules = [](const std::vector<std::string>& hosts) {
            std::vector<WantedRule> all;
            for (const auto& host : hosts) all.push_back(rule(host, "g"));
            return all;
        };
        const auto before = present_of(state({group("g", {one})}, {listener(rules(each.before))}));
        EXPECT_EQ(texts(plan_of(before, state({group("g", {one})}, {listener(rules(each.after))}))), each.steps)
            << each.name;
    }
}

// Rules that somebody put into another order are put back.
TEST(ElbPlan, OrderIsPutRight) {
    const auto wanted = state({group("g", {one})}, {listener({rule("a.test", "g"), rule("b.test", "g")})});
    auto present = present_of(wanted);
    std::swap(present.listeners[0].rules[0].priority, present.listeners[0].rules[1].priority);
    EXPECT_EQ(texts(plan_of(present, wanted)), (Lines{"SetRulePriorities 80 r:a.test=#1,r:b.test=#2"}));
}

TEST(ElbPlan, OthersAreLeftAlone) {
    const auto wanted = state({group("g", {one})}, {listener({rule("a.test", "g"), rule("b.test", "g")})});
    auto present = present_of(state({group("g", {one})}, {listener({rule("a.test", "g")})}));
    // A rule of somebody else, at the place that ours would have.
    present.listeners[0].rules.push_back({"r:theirs", 2, {"x.test", {}}, true, {}, false});
    EXPECT_EQ(texts(plan_of(present, wanted)), (Lines{"CreateRule 80 #3 b.test * -> g=1"}));
    // A listener of somebody else, on our port.
    present.listeners[0].ours = false;
    const auto plan = plan_of(present, wanted);
    EXPECT_TRUE(plan.steps.empty());
    EXPECT_EQ(plan.problems.at(owner_of("web")), "port 80 has a listener that somebody else made");
    EXPECT_TRUE(plan_of(present, state({group("g", {one})}, {})).steps.empty());
}

// A listener that somebody else has a rule on stays for it.
TEST(ElbPlan, ListenersThatAreShared) {
    auto before = state({group("g", {one})}, {listener({rule("a.test", "g")})});
    before.listeners[0].fallback = {.type = Action::Type::forward, .shares = {{"g", 1}}, .sticky = false, .status = 0};
    auto present = present_of(before);
    present.listeners[0].rules.push_back({"r:theirs", 2, {"x.test", {}}, true, {}, false});
    EXPECT_EQ(texts(plan_of(present, {})),
              (Lines{"ModifyListener 80 HTTP -> 404", "DeleteRule r:a.test", "DeleteTargetGroup g"}));
}

// What a lost answer left behind twice, and what we cannot have written.
TEST(ElbPlan, DoublesAndStrangers) {
    const auto wanted = state({group("g", {one})}, {listener({rule("a.test", "g")})});
    auto present = present_of(wanted);
    auto twin = present.listeners[0].rules[0];
    twin.arn = "r:twin";
    twin.priority = 2;
    auto stranger = twin;
    stranger.arn = "r:stranger";
    stranger.priority = 3;
    stranger.understood = false;
    present.listeners[0].rules.push_back(twin);
    present.listeners[0].rules.push_back(stranger);
    EXPECT_EQ(texts(plan_of(present, wanted)), (Lines{"DeleteRule r:twin", "DeleteRule r:stranger"}));
}

TEST(ElbPlan, SettingsAndCertificates) {
    auto wanted = state({group("g", {one})}, {listener({rule("a.test", "g")})});
    wanted.listeners[0].protocol = "HTTPS";
    wanted.listeners[0].certificates = {"arn:a", "arn:b"};
    auto present = present_of(wanted);
    present.groups[0].settings = "other";
    present.listeners[0].certificates = {"arn:x", "arn:c"};
    EXPECT_EQ(texts(plan_of(present, wanted)),
              (Lines{"ModifyTargetGroup g", "ModifyTargetGroupAttributes g", "AddTags g",
                     "ModifyListener 80 HTTPS arn:a -> 404", "AddListenerCertificates 80 arn:b",
                     "RemoveListenerCertificates 80 arn:c"}));
    present = present_of(wanted);
    present.listeners[0].fallback.status = 503;
    EXPECT_EQ(texts(plan_of(present, wanted)), (Lines{"ModifyListener 80 HTTPS arn:a -> 404"}));
    // A policy that nobody asked for is AWS's to choose.
    present = present_of(wanted);
    present.listeners[0].ssl_policy = "ELBSecurityPolicy-2016-08";
    EXPECT_TRUE(plan_of(present, wanted).steps.empty());
    wanted.listeners[0].ssl_policy = "ELBSecurityPolicy-TLS13-1-2-2021-06";
    EXPECT_EQ(plan_of(present, wanted).steps.size(), 1U);
}

TEST(ElbPlan, TargetsInBatches) {
    std::set<Target> many;
    for (int i = 0; i < 250; ++i) many.insert({"10.0.1." + std::to_string(i), 80});
    const auto plan = plan_of({}, state({group("g", many)}, {}));
    std::set<Target> registered;
    for (const auto& step : plan.steps) {
        const auto* some = std::get_if<RegisterTargets>(&step);
        if (some == nullptr) continue;
        EXPECT_LE(some->targets.size(), 100U);
        registered.insert(some->targets.begin(), some->targets.end());
    }
    EXPECT_EQ(registered, many);
}

}  // namespace
}  // namespace fairlead::elb
