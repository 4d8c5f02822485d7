#include "health/http_prober.h"

#include <fmt/core.h>

#include <algorithm>

namespace fairlead::health {
namespace {

// An answer is part of a resource's status: one line of this length tells enough.
constexpr std::size_t max_text_bytes = 200;

std::string bracketed(const std::string& host) { return host.find(':') == std::string::npos ? host : '[' + host + ']'; }

// A path may hold anything; what cannot stand in a request line is escaped, what is escaped already stays.
std::string escaped(const std::string& path) {
    std::string out = path.starts_with('/') ? "" : "/";
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > ' ' && byte < 0x7f && c != '#') {
            out += c;
        } else {
            out += fmt::format("%{:02X}", byte);
        }
    }
    return out;
}

bool expected(const Probe& probe, int status) {
    if (probe.expected_codes.empty()) return status >= 200 && status < 300;
    return std::find(probe.expected_codes.begin(), probe.expected_codes.end(), status) != probe.expected_codes.end();
}

}  // namespace

net::AsyncRequest request_of(const Probe& probe, const std::shared_ptr<const net::AsyncTls>& tls) {
    net::AsyncRequest request;
    const auto& host = probe.host.empty() ? probe.address : probe.host;
    const char* scheme = probe.protocol == Protocol::https ? "https" : "http";
    request.url = fmt::format("{}://{}:{}{}", scheme, bracketed(host), probe.port,
                              probe.protocol == Protocol::tcp ? "/" : escaped(probe.path));
    request.connect_to = fmt::format("{}:{}", bracketed(probe.address), probe.port);
    request.tls = tls;
    request.connect_timeout = probe.timeout;
    request.timeout = probe.timeout;
    request.connect_only = probe.protocol == Protocol::tcp;
    request.fresh_connection = true;
    request.head_only = true;
    request.headers.set("User-Agent", "fairlead-health");
    for (const auto& [name, value] : probe.headers) request.headers.set(name, value);
    return request;
}

Answer answer_of(const Probe& probe, const Result<net::Response>& response) {
    if (!response) {
        const auto& error = response.error();
        return {false, error.message.substr(0, max_text_bytes), error.code != Errc::internal};
    }
    if (probe.protocol == Protocol::tcp) return {true, "connected"};
    return {expected(probe, response->status), fmt::format("HTTP {}", response->status)};
}

HttpProber::HttpProber(net::AsyncClient& client) : client_(client) {
    net::AsyncTls tls;
    tls.insecure_skip_verify = true;
    tls_ = std::make_shared<const net::AsyncTls>(std::move(tls));
}

void HttpProber::probe(const Probe& probe, std::function<void(Answer)> done) {
    client_.start(request_of(probe, tls_), [probe, done = std::move(done)](const Result<net::Response>& response) {
        done(answer_of(probe, response));
    });
}

}  // namespace fairlead::health
