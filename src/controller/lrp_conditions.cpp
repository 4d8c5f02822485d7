#include "controller/lrp_conditions.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "controller/port_figures.h"
#include "lrp/parts.h"

namespace fairlead::controller {

namespace {

using lrp::PortState;

constexpr std::size_t max_problem_bytes = 16 * 1024;  // of the 32 KiB that a message may have
constexpr std::size_t listed_names = 5;

struct Provider {
    std::string_view name, condition;
};
// SkyDNS is told by lrp_dns, which knows what its records came to.
constexpr Provider providers[] = {{lrp::cf_router, "CfRouter"}, {lrp::tcp_router, "TcpRouter"}};

std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "2 names to port 4000"
void add_by_port(const std::map<std::uint16_t, std::size_t>& counts, std::string_view what,
                 std::vector<std::string>& parts) {
    for (const auto& [port, count] : counts) parts.push_back(fmt::format("{} to port {}", counted(count, what), port));
}

// What of the provider's routes is in force.
std::string in_force(const LrpFacts& facts, std::string_view provider) {
    std::vector<std::string> parts;
    const auto& routes = facts.desired.routes;
    if (provider == lrp::cf_router) {
        std::map<std::uint16_t, std::size_t> names;
        for (const auto& each : routes.http) names[each.port] += each.names.size();
        add_by_port(names, "name", parts);
    }
    for (std::size_t i = 0; i < routes.ports.size(); ++i) {
        const auto& route = routes.ports[i];
        const auto& outcome = facts.plan.routes[i];
        if (route.provider != provider || (outcome.state != PortState::held && outcome.state != PortState::renew))
            continue;
        parts.push_back(fmt::format("{} port {} of router {} to port {}", traffic::name_of(route.transport),
                                    outcome.at.key.port, outcome.at.router, route.port));
    }
    return join(parts, ", ");
}

// "a; b; and 7 more"
std::string listed(const std::vector<std::string>& texts) {
    std::string all;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i > 0 && all.size() + texts[i].size() > max_problem_bytes) {
            return fmt::format("{}; and {} more", all, texts.size() - i);
        }
        all += (i == 0 ? "" : "; ") + texts[i].substr(0, max_problem_bytes);
    }
    return all;
}

void add_first(const std::vector<std::string>& of_names, std::vector<std::string>& texts) {
    const auto count = std::min(of_names.size(), listed_names);
    texts.insert(texts.end(), of_names.begin(), of_names.begin() + static_cast<std::ptrdiff_t>(count));
    if (count < of_names.size()) texts.push_back(fmt::format("and {} more such names", of_names.size() - count));
}

// Where names of it are answered otherwise than by its instances.
void add_served(const LrpFacts& facts, std::vector<std::string>& texts) {
    const auto& routes = facts.desired.routes.http;
    if (routes.empty()) return;
    switch (facts.served) {
        case LrpFacts::Served::no_routers:
            return;
        case LrpFacts::Served::by_none:
            texts.emplace_back("no Router takes its labels: only gorouters serve its names");
            return;
        case LrpFacts::Served::by_some:
            if (std::any_of(routes.begin(), routes.end(), [](const auto& each) { return !each.route_service.empty(); }))
                texts.emplace_back("route_service_url: our routers answer 503, as nobody may be sent past the service");
            return;
    }
}

// What is good to know though nothing is wrong.
std::vector<std::string> notices(const LrpFacts& facts, std::string_view provider) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < facts.plan.routes.size(); ++i) {
        const auto& outcome = facts.plan.routes[i];
        if (facts.desired.routes.ports[i].provider != provider || is_problem(outcome.state)) continue;
        if (!outcome.message.empty()) texts.push_back(outcome.message);
    }
    if (provider != lrp::cf_router) return texts;
    add_served(facts, texts);
    add_first(facts.overruled, texts);
    add_first(lrp::limits_of(facts.desired), texts);
    if (facts.routes_first.empty()) return texts;
    std::vector<std::string> names;
    for (const auto& [name, routers] : facts.routes_first) {
        if (names.size() == listed_names) {
            names.push_back(fmt::format("{} more", facts.routes_first.size() - listed_names));
            break;
        }
        names.push_back(fmt::format("{} (router {})", name, join({routers.begin(), routers.end()}, ", ")));
    }
    texts.push_back(fmt::format("a Route has {} and goes first there", join(names, ", ")));
    return texts;
}

