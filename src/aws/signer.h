// AWS Signature Version 4: what a request says about who sends it. Used by Caller. Pure: the time comes in.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace fairlead::aws {

struct SigningKeys {
    std::string access_key_id, secret_access_key, session_token;  // no token: of keys that do not expire
};

// Where a signature counts.
struct SigningScope {
    std::string region, service;  // "us-east-1", "route53"
};

struct SigningRequest {
    std::string method = "GET";
    std::string path = "/";                                    // decoded
    std::vector<std::pair<std::string, std::string>> query;    // decoded, in any order
    std::vector<std::pair<std::string, std::string>> headers;  // all of them are signed; `host` is among them
    std::string body;
};

struct Signature {
    // To be sent beside those of the request: x-amz-date, x-amz-security-token (if there is one), authorization.
    std::vector<std::pair<std::string, std::string>> headers;
    // What was signed, for tests and for a person who compares it with what AWS says that it had expected.
    std::string canonical_request, string_to_sign;
};

Signature sign(const SigningRequest& request, const SigningKeys& keys, const SigningScope& scope, WallTime time);

// "a=1&b=%20", by name and value: as it is signed, and sent.
std::string canonical_query(std::vector<std::pair<std::string, std::string>> query);

}  // namespace fairlead::aws
