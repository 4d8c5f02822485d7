// Probes over the network: HTTP, HTTPS and TCP. A connection of its own each time, nothing but the answer's head is
// read. Certificates are not verified: a probe tells whether the address serves, as load balancers do it; an expired or
// self-signed certificate must not take a cluster out. Thread-safe.
#pragma once

#include <memory>

#include "health/probe.h"
#include "net/async_client.h"

namespace fairlead::health {

// What is sent for a probe. Pure.
net::AsyncRequest request_of(const Probe& probe, const std::shared_ptr<const net::AsyncTls>& tls);
// What an answer means. Pure.
Answer answer_of(const Probe& probe, const Result<net::Response>& response);

class HttpProber final : public Prober {
public:
    // The client gives its calls back after each timeout; it has room for all probes that are in flight.
    explicit HttpProber(net::AsyncClient& client);
    void probe(const Probe& probe, std::function<void(Answer)> done) override;

private:
    net::AsyncClient& client_;
    std::shared_ptr<const net::AsyncTls> tls_;
};

}  // namespace fairlead::health
