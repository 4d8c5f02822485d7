// Calls of Route 53's API: an aws::Caller that knows where Route 53 is, what its errors mean, and how its settings are
// called. One object per zone, used by one thread at a time; calls block, at most about a minute.
#pragma once

#include <memory>
#include <string>

#include "aws/caller.h"
#include "provider/provider.h"
#include "provider/provider_metrics.h"
#include "provider/route53/xml.h"

namespace fairlead::provider::route53 {

// Where the API is, and how its requests are signed.
struct Place {
    std::string endpoint, region;
};
// AWS has one Route 53 for all regions of a partition. An endpoint of one's own is taken with the region as it is.
Place place_of(const std::string& endpoint, const std::string& region);

using ApiRequest = aws::Request;
using ApiError = aws::CallError;
template <class T>
using ApiResult = aws::CallResult<T>;
using aws::CredentialCall;
using aws::CredentialChain;
using aws::Environment;
using aws::Send;

// Where credentials are looked for, with the names that a zone has for its settings.
CredentialChain::Options credential_options();

class Api {
public:
    struct Options {
        Place place;
        double requests_per_second = 5;
        std::string zone;  // "namespace/name", for logs
    };
    Api(Options options, Surroundings& surroundings, std::shared_ptr<Budgets> budgets, CredentialChain credentials,
        Send send);

    ApiResult<std::string> call(const ApiRequest& request) { return caller_.call(request); }

private:
    aws::Caller caller_;
};

}  // namespace fairlead::provider::route53
