// Calls of Route 53's API: signed, within the account's budget, tried again while there is a point in it. One object
// per zone, used by one thread at a time; calls block, at most about a minute.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "provider/provider.h"
#include "provider/provider_metrics.h"
#include "provider/route53/budget.h"
#include "provider/route53/credentials.h"
#include "provider/route53/xml.h"

namespace fairlead::provider::route53 {

// Where the API is, and how its requests are signed.
struct Place {
    std::string endpoint, region;
};
// AWS has one Route 53 for all regions of a partition. An endpoint of one's own is taken with the region as it is.
Place place_of(const std::string& endpoint, const std::string& region);

using Send = std::function<Result<net::Response>(const net::ClientRequest&)>;

struct ApiRequest {
    std::string operation;  // "ListResourceRecordSets", for messages
    std::string metric;     // "list", "apply", ...: ProviderMetrics' operation
    std::string method = "GET";
    std::string path;  // "/2013-04-01/hostedzone/Z123/rrset"
    std::vector<std::pair<std::string, std::string>> query{};
    std::string body{};
};

struct ApiError {
    Error error;                        // for a person; unavailable, timeout, invalid, not_found or internal
    std::string code;                   // of the service: "InvalidChangeBatch"; empty: it said none
    std::vector<std::string> messages;  // what it said
};
template <class T>
using ApiResult = tl::expected<T, ApiError>;

class Api {
public:
    struct Options {
        Place place;
        double requests_per_second = 5;
        std::string zone;  // "namespace/name", for logs
    };
    Api(Options options, Surroundings& surroundings, std::shared_ptr<Budgets> budgets, CredentialChain credentials,
        Send send);

    ApiResult<std::string> call(const ApiRequest& request);

private:
    struct Answer {
        enum class Kind { good, again, expired, bad } kind = Kind::bad;
        std::string body;
        ApiError error;
        bool throttled = false;
    };
    Answer attempt(const ApiRequest& request, const Credentials& credentials);
    [[nodiscard]] ApiError error_of(const ApiRequest& request, const net::Response& response) const;
    [[nodiscard]] std::chrono::nanoseconds pause(unsigned tries) const;

    Options options_;
    Surroundings* surroundings_;
    std::shared_ptr<Budgets> budgets_;
    CredentialChain credentials_;
    Send send_;
    std::string host_;
    ProviderMetrics metrics_;
    Counter throttled_, waited_;
};

}  // namespace fairlead::provider::route53
