// Certificates of our own: a CA, server and client certificates (ECDSA P-256). pki.cpp is their home in OpenSSL.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/result.h"

namespace fairlead::net {

struct KeyPair {
    std::string certificate_pem;
    std::string key_pem;
};

struct CertificateRequest {
    std::string common_name{};
    std::vector<std::string> organizations{};
    std::vector<std::string> subject_alternative_names{};  // DNS names and IP addresses; makes it a server certificate
    std::chrono::hours valid_for{24 * 365};
};

Result<KeyPair> make_ca(const std::string& common_name, std::chrono::hours valid_for, const Clock& clock,
                        Random& random);
Result<KeyPair> make_certificate(const CertificateRequest& request, const KeyPair& ca, const Clock& clock,
                                 Random& random);

struct CertificateInfo {
    std::string common_name;
    std::vector<std::string> organizations;
    std::vector<std::string> subject_alternative_names;
    WallTime not_after;
};
Result<CertificateInfo> inspect_certificate(const std::string& pem);

}  // namespace fairlead::net
