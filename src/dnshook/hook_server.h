// The server role of external-dns's webhook protocol, version 1, over a RecordShelf. Any thread; blocks while it
// writes.
//
//   GET  /                 200  the zones as a domain filter
//   GET  /records          200  every endpoint that was given
//   POST /adjustendpoints  200  the same endpoints: we take them as they are
//   POST /records          204  create, updateOld, updateNew, delete
//   GET  /healthz          200
//
// What cannot be read is 400; what cannot be done, for whatever reason, is 500: external-dns ends itself on any other.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/fwd.h"
#include "dnshook/record_shelf.h"
#include "net/http.h"

namespace fairlead::dnshook {

class HookServer {
public:
    HookServer(RecordShelf& shelf, const Clock& clock, Log& log, Metrics& metrics)
        : shelf_(shelf), clock_(clock), log_(log), metrics_(metrics) {}

    // `path` without what it is mounted on: "/", "/records". No error: what is wrong is an answer of the protocol.
    net::Response serve(std::string_view method, std::string_view path, const net::Headers& headers,
                        std::string_view body);

private:
    net::Response negotiate();
    net::Response records();
    net::Response adjust(std::string_view body);
    net::Response apply(std::string_view body);
    net::Response refuse(int status, std::string_view operation, const Error& error);

    RecordShelf& shelf_;
    const Clock& clock_;
    Log& log_;
    Metrics& metrics_;
};

}  // namespace fairlead::dnshook
