// `fairlead ownership`: records of a zone at another provider change hands, by name. The order is written into the
// zone's spec, where it stays visible; the server carries it out.
#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/plan_zones.h"
#include "cli/session.h"

namespace fairlead::cli {
namespace {

constexpr int max_attempts = 5;  // when somebody else writes the zone at the same time

bool names(const json::Value& order, const std::vector<std::string>& list) {
    const auto name = json::string_at(order, "name");
    return std::any_of(list.begin(), list.end(), [&](const auto& each) { return equal_ignoring_case(each, name); });
}

// The zone's orders, with ours in the place of earlier ones for the same names.
json::Array orders_with(const json::Value& zone, const OwnershipOptions& options) {
    json::Array orders;
    const auto* present = json::find(zone, "spec.ownership.orders");
    if (present != nullptr && present->is_array()) {
        for (const auto& each : present->get_array()) {
            if (!names(each, options.names)) orders.push_back(each);
        }
    }
    for (const auto& name : options.names) {
        json::Object order;
        order["kind"] = options.kind;
        order["name"] = name;
        if (!options.other.empty()) order["other"] = options.other;
        orders.push_back(std::move(order));
    }
    return orders;
}

int preview(const OwnershipOptions& options, const std::string& key, Session& session) {
    Query query{{"zone", key}, {"refresh", "true"}, {lower(options.kind), join(options.names, ",")}};
    query.emplace_back(options.kind == "Transfer" ? "to" : "from", options.other);
    return show_plans(query, options.json, session);
}

Answer<void> write_orders(const OwnershipOptions& options, const std::string& path, Session& session) {
    for (int attempt = 1;; ++attempt) {
        const auto zone = session.api.get(path);
        if (!zone) return tl::unexpected(zone.error());
        json::Value patch{json::Object()};
        // The list is replaced as a whole: not over somebody else's change.
        json::set_at(patch, "metadata.resourceVersion",
                     json::Value(json::string_at(*zone, "metadata.resourceVersion")));
        json::set_at(patch, "spec.ownership.orders", orders_with(*zone, options));
        const auto done = session.api.send("PATCH", path, patch, "application/merge-patch+json");
        if (done) return {};
        if (done.error().status != 409 || attempt == max_attempts) return tl::unexpected(done.error());
    }
}

}  // namespace

int run_ownership(const OwnershipOptions& options, Session& session) {
    const auto key = zone_key(options.zone, session);
    if (!key) {
        report(session, key.error());
        return 1;
    }
    if (options.dry_run) return preview(options, *key, session);
    const auto types = session.discovery.resolve("managedzones");
    if (!types) {
        report(session, types.error());
        return 1;
    }
    const auto slash = key->find('/');
    const auto path = types->front().path(key->substr(0, slash), key->substr(slash + 1));
    if (const auto done = write_orders(options, path, session); !done) {
        report(session, done.error());
        return 1;
    }
    const auto whom = options.other.empty()        ? std::string()
                      : options.kind == "Transfer" ? fmt::format(" to {}", options.other)
                                                   : fmt::format(" from {}", options.other);
    for (const auto& name : options.names) {
        session.terminal.out << printable(
                                    fmt::format("zone {}: {} {}{} ordered", *key, lower(options.kind), name, whom))
                             << '\n';
    }
    return 0;
}

}  // namespace fairlead::cli
