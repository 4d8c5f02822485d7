#include "skydns/etcd.h"

#include <fmt/core.h>

namespace fairlead::skydns {

namespace {

constexpr std::size_t page_keys = 5'000;  // about 1 MB of JSON
constexpr std::size_t max_answer_bytes = 64 * 1024 * 1024;

}  // namespace

Etcd::Etcd(EtcdOptions options, Send send) : options_(std::move(options)), send_(std::move(send)) {
    if (send_) return;
    for (const auto& endpoint : options_.endpoints) {
        net::ClientOptions client;
        client.base_url = endpoint;
        client.ca_pem = options_.ca_pem;
        client.certificate_pem = options_.certificate_pem;
        client.key_pem = options_.key_pem;
        client.connect_timeout = options_.timeout;
        client.timeout = options_.timeout;
        client.max_answer_bytes = max_answer_bytes;
        clients_.emplace_back(std::move(client));
    }
    send_ = [this](std::size_t endpoint, const net::ClientRequest& request) {
        return clients_[endpoint].send(request);
    };
}

Etcd::~Etcd() = default;

Result<std::string> Etcd::call_one(std::string_view path, const std::string& body) {
    net::ClientRequest request;
    request.method = "POST";
    request.target = path;
    request.headers.set("Content-Type", "application/json");
    if (!token_.empty()) request.headers.set("Authorization", token_);
    request.body = body;
    auto answer = send_(current_, request);
    auto error = answer ? Error{} : answer.error();
    wants_login_ = answer && answer->status != 200 && wants_login(answer->status, answer->body);
    if (answer) {
        if (answer->status == 200) return std::move(answer->body);
        error = error_of(answer->status, answer->body);
    }
    if (error.field.empty()) error.field = options_.endpoints[current_];
    return fail(std::move(error));
}

Result<void> Etcd::log_in() {
    token_.clear();
    const auto answer = call_one("/v3/auth/authenticate", login_body(options_.user, options_.password));
    if (!answer) return fail(answer.error());
    auto token = read_token(*answer);
    if (!token) return fail(token.error());
    token_ = std::move(*token);
    return {};
}

Result<std::string> Etcd::call(std::string_view path, const std::string& body) {
    Result<std::string> answer = fail(Errc::unavailable, "no etcd endpoint");
    for (std::size_t tries = 0; tries < options_.endpoints.size(); ++tries) {
        bool fresh = false;  // the token is of this very moment
        if (!options_.user.empty() && token_.empty()) {
            const auto logged = log_in();
            fresh = true;
            answer = logged ? call_one(path, body) : Result<std::string>(fail(logged.error()));
        } else {
            answer = call_one(path, body);
        }
        if (!answer && wants_login_ && !options_.user.empty() && !fresh) {
            const auto logged = log_in();
            answer = logged ? call_one(path, body) : Result<std::string>(fail(logged.error()));
        }
        if (answer || (answer.error().code != Errc::unavailable && answer.error().code != Errc::timeout)) return answer;
        current_ = (current_ + 1) % options_.endpoints.size();
    }
    return answer;
}

Result<std::int64_t> Etcd::grant() {
    const auto body = call("/v3/lease/grant", grant_body(options_.lease.count()));
    if (!body) return fail(body.error());
    const auto lease = read_lease(*body);
    if (!lease) return fail(lease.error());
    if (lease->id == 0) return fail(Errc::invalid, "ID", "etcd's answer to a grant has none");
    return lease->id;
}

Result<bool> Etcd::keep_alive(std::int64_t lease) {
    const auto body = call("/v3/lease/keepalive", lease_body(lease));
    if (!body) return fail(body.error());
    const auto read = read_lease(*body);
    if (!read) return fail(read.error());
    return read->ttl > 0;
}

Result<std::vector<KeyValue>> Etcd::read_all() {
    std::vector<KeyValue> all;
    std::string from;
    for (;;) {
        const auto body = call("/v3/kv/range", range_body(options_.prefix + "/", from, page_keys));
        if (!body) return fail(body.error());
        auto page = read_page(*body);
        if (!page) return fail(page.error());
        for (auto& each : page->keys) all.push_back(std::move(each));
        if (!page->more || page->keys.empty()) return all;
        from = all.back().key + '\0';
    }
}

Result<void> Etcd::commit(std::span<const Op> ops, std::int64_t lease) {
    const auto body = call("/v3/kv/txn", txn_body(ops, lease));
    if (!body) return fail(body.error());
    return {};
}

}  // namespace fairlead::skydns
