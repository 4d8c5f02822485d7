// A small world for tests of the API's semantics: a memory store, a clock that stands still, a seeded random, the kinds
// of Fairlead and one more of our own ("routes.traffic.example.io", the kind whose answers were recorded from a real
// kube-apiserver). Requests go straight to Rest: no sockets, no threads.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request_info.h"
#include "apiserver/rest.h"
#include "apiserver/table.h"
#include "apiserver/watch.h"
#include "base/clock.h"
#include "base/random.h"
#include "json/value.h"
#include "resource/kind.h"
#include "store/memory.h"

namespace fairlead::apiserver {

resource::Kind example_route_kind();
resource::Kinds example_kinds();

struct Answer {
    int code = 0;
    std::string body;
    std::vector<std::string> warnings;
    int retry_after = 0;
    json::Value value;  // the body, parsed

    [[nodiscard]] std::string at(std::string_view path) const { return std::string(json::string_at(value, path)); }
    [[nodiscard]] std::string message() const { return at("message"); }
    [[nodiscard]] std::string reason() const { return at("reason"); }
    [[nodiscard]] std::string revision() const { return at("metadata.resourceVersion"); }
    [[nodiscard]] const json::Array& items() const;
    [[nodiscard]] std::vector<std::string> names() const;  // of the items
};

class World {
public:
    explicit World(store::HistoryLimits history = {}, RestOptions options = {std::chrono::milliseconds(1)});

    Answer send(std::string_view method, std::string_view path, std::string_view body = {},
                std::string_view content_type = "application/json", std::string_view accept = {});
    Answer get(std::string_view path, std::string_view accept = {}) { return send("GET", path, {}, {}, accept); }
    Answer post(std::string_view path, std::string_view body) { return send("POST", path, body); }
    Answer put(std::string_view path, std::string_view body) { return send("PUT", path, body); }
    Answer merge(std::string_view path, std::string_view body) {
        return send("PATCH", path, body, "application/merge-patch+json");
    }
    Answer remove(std::string_view path, std::string_view body = {}) { return send("DELETE", path, body); }

    // A route of the example kind in the namespace "default".
    Answer make_route(std::string_view name, std::string_view more_metadata = {},
                      std::string_view spec = R"("host":"h")");
    // PUT of what is stored, after `edit`.
    Answer edit(std::string_view path, const std::function<void(json::Value&)>& edit);

    // Opens a watch; a refusal comes back as the answer. Without a hub nobody wakes it.
    std::unique_ptr<WatchStream> watch(std::string_view path, std::string_view accept = {}, WatchLimits limits = {},
                                       Answer* refusal = nullptr, WatchHub* hub = nullptr);

    ManualClock clock;
    SeededRandom random{7};
    std::unique_ptr<store::Store> store;
    resource::Kinds kinds;
    Rest rest;

    static constexpr std::string_view routes = "/apis/traffic.example.io/v1/namespaces/default/routes";

private:
    struct Parsed {
        Target target;
        QueryOptions options;
        Form form;
    };
    Parsed parse(std::string_view path, std::string_view accept);
};

// Everything that a watch has to say now, one string per line: "ADDED a", "BOOKMARK 7", "ERROR 410".
std::vector<std::string> pull_all(WatchStream& stream, net::StreamBody::Next* last = nullptr);
std::vector<json::Value> pull_values(WatchStream& stream, net::StreamBody::Next* last = nullptr);

}  // namespace fairlead::apiserver