resource::Condition judge(const LrpFacts& facts, const Provider& provider, bool& unsettled) {
    resource::Condition condition;
    condition.type = provider.condition;
    condition.observed_generation = facts.generation;
    std::vector<std::string> problems, pending;
    if (const auto found = facts.desired.routes.problems.find(std::string(provider.name));
        found != facts.desired.routes.problems.end() && !found->second.empty()) {
        problems = found->second;
        condition.reason = "Invalid";
    }
    for (std::size_t i = 0; i < facts.plan.routes.size(); ++i) {
        const auto& route = facts.desired.routes.ports[i];
        const auto& outcome = facts.plan.routes[i];
        if (route.provider != provider.name) continue;
        if (is_problem(outcome.state)) {
            if (problems.empty()) condition.reason = reason_of(outcome.state);
            problems.push_back(outcome.message);
        } else if (outcome.state == PortState::wanted) {
            pending.push_back(fmt::format("{} port {} of router {} to port {} is about to be leased",
                                          traffic::name_of(route.transport), outcome.at.key.port, outcome.at.router,
                                          route.port));
        }
        unsettled = unsettled || outcome.state == PortState::wanted || outcome.state == PortState::renew;
    }
    if (provider.name == lrp::cf_router) {
        for (const auto& [router, trouble] : facts.troubles) {
            if (problems.empty()) condition.reason = trouble.first;
            problems.push_back(fmt::format("router {}: {}", router, trouble.second));
        }
    }
    const auto force = in_force(facts, provider.name);
    if (!problems.empty()) {
        condition.status = "False";
        condition.message = listed(problems);
        if (!force.empty()) condition.message += "; accepted: " + force;
    } else if (!pending.empty()) {
        condition.status = "Unknown";
        condition.reason = "Pending";
        condition.message = listed(pending);
    } else {
        condition.status = "True";
        condition.reason = "Accepted";
        condition.message = force.empty() ? "no routes" : force;
    }
    for (const auto& each : notices(facts, provider.name)) condition.message += "; " + each;
    return condition;
}

}  // namespace

std::string_view condition_of(std::string_view provider) {
    for (const auto& each : providers) {
        if (each.name == provider) return each.condition;
    }
    return "";
}

bool is_provider_condition(std::string_view type) {
    return std::any_of(std::begin(providers), std::end(providers),
                       [&](const auto& each) { return each.condition == type; });
}

LrpStory lrp_story(const LrpFacts& facts) {
    LrpStory story;
    const auto& routes = facts.desired.routes;
    for (const auto& provider : providers) {
        if (std::find(routes.providers.begin(), routes.providers.end(), provider.name) == routes.providers.end())
            continue;
        story.conditions.push_back(judge(facts, provider, story.unsettled));
    }
    for (std::size_t i = 0; i < facts.plan.routes.size(); ++i) {
        const auto& outcome = facts.plan.routes[i];
        if (outcome.state != PortState::held && outcome.state != PortState::renew) continue;
        story.ports.push_back({routes.ports[i].provider, std::string(traffic::name_of(outcome.at.key.transport)),
                               routes.ports[i].port, outcome.at.key.port, outcome.at.router});
    }
    std::sort(story.ports.begin(), story.ports.end(), [](const auto& a, const auto& b) {
        return std::tie(a.router, a.protocol, a.incoming_port) < std::tie(b.router, b.protocol, b.incoming_port);
    });
    return story;
}

}  // namespace fairlead::controller
