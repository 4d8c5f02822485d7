// The key of a service account, as Google's console hands it out, and what is signed with it. Pure;
// service_account.cpp is a home of OpenSSL.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace fairlead::gce {

struct ServiceAccount {
    std::string email, key_id, private_key_pem, token_uri;
};

// Errors: invalid; `field` is "secret"; never a part of the key.
Result<ServiceAccount> parse_service_account(std::string_view json);

// A JWT (RS256, RFC 7523) that says who we are, good for an hour from `now`. Errors: invalid (the key cannot sign).
Result<std::string> make_assertion(const ServiceAccount& account, std::string_view audience, std::string_view scope,
                                   WallTime now);

}  // namespace fairlead::gce
