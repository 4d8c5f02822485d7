// A scripted server for command tests: answers by method and target, in the order they were scripted; records what it
// was asked. Discovery of two groups is always there.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <sstream>

#include "base/text.h"
#include "cli/session.h"
#include "cli/transport.h"

namespace fairlead::cli {

struct Scripted {
    int status = 200;
    std::string body;
    net::Headers headers;
    std::optional<Error> error;
};

inline Scripted ok(std::string body) { return {200, std::move(body), {}, {}}; }
inline Scripted not_found(const std::string& what) {
    return {
        404,
        R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404,"message":")" + what + R"( not found"})",
        {},
        {}};
}

class FakeServer final : public Transport {
public:
    FakeServer() {
        always("GET /api", R"({"versions":["v1"]})");
        always("GET /apis",
               R"({"groups":[{"name":"route.openshift.io","preferredVersion":{"groupVersion":"route.openshift.io/v1"}},
            {"name":"fairlead.dev","versions":[{"groupVersion":"fairlead.dev/v1"}]}]})");
        always("GET /api/v1", R"({"groupVersion":"v1","resources":[
            {"name":"namespaces","singularName":"","kind":"Namespace","namespaced":false,"shortNames":["ns"],"verbs":["get","list"]},
            {"name":"namespaces/status","kind":"Namespace","namespaced":false,"verbs":["get"]},
            {"name":"secrets","singularName":"secret","kind":"Secret","namespaced":true,"verbs":["get","list"]}]})");
        always("GET /apis/route.openshift.io/v1", R"({"groupVersion":"route.openshift.io/v1","resources":[
            {"name":"routes","singularName":"route","kind":"Route","namespaced":true,"shortNames":["rt"],"categories":["all"],"verbs":["get","list","watch"]},
            {"name":"routes/status","kind":"Route","namespaced":true,"verbs":["get"]}]})");
        always("GET /apis/fairlead.dev/v1", R"({"groupVersion":"fairlead.dev/v1","resources":[
            {"name":"routers","singularName":"router","kind":"Router","namespaced":false,"categories":["all"],"verbs":["get","list","watch"]}]})");
    }

    // The next answer to this call; calls are matched as "METHOD /path?query" with the query decoded.
    void answer(const std::string& call, Scripted scripted) { answers_[call].push_back(std::move(scripted)); }
    void answer(const std::string& call, std::string body) { answer(call, ok(std::move(body))); }
    void always(const std::string& call, std::string body) { always_[call] = std::move(body); }

    Result<net::Response> send(const net::ClientRequest& request) override {
        const auto call = record(request);
        auto queue = answers_.find(call);
        Scripted scripted;
        if (queue != answers_.end() && !queue->second.empty()) {
            scripted = std::move(queue->second.front());
            queue->second.pop_front();
        } else if (const auto fixed = always_.find(call); fixed != always_.end()) {
            scripted.body = fixed->second;
        } else {
            ADD_FAILURE() << "not in the script: " << call;
            return fail(Errc::internal, "not in the script: " + call);
        }
        if (scripted.error) return fail(*scripted.error);
        net::Response response;
        response.status = scripted.status;
        response.body = scripted.body;
        response.headers = scripted.headers;
        return response;
    }

    // The body of a scripted watch is its lines.
    Result<net::Response> stream(const net::ClientRequest& request, const std::function<bool(std::string_view)>& line,
                                 std::optional<std::chrono::milliseconds> limit) override {
        limits.push_back(limit);
        auto response = send(request);
        if (!response || response->status != 200) return response;
        for (const auto text : split(response->body, '\n')) {
            if (!text.empty() && !line(text)) break;
        }
        return response;
    }

    struct Seen {
        std::string call, body;
        net::Headers headers;
    };
    std::vector<Seen> seen;
    std::vector<std::optional<std::chrono::milliseconds>> limits;

    // Calls without discovery.
    [[nodiscard]] std::vector<std::string> calls() const {
        std::vector<std::string> list;
        for (const auto& one : seen) {
            if (always_.count(one.call) == 0) list.push_back(one.call);
        }
        return list;
    }
    [[nodiscard]] const Seen& last(const std::string& method) const {
        for (auto at = seen.rbegin(); at != seen.rend(); ++at) {
            if (at->call.starts_with(method + " ")) return *at;
        }
        ADD_FAILURE() << "no call with " << method;
        return seen.front();
    }

private:
    std::string record(const net::ClientRequest& request) {
        auto call = request.method + " " + percent_decode(request.target, false).value_or(request.target);
        seen.push_back({call, request.body, request.headers});
        return call;
    }

    std::map<std::string, std::deque<Scripted>> answers_;
    std::map<std::string, std::string> always_;
};

// A terminal that is a string, with a clock that only sleeping moves.
struct FakeTerminal {
    std::istringstream in;
    std::ostringstream out, err;
    ManualClock clock;
    std::map<std::string, std::string> variables;
    std::vector<std::chrono::milliseconds> sleeps;
    Terminal terminal{in,
                      out,
                      err,
                      clock,
                      false,
                      [this](std::chrono::milliseconds time) {
                          sleeps.push_back(time);
                          clock.advance(time);
                      },
                      [this](const std::string& name) { return variables[name]; }};
};

// Everything a command test needs.
class CommandTest : public testing::Test {
protected:
    FakeServer server;
    FakeTerminal screen;
    Session session{server, screen.terminal, "default", false, "/home/me/admin.kubeconfig"};

    std::string out() const { return screen.out.str(); }
    std::string err() const { return screen.err.str(); }
};

}  // namespace fairlead::cli
