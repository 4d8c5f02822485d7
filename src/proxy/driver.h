// A proxy that follows a RoutingTable: takes what is wanted, brings the proxy there with as little disturbance as it
// can, and says how far it has come. HAProxy is in haproxy/. Used by the router's agent (src/router).
//
// Threads: every function from any thread and short; the driver works on its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "traffic/table.h"

namespace fairlead::proxy {

// How far the proxy has come.
struct Progress {
    bool up = false;               // it answers requests
    bool inherited = false;        // what it answers by is what a former driver left, until a table is in force
    std::uint64_t programmed = 0;  // everything up to this version is in force, but for the problems
    // By owner, of what cannot be in force: "certificate: key does not match". The rest of the owner may be.
    std::map<std::string, std::string> problems;
    std::string trouble;  // of the proxy as a whole, for people; empty: none
    // Of HAProxy: counted growth and new classes, never for a change of routes. Of nginx: all.
    std::uint64_t reloads = 0;
    bool operator==(const Progress&) const = default;
};

// Requests of one owner (a route), since the proxy was started; counts only grow, also over reloads and restarts.
struct PoolFigures {
    std::uint64_t requests = 0, bytes_in = 0, bytes_out = 0, connect_errors = 0;
    std::map<int, std::uint64_t> codes;  // by class: 2 -> 2xx
    double average_seconds = 0;          // of the last requests, as the proxy measures them
    std::uint64_t active = 0;            // under way now
    bool operator==(const PoolFigures&) const = default;
};

class Driver {
public:
    virtual ~Driver() = default;
    // The whole table, at the start and after the source was lost. Versions grow.
    virtual void reset(traffic::RoutingTable table, std::uint64_t version) = 0;
    // What has changed since. Merged with what waits: a storm on one key costs one command.
    virtual void change(traffic::TableDiff change, std::uint64_t version) = 0;
    [[nodiscard]] virtual Progress progress() const = 0;
    // By the pool's name.
    [[nodiscard]] virtual std::map<std::string, PoolFigures> figures() const = 0;
    // Called from any thread when progress() has changed; short. Null: nobody listens any more.
    virtual void on_progress(std::function<void()> call) = 0;
    // When the driver ends, the proxy is drained and stopped; without this it goes on, for the next driver to find.
    virtual void stop_proxy_at_end() = 0;
};

}  // namespace fairlead::proxy
