// An etcd in memory behind its JSON gateway, as far as services need it: keys, leases that end, logins, and members
// that are away. Strict: whatever it does not know is refused.
#pragma once

#include <fmt/core.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "json/value.h"
#include "net/client.h"
#include "skydns/etcd_text.h"

namespace fairlead::skydns {

class MemoryEtcd {
public:
    explicit MemoryEtcd(const Clock& clock) : clock_(clock) {}

    Result<net::Response> handle(std::size_t endpoint, const net::ClientRequest& request) {
        calls.push_back(fmt::format("{} {}", endpoint, request.target));
        if (away.contains(endpoint)) return fail(Errc::unavailable, "connection refused");
        end_leases();
        const auto body = json::parse(request.body);
        if (!body || request.method != "POST") return refused(400, 3, "bad request");
        if (request.target == "/v3/auth/authenticate") return log_in(*body);
        if (!password.empty() && request.headers.get("Authorization") != token)
            return refused(401, 16, "etcdserver: invalid auth token");
        if (request.target == "/v3/lease/grant") return grant(*body);
        if (request.target == "/v3/lease/keepalive") return keep_alive(*body);
        if (request.target == "/v3/kv/range") return range(*body);
        if (request.target == "/v3/kv/txn") return txn(*body);
        return refused(404, 12, "Not Found");
    }

    std::map<std::string, KeyValue> keys;
    std::map<std::int64_t, MonotonicTime> leases;
    std::set<std::size_t> away;
    std::vector<std::string> calls;
    std::string password, token = "token-1";
    std::size_t page = 1'000'000;
    std::size_t writes = 0;

private:
    static Result<net::Response> refused(int status, int code, std::string_view why) {
        net::Response response;
        response.status = status;
        response.body = fmt::format(R"({{"error":"{0}","message":"{0}","code":{1}}})", why, code);
        return response;
    }
    static Result<net::Response> good(std::string body) {
        net::Response response;
        response.body = std::move(body);
        return response;
    }
    static std::int64_t number(const json::Value& body, std::string_view path) {
        return parse_int(json::string_at(body, path)).value_or(0);
    }
    void end_leases() {
        for (auto at = leases.begin(); at != leases.end();) {
            if (at->second > clock_.monotonic()) {
                ++at;
                continue;
            }
            std::erase_if(keys, [&](const auto& each) { return each.second.lease == at->first; });
            at = leases.erase(at);
        }
    }
    Result<net::Response> log_in(const json::Value& body) {
        if (json::string_at(body, "password") != password) return refused(400, 3, "authentication failed");
        return good(fmt::format(R"({{"header":{{}},"token":"{}"}})", token));
    }
    Result<net::Response> grant(const json::Value& body) {
        const auto id = next_lease_++;
        ttl_ = std::chrono::seconds(number(body, "TTL"));
        leases[id] = clock_.monotonic() + ttl_;
        return good(fmt::format(R"({{"header":{{}},"ID":"{}","TTL":"{}"}})", id, ttl_.count()));
    }
    Result<net::Response> keep_alive(const json::Value& body) {
        const auto id = number(body, "ID");
        const bool known = leases.contains(id);
        if (known) leases[id] = clock_.monotonic() + ttl_;
        return good(known ? fmt::format("{{\"result\":{{\"ID\":\"{}\",\"TTL\":\"{}\"}}}}\n", id, ttl_.count())
                          : fmt::format("{{\"result\":{{\"ID\":\"{}\"}}}}\n", id));
    }
    Result<net::Response> range(const json::Value& body) {
        const auto from = from_base64(json::string_at(body, "key")).value_or("");
        const auto to = from_base64(json::string_at(body, "range_end")).value_or("");
        const auto most = std::min<std::size_t>(page, static_cast<std::size_t>(number(body, "limit")));
        json::Array list;
        bool more = false;
        for (auto at = keys.lower_bound(from); at != keys.end() && at->first < to; ++at) {
            if ((more = list.size() == most)) break;
            json::Object each;
            each["key"] = base64(at->second.key);
            each["value"] = base64(at->second.value);
            if (at->second.lease != 0) each["lease"] = std::to_string(at->second.lease);
            list.push_back(std::move(each));
        }
        json::Object answer;
        answer["kvs"] = std::move(list);
        if (more) answer["more"] = true;
        return good(json::serialize(answer));
    }
    Result<net::Response> txn(const json::Value& body) {
        const auto& ops = json::find(body, "success")->as_array();
        if (ops.size() > 128) return refused(400, 3, "etcdserver: too many operations in txn request");
        for (const auto& op : ops) {
            if (const auto* put = json::find(op, "requestPut")) {
                if (!leases.contains(number(*put, "lease")))
                    return refused(404, 5, "etcdserver: requested lease not found");
            }
        }
        for (const auto& op : ops) {
            ++writes;
            if (const auto* put = json::find(op, "requestPut")) {
                const auto key = from_base64(json::string_at(*put, "key")).value_or("");
                keys[key] = {key, from_base64(json::string_at(*put, "value")).value_or(""), number(*put, "lease")};
            } else {
                keys.erase(from_base64(json::string_at(*json::find(op, "requestDeleteRange"), "key")).value_or(""));
            }
        }
        return good("{\"succeeded\":true}");
    }

    const Clock& clock_;
    std::int64_t next_lease_ = 7'587'857'100'000'000'001;  // of the size that etcd gives
    std::chrono::seconds ttl_{0};
};

}  // namespace fairlead::skydns
