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
    // `of`: whose it is, a Route, an Ingress or a Secret, and which of its certificates.
    Result<route::ParsedCertificate> parse(const std::string& of, std::size_t number, std::string_view certificate,
                                           std::string_view key, std::string_view chain) {
        auto print = sha256_hex(fmt::format("{} {}\n{}{}{}", certificate.size(), key.size(), certificate, key, chain));
        auto& held = held_[{of, number}];
        if (held.print != print) held = {std::move(print), route::parse_certificate(certificate, key, chain)};
        return held.said;
    }
    void forget(const std::string& of) {
        for (auto held = held_.lower_bound({of, 0}); held != held_.end() && held->first.first == of;) {
            held = held_.erase(held);
        }
    }

private:
    struct Held {
        std::string print;
        Result<route::ParsedCertificate> said = fail(Errc::internal, "not parsed");
    };
    std::map<std::pair<std::string, std::size_t>, Held> held_;
};

}  // namespace fairlead::router
