#include "gce/gce.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/log.h"
#include "gce/api.h"
#include "gce/runner.h"
#include "gce/steps.h"
#include "gce/wanted.h"

namespace fairlead::gce {
namespace {

using namespace std::chrono_literals;
using balancer::Applied;
using balancer::Order;
using balancer::Seen;
using balancer::State;

constexpr unsigned max_rounds = 12;  // of reading anew within one call

// All things of a project that were looked at.
struct Survey {
    std::map<Key, json::Value> things;
};

class Gce final : public balancer::Provider {
public:
    Gce(balancer::ProviderSettings settings, const Access& access, balancer::Surroundings surroundings, Tokens tokens)
        : settings_(std::move(settings)),
          access_(access),
          api_(access.project, settings_.requests_per_second, std::move(surroundings), std::move(tokens),
               network(access.endpoint, settings_.timeout)) {
        settings_.secret.clear();  // the tokens have it
        access_.key_json.clear();
    }

    Result<Seen> create(const Order& order) override;
    Result<std::optional<Seen>> get(const std::string& name) override;
    Result<Applied> update_rules(const Order& order, const traffic::RoutingTable& table) override;
    Result<bool> remove(const Order& order) override;
    Result<std::vector<Seen>> list() override;

private:
    [[nodiscard]] Mark mark(const Order& order) const { return {settings_.installation, order.name, order.uid}; }
    [[nodiscard]] MonotonicTime deadline() const {
        return api_.surroundings().clock.monotonic() + access_.operation_timeout;
    }
    Result<Frame> frame_of(const Order& order) const;
    Result<Survey> survey(std::span<const Kind> kinds);
    // Of these, ours. Errors: conflict (the balancer is somebody else's).
    Result<Present> ours(const Survey& survey, const Order& order) const;
    Result<void> nobody_elses(const Survey& survey, const Wanted& wanted, const Mark& mine) const;
    Result<Instances> instances_of(const Frame& frame, const traffic::RoutingTable& table);
    Result<void> read_members(Present& present, const Wanted& wanted);
    Result<std::optional<json::Value>> read(const Key& key);
    Result<bool> under_way(const std::string& balancer);
    [[nodiscard]] Seen seen_of(const std::string& name, const json::Value& rule) const;

