// Calls of the Compute Engine API (compute/v1): with a token, within the account's budget, tried again while there is a
// point in it. Thread-safe; calls block, at most about a minute.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "balancer/provider.h"
#include "base/budgets.h"
#include "gce/tokens.h"
#include "json/value.h"
#include "provider/provider_metrics.h"

namespace fairlead::gce {

// What stands in the way, as far as it makes a difference what is done next.
enum class Trouble {
    exists,     // of an insert: the name is taken
    missing,    // what was named is not there
    in_use,     // of a delete: something still points at it
    not_ready,  // on its way: the same call is good a moment later
    stale,      // the fingerprint is an old one: read again
    quota,      // says which
    passing,    // throttled, away, a server error
    refused,    // what was sent breaks a rule
    access,     // who asks may not
};

struct ApiError {
    Trouble trouble = Trouble::refused;
    Error error;  // for a person, and for callers of the provider
};
template <class T>
using ApiResult = tl::expected<T, ApiError>;

// Reason of an answer ("alreadyExists") or code of an operation's error ("RESOURCE_ALREADY_EXISTS"); pure.
Trouble trouble_of(int status, std::string_view reason);
// Code and field as balancer/provider.h has them. `what` names the call, `said` is the service's message.
ApiError error_of(Trouble trouble, std::string_view what, std::string_view said);

struct ApiRequest {
    std::string operation;  // "list", "insert", ...: for messages and ProviderMetrics
    std::string method = "GET";
    std::string path;  // below the project: "global/urlMaps/shop"
    std::vector<std::pair<std::string, std::string>> query{};
    std::optional<json::Value> body{};
};

using Send = std::function<Result<net::Response>(const net::ClientRequest&)>;

class Api {
public:
    Api(std::string project, double requests_per_second, balancer::Surroundings surroundings, Tokens tokens, Send send);

    ApiResult<json::Value> call(const ApiRequest& request);
    // All pages of a list; `items` is called with each answer.
    ApiResult<void> pages(ApiRequest request, const std::function<void(const json::Value&)>& items);
    // A pause between two looks at an operation, or before a call that came too early. False: stop now.
    bool rest(unsigned tries);

    [[nodiscard]] const balancer::Surroundings& surroundings() const { return surroundings_; }
    [[nodiscard]] const std::string& project() const { return project_; }

private:
    struct Answer {
        std::optional<json::Value> good;
        ApiError error;
        bool again = false, expired = false, throttled = false;
    };
    Answer attempt(const ApiRequest& request, const net::ClientRequest& out, const std::string& token);
    [[nodiscard]] std::chrono::nanoseconds pause(unsigned tries);

    std::string project_;
    double rate_;
    balancer::Surroundings surroundings_;
    Tokens tokens_;
    Send send_;
    Budgets budgets_;
    provider::ProviderMetrics metrics_;
    Counter throttled_;
};

// Over the network, by clients of which each is used by one thread at a time.
Send network(const std::string& endpoint, std::chrono::milliseconds timeout);

}  // namespace fairlead::gce
