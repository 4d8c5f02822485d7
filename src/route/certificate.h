// Certificates as they come from Routes and Secrets, made safe for a proxy: parsed, checked and written anew, because
// one text that the proxy cannot read would otherwise stop everybody. Pure; certificate.cpp is a home of OpenSSL.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace fairlead::route {

struct ParsedCertificate {
    std::string pem;  // certificate, chain and key, in this order, nothing else
    WallTime not_before{}, not_after{};
    bool operator==(const ParsedCertificate&) const = default;
};

// `chain` may be empty; certificates after the first one in `certificate` belong to the chain too. Errors: invalid;
// `field` is certificate, key or caCertificate; never a part of a key.
Result<ParsedCertificate> parse_certificate(std::string_view certificate, std::string_view key, std::string_view chain);

// Certificates of authorities, written anew. Errors: invalid.
Result<std::string> parse_authorities(std::string_view pem);

}  // namespace fairlead::route
