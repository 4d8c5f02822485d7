// `fairlead rebalance`: which Routes to move so that Routers are even, and the moves, one after the other.
#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/session.h"
#include "cli/wait_for.h"
#include "cli/waiting.h"
#include "resource/kinds/route.h"
#include "resource/kinds/route_binding.h"
#include "resource/kinds/router.h"
#include "route/shard.h"
#include "traffic/rebalance.h"

namespace fairlead::cli {
namespace {

constexpr auto routes_path = "/apis/route.openshift.io/v1/routes";
constexpr auto routers_path = "/apis/fairlead.dev/v1/routers";

struct Router {
    std::string dns, set, strategy;
    std::int64_t before = 0, after = 0;
};

// A move with what a person wants to know of it.
struct Step {
    traffic::Move move;
    std::string host, host_after;
    bool served = false;
};

struct Plan {
    std::map<std::string, Router> routers;
    std::map<std::string, json::Value> routes;  // by "namespace/name"
    std::vector<Step> steps;
};

bool is_served(const json::Value& route) { return met(*parse_wait_for("condition=Serving"), &route); }

Answer<void> read_routers(const RebalanceOptions& options, Session& session, Plan& plan, traffic::Shards& shards) {
    const auto list = session.api.list(routers_path, {});
    if (!list) return tl::unexpected(list.error());
    for (const auto& item : list->at("items").as_array()) {
        const auto router = resource::decode<resource::Router>(item);
        if (!router) continue;
        auto facts = route::router_facts(*router);
        if (facts.strategy.empty()) facts.strategy = options.strategy;
        plan.routers[facts.name] = {router->spec.dns, facts.set, facts.strategy, 0, 0};
        shards.put(std::move(facts));
    }
    return {};
}

Answer<Plan> make_plan(const RebalanceOptions& options, Session& session) {
    Plan plan;
    traffic::Shards shards;
    if (auto read = read_routers(options, session, plan, shards); !read) return tl::unexpected(read.error());
    const auto list = session.api.list(routes_path, {});
    if (!list) return tl::unexpected(list.error());
    std::vector<traffic::PlacedRoute> placed;
    for (const auto& item : list->at("items").as_array()) {
        const std::string router(json::string_at(item, "status.router"));
        if (router.empty()) continue;
        shards.count(router, 1);
        if (const auto known = plan.routers.find(router); known != plan.routers.end()) ++known->second.before;
        const auto decoded = resource::decode<resource::Route>(item);
        if (!decoded || !decoded->metadata.deletion_timestamp.empty()) continue;
        auto key = fmt::format("{}/{}", decoded->metadata.namespace_, decoded->metadata.name);
        plan.routes.emplace(key, item);
        placed.push_back({std::move(key), router, decoded->metadata.labels, decoded->spec.dns_type == "user",
                          decoded->spec.wildcard_policy == "Subdomain", route::shared_host(*decoded)});
    }
    const auto moves = traffic::rebalance(std::move(shards), placed);
    for (auto& each : plan.routers) each.second.after = each.second.before;
    for (const auto& move : moves) {
        auto& to = plan.routers.at(move.to);
        if (options.set && to.set != *options.set) continue;
        const auto& route = plan.routes.at(move.route);
        --plan.routers.at(move.from).after;
        ++to.after;
        plan.steps.push_back({move, std::string(json::string_at(route, "status.host")),
                              resource::final_host(route, to.dns), is_served(route)});
    }
    if (options.set) std::erase_if(plan.routers, [&](const auto& each) { return each.second.set != *options.set; });
    return plan;
}

void show(const Plan& plan, Terminal& terminal) {
    Rows moves{{"ROUTE", "FROM", "TO", "NAME", "NAME AFTER"}};
    for (const auto& step : plan.steps) {
        moves.push_back({printable(step.move.route), printable(step.move.from), printable(step.move.to),
                         printable(step.host),
                         step.host == step.host_after ? "(the same)" : printable(step.host_after)});
    }
    if (moves.size() > 1) {
        terminal.out << aligned(moves, 0) << '\n';
    }
    Rows routers{{"ROUTER", "TAKES", "STRATEGY", "ROUTES", "AFTER"}};
    for (const auto& [name, router] : plan.routers) {
        routers.push_back({printable(name), router.set.empty() ? "<rest>" : printable(router.set),
                           printable(router.strategy), std::to_string(router.before), std::to_string(router.after)});
    }
    terminal.out << aligned(routers, 0);
}

json::Value as_json(const Plan& plan) {
    json::Array moves, routers;
    for (const auto& step : plan.steps) {
        moves.push_back(json::Object{{"route", json::Value(step.move.route)},
                                     {"from", json::Value(step.move.from)},
                                     {"to", json::Value(step.move.to)},
                                     {"host", json::Value(step.host)},
                                     {"hostAfter", json::Value(step.host_after)}});
    }
    for (const auto& [name, router] : plan.routers) {
        routers.push_back(json::Object{{"name", json::Value(name)},
                                       {"takes", json::Value(router.set)},
                                       {"strategy", json::Value(router.strategy)},
                                       {"routes", router.before},
                                       {"routesAfter", router.after}});
    }
    return json::Object{{"moves", std::move(moves)}, {"routers", std::move(routers)}};
}

// False: the time is over.
Answer<bool> wait_until_served(const Step& step, const ResourceType& type, const RebalanceOptions& options,
                               Session& session) {
    const auto slash = step.move.route.find('/');
    const auto deadline = session.terminal.clock.monotonic() + options.serving_timeout;
    return wait_for_object(session, type, step.move.route.substr(0, slash), step.move.route.substr(slash + 1), deadline,
                           [&](const json::Value* route) {
                               // Gone, or moved on by somebody else: nothing of ours to wait for.
                               if (route == nullptr || json::string_at(*route, "status.router") != step.move.to) {
                                   return route == nullptr ||
                                          json::string_at(*route, "status.router") != step.move.from;
                               }
                               return is_served(*route);
                           });
}

Answer<void> move_one(const Step& step, const Plan& plan, Session& session) {
    const auto& route = plan.routes.at(step.move.route);
    resource::RouteBinding binding;
    binding.metadata.name = json::string_at(route, "metadata.name");
    binding.metadata.namespace_ = json::string_at(route, "metadata.namespace");
    binding.route_name = binding.metadata.name;
    binding.route_namespace = binding.metadata.namespace_;
    binding.route_uid = json::string_at(route, "metadata.uid");
    binding.router = step.move.to;
    binding.dns = plan.routers.at(step.move.to).dns;
    binding.from = step.move.from;
    auto body = resource::encode(binding);
    json::set_at(body, "apiVersion", "fairlead.dev/v1");
    json::set_at(body, "kind", "RouteBinding");
    auto made = session.api.send(
        "POST", fmt::format("/apis/fairlead.dev/v1/namespaces/{}/routebindings", binding.metadata.namespace_), body);
    if (!made) return tl::unexpected(made.error());
    return {};
}

int perform(const RebalanceOptions& options, const Plan& plan, Session& session) {
    auto& terminal = session.terminal;
    const auto types = resolve_targets({"routes.route.openshift.io"}, session);
    if (!types) return report(session, types.error());
    const std::chrono::nanoseconds pause = std::chrono::nanoseconds(std::chrono::minutes(1)) / options.per_minute;
    auto next = terminal.clock.monotonic();
    std::size_t count = 0;
    for (const auto& step : plan.steps) {
        if (const auto early = next - terminal.clock.monotonic(); early.count() > 0) {
            terminal.sleep(std::chrono::ceil<std::chrono::milliseconds>(early));
        }
        next = std::max(next, terminal.clock.monotonic()) + pause;
        ++count;
        const auto what = fmt::format("{} from {} to {} ({} of {})", printable(step.move.route),
                                      printable(step.move.from), printable(step.move.to), count, plan.steps.size());
        if (auto moved = move_one(step, plan, session); !moved) {
            if (moved.error().status == 404) {
                terminal.err << fmt::format("route {} is gone meanwhile\n", printable(step.move.route));
                continue;
            }
            terminal.err << fmt::format(
                "error: cannot move {}; what was moved before stays so, run it again to go on\n", what);
            report(session, moved.error());
            return 1;
        }
        const bool waits = step.served && options.serving_timeout.count() > 0;
        if (waits) {
            const auto served = wait_until_served(step, types->front().type, options, session);
            if (!served) {
                report(session, served.error());
                return 1;
            }
            if (!*served) {
                terminal.err << fmt::format(
                    "error: {} was moved and is not served there within {}s: see `fairlead "
                    "describe route {}`. Nothing more is moved.\n",
                    what, std::chrono::duration<double>(options.serving_timeout).count(), printable(step.move.route));
                return 1;
            }
        }
        (options.json ? terminal.err : terminal.out) << "moved " << what << (waits ? ", served\n" : "\n");
        terminal.out.flush();
    }
    return 0;
}

}  // namespace

int run_rebalance(const RebalanceOptions& options, Session& session) {
    auto plan = make_plan(options, session);
    if (!plan) return report(session, plan.error());
    auto& terminal = session.terminal;
    if (options.set && plan->routers.empty()) {
        return wrong_usage(session, fmt::format("no Router has spec.label \"{}\"", *options.set));
    }
    if (options.json) {
        terminal.out << json::pretty(as_json(*plan)) << '\n';
    } else {
        show(*plan, terminal);
    }
    if (plan->steps.empty()) {
        if (!options.json) terminal.out << "\nnothing to move\n";
        return 0;
    }
    if (options.dry_run) return 0;
    if (!options.json) terminal.out << '\n';
    return perform(options, *plan, session);
}

}  // namespace fairlead::cli