    balancer::ProviderSettings settings_;
    Access access_;
    Api api_;
};

// One that is not there yet, or not wholly.
Seen half_made(const std::string& name, const std::string& uid, std::string message) {
    Seen seen;
    seen.name = name;
    seen.uid = uid;
    seen.message = std::move(message);
    return seen;
}
constexpr const char* no_front = "parts of it are there, but no forwarding rule";

bool is_front(const Key& key, std::string_view balancer) {
    return key.kind == Kind::rule && key.name == part_name(balancer, "");
}

Result<Frame> Gce::frame_of(const Order& order) const {
    if (order.name.empty()) return fail(Errc::invalid, "lbName", "must not be empty");
    if (order.uid.empty()) return fail(Errc::invalid, "uid", "must not be empty");
    auto parameters = parameters_of(settings_, order);
    if (!parameters) return fail(parameters.error());
    return Frame{mark(order), order.scope, std::move(*parameters)};
}

Result<Survey> Gce::survey(std::span<const Kind> kinds) {
    Survey made;
    for (const auto kind : kinds) {
        const std::string collection(collection_of(kind));
        bool partial = false;
        const auto read = api_.pages({.operation = "list", .path = "aggregated/" + collection}, [&](const auto& page) {
            const auto* unreachable = json::find(page, "unreachables");
            partial =
                partial || (unreachable != nullptr && unreachable->is_array() && !unreachable->get_array().empty());
            const auto* items = json::find(page, "items");
            if (items == nullptr || !items->is_object()) return;
            for (const auto& scope : items->get_object()) {
                const auto* list = json::find(scope.value(), collection);
                if (list == nullptr || !list->is_array()) continue;
                for (const auto& thing : list->get_array()) {
                    Key key{kind, std::string(scope.key()), std::string(json::string_at(thing, "name"))};
                    made.things.insert_or_assign(std::move(key), thing);
                }
            }
        });
        if (!read) return fail(read.error().error);
        // What is not seen would be made again, or forgotten.
        if (partial)
            return fail(Errc::unavailable, fmt::format("list {}: some regions or zones do not answer", collection));
    }
    return made;
}

Result<Present> Gce::ours(const Survey& survey, const Order& order) const {
    Present present;
    for (const auto& [key, thing] : survey.things) {
        const auto mark = mark_of(thing);
        const bool bears_ours = mark && mark->installation == settings_.installation && mark->balancer == order.name;
        if (bears_ours && mark->uid != order.uid) {
            return fail(Errc::conflict, order.name,
                        fmt::format("{} was made for the LoadBalancer with uid {}", path_of(key), mark->uid));
        }
        if (bears_ours) present.things.emplace(key, thing);
    }
    return present;
}

Result<void> Gce::nobody_elses(const Survey& survey, const Wanted& wanted, const Mark& mine) const {
    for (const auto& [key, thing] : wanted.things) {
        const auto found = survey.things.find(key);
        if (found == survey.things.end()) continue;
        const auto mark = mark_of(found->second);
        if (mark == mine) continue;
        const auto whose =
            mark ? fmt::format(": installation {}, balancer {}", mark->installation, mark->balancer) : "";
        return fail(Errc::conflict, key.name, fmt::format("{} is somebody else's{}", path_of(key), whose));
    }
    return {};
}

Result<std::optional<json::Value>> Gce::read(const Key& key) {
    auto thing = api_.call({.operation = "get", .path = path_of(key)});
    if (thing) return std::optional(std::move(*thing));
    if (thing.error().trouble == Trouble::missing) return std::optional<json::Value>();
    return fail(thing.error().error);
}

// Whether an operation is still at work on a part of the balancer, which no list may show yet.
Result<bool> Gce::under_way(const std::string& balancer) {
    bool found = false;
    ApiRequest request{.operation = "list", .path = "aggregated/operations"};
    request.query.emplace_back("filter", R"(status != "DONE")");
    const auto read = api_.pages(request, [&](const json::Value& page) {
        const auto* items = json::find(page, "items");
        if (items == nullptr || !items->is_object()) return;
        for (const auto& scope : items->get_object()) {
            const auto* list = json::find(scope.value(), "operations");
            if (list == nullptr || !list->is_array()) continue;
            found =
                found || std::any_of(list->get_array().begin(), list->get_array().end(), [&](const auto& operation) {
                    const auto target = json::string_at(operation, "targetLink");
                    return json::string_at(operation, "status") != "DONE" &&
                           is_part(target.substr(target.rfind('/') + 1), balancer);
                });
        }
    });
    if (!read) return fail(read.error().error);
    return found;
}

Seen Gce::seen_of(const std::string& name, const json::Value& rule) const {
    auto seen = half_made(name, {}, {});
    const auto mark = mark_of(rule);
    seen.foreign = !mark || mark->installation != settings_.installation || mark->balancer != name;
    if (!seen.foreign) seen.uid = mark->uid;
    const std::string address{json::string_at(rule, "IPAddress")};
    // While it is made the service may show the reserved address by its name, or none.
    if (address.empty() || address.find('/') != std::string::npos) {
        seen.message = "the forwarding rule has no address yet";
        return seen;
    }
    seen.state = State::running;
    seen.addresses.push_back(address);
    return seen;
}

Result<Seen> Gce::create(const Order& order) {
    auto frame = frame_of(order);
    if (!frame) return fail(frame.error());
    auto wants = wanted(*frame, {}, {}, {});
    if (!wants) return fail(wants.error());
    auto all = survey(all_kinds);
    if (!all) return fail(all.error());
    auto present = ours(*all, order);
    if (!present) return fail(present.error());
    if (auto good = nobody_elses(*all, *wants, frame->mark); !good) return fail(good.error());
    const auto front = front_of(*frame);
    if (const auto there = present->things.find(front); there != present->things.end())
        return seen_of(order.name, there->second);
    auto ran = Runner(api_, frame->mark, deadline()).run(additions(*present, *wants));
    if (!ran) return fail(ran.error());
    auto seen = half_made(order.name, order.uid, "being made");
    if (ran->pending || ran->stale) return seen;
    auto rule = read(front);
    if (!rule) return fail(rule.error());
    return *rule ? seen_of(order.name, **rule) : seen;
}

Result<std::optional<Seen>> Gce::get(const std::string& name) {
    constexpr std::array front{Kind::rule};
    auto rules = survey(front);
    if (!rules) return fail(rules.error());
    std::optional<Seen> found;
    for (const auto& [key, rule] : rules->things) {
        if (!is_front(key, name)) continue;
        auto seen = seen_of(name, rule);
        if (!found || found->foreign) found = std::move(seen);
    }
    if (found) return found;
    // Half made, or half gone.
    auto all = survey(all_kinds);
    if (!all) return fail(all.error());
    for (const auto& [key, thing] : all->things) {
        const auto mark = mark_of(thing);
        if (!mark || mark->installation != settings_.installation || mark->balancer != name) continue;
        return half_made(name, mark->uid, no_front);
    }
    return std::optional<Seen>();
}

Result<Instances> Gce::instances_of(const Frame& frame, const traffic::RoutingTable& table) {
    Instances instances;
    const bool members = std::any_of(table.pools.begin(), table.pools.end(),
                                     [](const auto& pool) { return !pool.second.members.empty(); });
    if (frame.parameters.endpoint_type != EndpointType::vm || !members) return instances;
    for (const auto& zone : frame.parameters.zones) {
        const auto path = fmt::format("zones/{}/instances", zone);
        const auto read = api_.pages({.operation = "list", .path = path},
                                     [&](const json::Value& page) { instances.add(zone, page); });
        if (read) continue;
        auto error = read.error().error;
        if (read.error().trouble == Trouble::missing) error.field = "parameters.zones";
        return fail(error);
    }
    return instances;
}

Result<void> Gce::read_members(Present& present, const Wanted& wanted) {
    for (const auto& [key, endpoints] : wanted.endpoints) {
        if (!present.things.contains(key)) continue;
        auto& there = present.endpoints[key];
        ApiRequest request{.operation = "list", .method = "POST", .path = path_of(key) + "/listNetworkEndpoints"};
        request.body = json::Object();
        const auto read = api_.pages(request, [&](const json::Value& page) {
            const auto* items = json::find(page, "items");
            if (items == nullptr || !items->is_array()) return;
            for (const auto& item : items->get_array()) {
                const auto instance = json::string_at(item, "networkEndpoint.instance");
                const auto slash = instance.rfind('/');
                there.insert({std::string(slash == std::string_view::npos ? instance : instance.substr(slash + 1)),
                              std::string(json::string_at(item, "networkEndpoint.ipAddress")),
                              static_cast<std::uint16_t>(json::int_at(item, "networkEndpoint.port").value_or(0))});
            }
        });
        // A list that is behind may show a group that has gone.
        if (!read && read.error().trouble != Trouble::missing) return fail(read.error().error);
    }
    return {};
}

Result<Applied> Gce::update_rules(const Order& order, const traffic::RoutingTable& table) {
    auto frame = frame_of(order);
    if (!frame) return fail(frame.error());
    auto instances = instances_of(*frame, table);
    if (!instances) return fail(instances.error());
    Refused refused;
    Applied applied;
    const auto until = deadline();
    for (unsigned round = 0; round < max_rounds; ++round) {
        auto wants = wanted(*frame, table, *instances, refused);
        if (!wants) return fail(wants.error());
        applied.problems = wants->problems;
        auto all = survey(all_kinds);
        if (!all) return fail(all.error());
        auto present = ours(*all, order);
        if (!present) return fail(present.error());
        if (auto good = nobody_elses(*all, *wants, frame->mark); !good) return fail(good.error());
        if (auto good = read_members(*present, *wants); !good) return fail(good.error());
        auto ran = Runner(api_, frame->mark, until).run(steps(*present, *wants));
        if (!ran) return fail(ran.error());
        applied.settled = !ran->pending && !ran->stale && ran->refused.empty();
        if (applied.settled || ran->pending) return applied;
        refused.merge(ran->refused);
        if (api_.surroundings().clock.monotonic() >= until) return applied;
        if (ran->stale && !api_.rest(round)) return fail(Errc::unavailable, "the server is stopping");
    }
    return applied;
}

Result<bool> Gce::remove(const Order& order) {
    auto all = survey(all_kinds);
    if (!all) return fail(all.error());
    auto present = ours(*all, order);
    if (!present) return fail(present.error());
    if (present->things.empty()) {
        for (const auto& [key, thing] : all->things) {
            if (is_front(key, order.name))
                return fail(Errc::conflict, order.name, fmt::format("{} is somebody else's", path_of(key)));
        }
    }
    // A list may be behind: what was made first is asked for by its name.
    if (const auto frame = frame_of(order)) {
        for (const auto& key : {front_of(*frame), address_of(*frame)}) {
            if (present->things.contains(key)) continue;
            auto thing = read(key);
            if (!thing) return fail(thing.error());
            if (*thing && mark_of(**thing) == frame->mark) present->things.emplace(key, std::move(**thing));
        }
    }
    if (present->things.empty()) {
        auto busy = under_way(order.name);
        if (!busy) return fail(busy.error());
        return !*busy;
    }
    const auto ran = Runner(api_, mark(order), deadline()).run(removals(*present));
    if (!ran) return fail(ran.error());
    // What was made meanwhile, or is still shown: the next time tells.
    if (ran->pending || ran->stale) return false;
    auto after = survey(all_kinds);
    if (!after) return fail(after.error());
    auto left = ours(*after, order);
    if (!left) return fail(left.error());
    return left->things.empty();
}

Result<std::vector<Seen>> Gce::list() {
    auto all = survey(all_kinds);
    if (!all) return fail(all.error());
    std::map<std::string, Seen> found;
    for (const auto& [key, thing] : all->things) {
        const auto mark = mark_of(thing);
        if (!mark || mark->installation != settings_.installation) continue;
        auto& seen = found[mark->balancer];
        if (is_front(key, mark->balancer)) {
            seen = seen_of(mark->balancer, thing);
        } else if (seen.name.empty()) {
            seen = half_made(mark->balancer, mark->uid, no_front);
        }
    }
    std::vector<Seen> made;
    for (auto& [name, seen] : found) made.push_back(std::move(seen));
    return made;
}

// Tokens are asked for seldom: a client for each time, with a short limit.
Result<net::Response> ask_for_token(const std::string& base_url, const net::ClientRequest& request) {
    net::ClientOptions options;
    options.base_url = base_url;
    options.connect_timeout = 2s;
    options.timeout = 10s;
    return net::Client(std::move(options)).send(request);
}

}  // namespace

Result<std::unique_ptr<balancer::Provider>> make_gce(const balancer::ProviderSettings& settings,
                                                     const balancer::Surroundings& surroundings) {
    auto access = access_of(settings);
    if (!access) return fail(access.error());
    if (!(settings.requests_per_second > 0)) return fail(Errc::invalid, "requestsPerSecond", "must be above 0");
    auto tokens = Tokens::make(*access, surroundings.clock, ask_for_token);
    if (!tokens) return fail(tokens.error());
    return std::make_unique<Gce>(settings, *access, surroundings, std::move(*tokens));
}

void register_gce(balancer::Providers& providers, const balancer::Surroundings& surroundings) {
    providers.add(
        "gce", [surroundings](const balancer::ProviderSettings& settings) { return make_gce(settings, surroundings); });
}

}  // namespace fairlead::gce
