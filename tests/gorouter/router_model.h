// What a gorouter makes of the messages of an emitter, by its rules and no better: a name is lower-cased, an endpoint
// is its address, the last registration counts, a withdrawal goes by name and address only, endpoints age out unless
// they have TLS. Pure; used by tests, the simulator and strict_router. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "json/value.h"

namespace fairlead::gorouter {

// A register or unregister message as a router reads it.
struct RouterMessage {
    std::string host;
    std::uint16_t port = 0, tls_port = 0;
    std::vector<std::string> uris;
    std::string app, instance, index, route_service, san, options;
    std::chrono::seconds stale_threshold{0};
    std::map<std::string, std::string> tags;
    // "10.0.0.1:61001", with the TLS port if there is one.
    [[nodiscard]] std::string address() const;
};
// Nothing: no JSON of the right types, or a route service that is not https. Routers log and drop it.
std::optional<RouterMessage> read_message(std::string_view body);

struct RouterEndpoint {
    std::string app, instance, index, route_service, san, options;
    bool tls = false;
    std::chrono::seconds ttl{0};
    MonotonicTime updated;
    std::shared_ptr<const std::string> tags;  // JSON object; shared by the names of a message
};

class RouterModel {
public:
    struct Settings {
        std::chrono::seconds stale_threshold{120};
        std::chrono::seconds interval{20};
        // `suspend_pruning_if_nats_unavailable`: nothing is dropped while NATS is away, and when it is back everything
        // counts as registered anew.
        bool suspends_pruning = true;
    };
    using Table = std::map<std::string, std::map<std::string, RouterEndpoint>>;  // by name and address

    explicit RouterModel(Settings settings) : settings_(settings) {}

    // "router.register", "router.unregister": by the last part. False: dropped.
    bool message(std::string_view subject, std::string_view body, MonotonicTime now);
    // What routers do every 30 s. `connected`: to NATS, now.
    void prune(MonotonicTime now, bool connected = true);
    // Comes back knowing nothing.
    void restart() {
        table_.clear();
        suspended_ = false;
    }

    [[nodiscard]] const Table& table() const { return table_; }
    [[nodiscard]] bool holds(const std::string& name, const std::string& address) const;
    [[nodiscard]] std::set<std::pair<std::string, std::string>> pairs() const;
    // As /routes answers.
    [[nodiscard]] std::string routes() const;
    // As it answers a greeting and says at its start.
    [[nodiscard]] std::string hello(std::string_view id) const;

    struct Counts {
        std::uint64_t registers = 0, unregisters = 0, refused = 0, names = 0, pruned = 0;
    };
    [[nodiscard]] const Counts& counts() const { return counts_; }

private:
    Settings settings_;
    Table table_;
    bool suspended_ = false;  // when it was last time to prune
    Counts counts_;
};

}  // namespace fairlead::gorouter
