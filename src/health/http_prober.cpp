#include "health/http_prober.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "net/tcp_client.h"

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

// The addresses behind one name, asked at the same time. Answers come from the client's thread only.
struct Together {
    std::function<void(Answer)> done;  // null: it was called
    std::vector<Answer> answers;       // of each address
    std::size_t left = 0;
};

// The first good answer counts for all. Without one: an address that could not be asked might have been good, so there
// is no verdict; else the first address speaks.
void take(Together& together, std::size_t index, Answer answer) {
    --together.left;
    if (!together.done) return;
    const bool good = answer.good;
    together.answers[index] = std::move(answer);
    if (!good && together.left > 0) return;
    auto chosen = together.answers.begin() + static_cast<std::ptrdiff_t>(index);
    if (!good) {
        chosen = std::find_if(together.answers.begin(), together.answers.end(), [](const auto& a) { return !a.asked; });
        if (chosen == together.answers.end()) chosen = together.answers.begin();
    }
    std::exchange(together.done, nullptr)(*chosen);
}

void ask_all(net::AsyncClient& client, const std::shared_ptr<const net::AsyncTls>& tls, const Probe& probe,
             const std::vector<std::string>& addresses, const std::function<void(Answer)>& done) {
    const auto count = std::min(addresses.size(), HttpProber::max_addresses);
    if (count == 0) {
        done({false, "the host name has no address"});
        return;
    }
    const auto together = std::make_shared<Together>(Together{done, std::vector<Answer>(count), count});
    for (std::size_t i = 0; i < count; ++i) {
        auto one = probe;
        if (one.host.empty()) one.host = probe.address;
        one.address = addresses[i];
        client.start(request_of(one, tls), [together, i, one](const Result<net::Response>& response) {
            take(*together, i, answer_of(one, response));
        });
    }
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

HttpProber::HttpProber(net::AsyncClient& client, FindAddresses find) : client_(client), find_(std::move(find)) {
    net::AsyncTls tls;
    tls.insecure_skip_verify = true;
    tls_ = std::make_shared<const net::AsyncTls>(std::move(tls));
}

void HttpProber::probe(const Probe& probe, std::function<void(Answer)> done) {
    if (net::parse_address_port(probe.address, probe.port)) {
        client_.start(request_of(probe, tls_), [probe, done = std::move(done)](const Result<net::Response>& response) {
            done(answer_of(probe, response));
        });
        return;
    }
    // By value: the answer may come when this is gone.
    const auto found = [&client = client_, tls = tls_, probe,
                        done = std::move(done)](const Result<std::vector<std::string>>& addresses) {
        if (!addresses) {
            const bool none = addresses.error().code == Errc::not_found;
            done({false, none ? "the host name has no address" : addresses.error().text().substr(0, max_text_bytes),
                  none});
            return;
        }
        ask_all(client, tls, probe, *addresses, done);
    };
    find_(probe.address, found);
}

}  // namespace fairlead::health
