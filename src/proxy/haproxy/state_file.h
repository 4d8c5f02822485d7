// state.json: what of the proxy is in no other file and cannot be read back from the worker. Which pool has which
// backend is not in it: the worker's maps say that, and they are never behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "proxy/haproxy/book.h"

namespace fairlead::proxy::haproxy {

struct State {
    std::vector<PoolClass> classes = {};    // c0, c1, ...
    std::vector<std::string> sockets = {};  // addresses of the inherited sockets, in order
    std::string settings = {};              // digest of the Settings of the files
    std::uint64_t version = 0;              // of the table in the files
    std::uint64_t reloads = 0;
    bool operator==(const State&) const = default;
};

std::string to_json(const State& state);
// Errors: corrupt; unsupported for another format.
Result<State> parse_state(std::string_view text);

}  // namespace fairlead::proxy::haproxy
