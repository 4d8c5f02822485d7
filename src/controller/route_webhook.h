// The strategy `webhook`: a user's own program says which router takes a route. What is asked, what an answer means,
// and the answers that are awaited; who carries the question over HTTP comes in. Used by route_scheduler.
//
// Threads: the manager's; only answers come from another.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "traffic/shards.h"

namespace fairlead::controller {

// POST of a JSON body.
struct Question {
    std::string url, ca_pem, body;
    std::chrono::milliseconds timeout{2'000};
    bool operator==(const Question&) const = default;
};
// Calls back once, from any thread: with the body of a 2xx answer, or with why there is none.
using Ask = std::function<void(Question question, std::function<void(Result<std::string>)> done)>;

// The settings of spec.strategy.parameters. Errors name the parameter.
struct WebhookSettings {
    std::string url, ca_pem, fallback;  // fallback: a strategy, or "fail"
    std::chrono::milliseconds timeout{2'000};
};
Result<WebhookSettings> webhook_settings(const std::map<std::string, std::string>& parameters);

// {"route": the Route without its key, "routers": [{"name", "routes", "capacity"}, ...]}. Pure.
std::string webhook_body(json::Value route, std::span<const traffic::Candidate> routers);
// The router that {"router": name} names, which must be one of those that were offered. Pure.
Result<std::string> webhook_choice(std::string_view answer, std::span<const traffic::Candidate> routers);

// Questions that are under way, and answers that nobody has used yet: one per route.
class WebhookCalls {
public:
    static constexpr std::size_t max_open = 64;  // at once; further routes wait for their turn

    WebhookCalls(Ask ask, std::function<void()> wake);
    ~WebhookCalls();
    WebhookCalls(const WebhookCalls&) = delete;
    WebhookCalls& operator=(const WebhookCalls&) = delete;

    [[nodiscard]] bool asking(const std::string& route) const { return open_.contains(route); }
    [[nodiscard]] std::size_t free() const { return max_open - open_.size(); }
    // False: too many are open.
    bool ask(const std::string& route, Question question);
    // The answer to the question about the route, if it is there; it is used up.
    std::optional<Result<std::string>> take(const std::string& route);
    // The routes whose answers have come since the last call.
    std::vector<std::string> take_news();
    void forget(const std::string& route);

private:
    struct Box;
    Ask ask_;
    std::shared_ptr<Box> box_;  // shared with the answers that are awaited
    std::set<std::string> open_;
    std::map<std::string, Result<std::string>> answers_;
};

}  // namespace fairlead::controller
