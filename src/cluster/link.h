// The way to an API, as those who follow it need it: lists and watches of a few kinds, and for a router's agent also
// small writes. Implemented over HTTP (http_link.h) and by the simulator, which cuts it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::cluster {

// Where to log in; comes from a Cluster and its Secret.
struct Access {
    std::string server;  // "https://spoke-1.example.net:6443"
    std::string ca_pem, certificate_pem, key_pem, bearer_token;
    bool insecure_skip_verify = false;
    bool operator==(const Access&) const = default;
};

// Something to write.
struct Sending {
    std::string method = "POST", path, body;
    std::string content_type = "application/json";
};

// One list, watch or write that is under way; its end (by the destructor too) silences the callbacks.
class Call {
public:
    virtual ~Call() = default;
};

class Link {
public:
    virtual ~Link() = default;
    // GET of `path` ("/apis/gateway.networking.k8s.io/v1/gateways?limit=500"). `done` gets the body of a 200 answer.
    // Errors: compacted (410), not_found, invalid (refused: 401, 403; TLS), unavailable, timeout. Callbacks may come
    // from any thread.
    virtual std::unique_ptr<Call> list(std::string path, std::function<void(Result<std::string>)> done) = 0;
    // The same, answered line by line until it ends; `done` says how it ended (success: the server ended it).
    virtual std::unique_ptr<Call> watch(std::string path, std::function<void(std::string_view)> line,
                                        std::function<void(Result<void>)> done) = 0;
    // A write; `done` gets the body of a 2xx answer. Errors as of list, and: conflict (409), invalid (422). One that
    // was ended (by its Call) may have happened. Links to where nothing is written need not have it.
    virtual std::unique_ptr<Call> send(Sending sending, std::function<void(Result<std::string>)> done);
};

}  // namespace fairlead::cluster
