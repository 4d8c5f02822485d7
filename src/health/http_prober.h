// Probes over the network: HTTP, HTTPS and TCP. A connection of its own each time, nothing but the answer's head is
// read. Certificates are not verified: a probe tells whether the address serves, as load balancers do it; an expired or
// self-signed certificate must not take a cluster out. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "health/probe.h"
#include "net/async_client.h"

namespace fairlead::health {

// What is sent for a probe. Pure.
net::AsyncRequest request_of(const Probe& probe, const std::shared_ptr<const net::AsyncTls>& tls);
// What an answer means. Pure.
Answer answer_of(const Probe& probe, const Result<net::Response>& response);

// Who knows the addresses behind a host name: calls back once, at once or later, from any thread. not_found: it has
// none; other errors: nobody could tell.
using FindAddresses =
    std::function<void(const std::string& host, std::function<void(Result<std::vector<std::string>>)> found)>;

class HttpProber final : public Prober {
public:
    static constexpr std::size_t max_addresses = 16;  // of a host name that are tried, in their order

    // The client gives its calls back after each timeout; it has room for all probes that are in flight. A host name
    // is good if one of its addresses is; all are asked at the same time.
    HttpProber(net::AsyncClient& client, FindAddresses find);
    void probe(const Probe& probe, std::function<void(Answer)> done) override;

private:
    net::AsyncClient& client_;
    FindAddresses find_;
    std::shared_ptr<const net::AsyncTls> tls_;
};

}  // namespace fairlead::health
