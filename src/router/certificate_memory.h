// What was said of a certificate the last time: endpoints change more often than certificates, and parsing one costs as
// much as everything else of a route. Used by the agent, on its thread.
#pragma once

#include <fmt/core.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "route/certificate.h"

namespace fairlead::router {

class CertificateMemory {
public:
    // `of`: whose it is, a Route or a Secret.
    Result<route::ParsedCertificate> parse(const std::string& of, std::string_view certificate, std::string_view key,
                                           std::string_view chain) {
        auto print = sha256_hex(fmt::format("{} {}\n{}{}{}", certificate.size(), key.size(), certificate, key, chain));
        auto& held = held_[of];
        if (held.print != print) held = {std::move(print), route::parse_certificate(certificate, key, chain)};
        return held.said;
    }
    void forget(const std::string& of) { held_.erase(of); }

private:
    struct Held {
        std::string print;
        Result<route::ParsedCertificate> said = fail(Errc::internal, "not parsed");
    };
    std::map<std::string, Held> held_;
};

}  // namespace fairlead::router
