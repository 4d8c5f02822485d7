// Calls of a service of AWS: signed, within the account's budget, tried again while there is a point in it. Used by the
// clients of the services (src/provider/route53, src/elb). call() blocks, at most about a minute, and may be used by
// several threads at once if `send` may.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "aws/credentials.h"
#include "aws/xml.h"
#include "base/budgets.h"
#include "base/metrics.h"
#include "base/random.h"

namespace fairlead::aws {

using Send = std::function<Result<net::Response>(const net::ClientRequest&)>;

struct Request {
    std::string operation;  // "ListResourceRecordSets", for messages
    std::string metric;     // "list", "apply", ...: for figures
    std::string method = "GET";
    std::string path;  // "/2013-04-01/hostedzone/Z123/rrset"
    std::vector<std::pair<std::string, std::string>> query{};
    std::string body{};
    std::string content_type = "text/xml";  // of a body
};

struct CallError {
    Error error;                        // for a person; unavailable, timeout, invalid, not_found or internal
    std::string code;                   // of the service: "InvalidChangeBatch"; empty: it said none
    std::vector<std::string> messages;  // what it said
};
template <class T>
using CallResult = tl::expected<T, CallError>;

class Caller {
public:
    // Called before a request is sent; what it returns is called when there is an answer: null, or what went wrong.
    using Measure = std::function<std::function<void(const CallError*)>(const Request&)>;

    struct Options {
        std::string service;   // as signatures name it: "route53"
        std::string endpoint;  // "https://host[:port]", without a "/" at its end
        std::string region;
        double requests_per_second = 5;
        std::string about;                        // whose calls these are, for logs
        std::string credential_field;             // the setting that errors about credentials name
        std::vector<std::string> absent_codes{};  // errors that say that something is not there: not_found
        std::function<ServiceError(std::string_view)> parse_error = aws::parse_error;
        Measure measure;
    };
    // All outlive the Caller.
    struct Surroundings {
        const Clock& clock;
        Random& random;
        Log& log;
        std::function<bool(std::chrono::nanoseconds)> wait;  // false: stop now
        Counter throttled, waited;                           // refused for being too many; seconds spent in the budget
    };
    Caller(Options options, Surroundings surroundings, std::shared_ptr<Budgets> budgets, CredentialChain credentials,
           Send send);

    // The body of the answer.
    CallResult<std::string> call(const Request& request);

private:
    struct Answer {
        enum class Kind { good, again, expired, bad } kind = Kind::bad;
        std::string body;
        CallError error;
        bool throttled = false;
    };
    Answer attempt(const Request& request, const Credentials& credentials);
    [[nodiscard]] CallError error_of(const Request& request, const net::Response& response) const;
    [[nodiscard]] std::chrono::nanoseconds pause(unsigned tries) const;
    Result<Credentials> credentials();

    Options options_;
    Surroundings surroundings_;
    std::shared_ptr<Budgets> budgets_;
    struct Keys {
        std::mutex mutex;
        CredentialChain chain;
    };
    std::unique_ptr<Keys> keys_;
    Send send_;
    std::string host_;
};

}  // namespace fairlead::aws
