// The few calls of an etcd cluster that are needed, over its JSON gateway: any member will do, and one that fails gives
// way to the next. Blocks; used on the EtcdWriter's thread alone.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/client.h"
#include "skydns/etcd_text.h"

namespace fairlead::skydns {

struct EtcdOptions {
    std::vector<std::string> endpoints{};  // "http://127.0.0.1:2379"
    std::string prefix = "/skydns";
    std::string ca_pem{}, certificate_pem{}, key_pem{};  // of https endpoints; empty = none
    std::string user{}, password{};                      // empty user: none is told
    std::chrono::seconds lease{60};                      // so long the keys outlive this process
    std::chrono::milliseconds timeout{5'000};            // of a call, as CoreDNS
};

class Etcd {
public:
    // A call to one endpoint; tests put another in its place.
    using Send = std::function<Result<net::Response>(std::size_t endpoint, const net::ClientRequest& request)>;
    explicit Etcd(EtcdOptions options, Send send = {});
    ~Etcd();
    Etcd(const Etcd&) = delete;
    Etcd& operator=(const Etcd&) = delete;

    // Errors: unavailable or timeout (nobody answers), not_found (the lease is gone), invalid (it is refused); all
    // name the endpoint.
    Result<std::int64_t> grant();
    // False: there is no such lease any more.
    Result<bool> keep_alive(std::int64_t lease);
    Result<std::vector<KeyValue>> read_all();
    Result<void> commit(std::span<const Op> ops, std::int64_t lease);

    [[nodiscard]] const EtcdOptions& options() const { return options_; }

private:
    // The body of the answer, from the first endpoint that gives one.
    Result<std::string> call(std::string_view path, const std::string& body);
    Result<std::string> call_one(std::string_view path, const std::string& body);
    Result<void> log_in();

    EtcdOptions options_;
    std::vector<net::Client> clients_;
    Send send_;
    std::size_t current_ = 0;  // the endpoint that answered last
    std::string token_;
    bool wants_login_ = false;  // the last answer said so
};

}  // namespace fairlead::skydns
