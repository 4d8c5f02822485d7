// Services as keys of etcd, in the form that SkyDNS and CoreDNS read, and the bodies of etcd's JSON gateway (/v3/...):
// requests as text, answers as values. Pure; used by Etcd and EtcdWriter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "skydns/service.h"

namespace fairlead::skydns {

// "/skydns/local/skydns/service/admin-api/0/1c2e09f4aa-5b1d77e0": the last label ends in who wrote it. CoreDNS makes
// the target of SRV answers from it.
std::string key_of(std::string_view prefix, std::string_view owner, const Service& service);
// {"host":"10.10.1.2","port":59002,"priority":20,"weight":100,"ttl":30}
std::string value_of(const Service& service);
// Whether a key has the form of those that `owner` writes. Keys of any other form are somebody else's.
bool is_ours(std::string_view prefix, std::string_view owner, std::string_view key);

struct KeyValue {
    std::string key, value;
    std::int64_t lease = 0;  // 0: none
    bool operator==(const KeyValue&) const = default;
};

// One change; without a value the key goes.
struct Op {
    std::string key;
    std::optional<std::string> value;
    bool operator==(const Op&) const = default;
};

std::string txn_body(std::span<const Op> ops, std::int64_t lease);

// Keys that begin with `prefix`, from `from` on (empty: the first), a page at a time.
std::string range_body(std::string_view prefix, std::string_view from, std::size_t most);
struct Page {
    std::vector<KeyValue> keys;
    bool more = false;
};
Result<Page> read_page(std::string_view body);

std::string grant_body(std::int64_t ttl_seconds);
std::string lease_body(std::int64_t lease);
struct Lease {
    std::int64_t id = 0, ttl = 0;  // ttl 0: there is no such lease any more
};
Result<Lease> read_lease(std::string_view body);  // of grant and keepalive
std::string login_body(std::string_view user, std::string_view password);
Result<std::string> read_token(std::string_view body);

// What an answer that is no success says. unavailable: another member may know better; not_found: there is no such
// lease; else invalid.
Error error_of(int status, std::string_view body);
// Whether it says that the token is not taken (any more).
bool wants_login(int status, std::string_view body);

}  // namespace fairlead::skydns
