#include "skydns/etcd_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "json/value.h"

namespace fairlead::skydns {

namespace {

constexpr std::size_t mark_digits = 10;
// Of gRPC, as the gateway gives them.
constexpr std::int64_t code_unavailable = 14, code_deadline = 4, code_unauthenticated = 16, code_aborted = 10,
                       code_not_found = 5;

bool all_of(std::string_view text, std::string_view allowed) {
    return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

// The end of the range of keys that begin with `prefix`: its last byte raised by one.
std::string end_of(std::string_view prefix) {
    std::string end(prefix);
    while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
    if (end.empty()) return std::string(1, '\0');
    end.back() = static_cast<char>(end.back() + 1);
    return end;
}

// 64-bit numbers are texts in the JSON of protocol buffers; 0 is left out.
std::int64_t number_at(const json::Value& value, std::string_view path) {
    if (const auto number = json::int_at(value, path)) return *number;
    return parse_int(json::string_at(value, path)).value_or(0);
}

}  // namespace

std::string key_of(std::string_view prefix, std::string_view owner, const Service& service) {
    return fmt::format("{}/{}{}/{}-{}", prefix, path_of(service.host), service.index, service.mark, owner);
}

std::string value_of(const Service& service) {
    json::Object value;
    value["host"] = service.address;
    value["port"] = service.port;
    value["priority"] = service.priority;
    value["weight"] = service.weight;
    value["ttl"] = service.ttl;
    return json::serialize(value);
}

bool is_ours(std::string_view prefix, std::string_view owner, std::string_view key) {
    if (!key.starts_with(prefix) || key.size() <= prefix.size() || key[prefix.size()] != '/') return false;
    const auto labels = split(key.substr(prefix.size() + 1), '/');
    if (labels.size() < 3) return false;
    const auto last = labels.back();
    const auto index = labels[labels.size() - 2];
    return last.size() == mark_digits + 1 + owner.size() && last.ends_with(owner) && last[mark_digits] == '-' &&
           all_of(last.substr(0, mark_digits), "0123456789abcdef") && all_of(index, "0123456789");
}

std::string txn_body(std::span<const Op> ops, std::int64_t lease) {
    json::Array list;
    for (const auto& op : ops) {
        json::Object request;
        request["key"] = base64(op.key);
        if (op.value) {
            request["value"] = base64(*op.value);
            request["lease"] = std::to_string(lease);
        }
        json::Object wrapped;
        wrapped[op.value ? "requestPut" : "requestDeleteRange"] = std::move(request);
        list.push_back(std::move(wrapped));
    }
    json::Object body;
    body["success"] = std::move(list);
    return json::serialize(body);
}

std::string range_body(std::string_view prefix, std::string_view from, std::size_t most) {
    json::Object body;
    body["key"] = base64(from.empty() ? prefix : from);
    body["range_end"] = base64(end_of(prefix));
    body["limit"] = std::to_string(most);
    return json::serialize(body);
}

Result<Page> read_page(std::string_view body) {
    const auto answer = json::parse(body);
    if (!answer) return fail(answer.error());
    Page page;
    page.more = json::bool_at(*answer, "more");
    const auto* list = json::find(*answer, "kvs");
    if (list == nullptr || !list->is_array()) return page;
    for (const auto& each : list->get_array()) {
        const auto key = from_base64(json::string_at(each, "key"));
        const auto value = from_base64(json::string_at(each, "value"));
        if (!key || !value) return fail(Errc::invalid, "kvs", "etcd's answer has a key that is no base64");
        page.keys.push_back({*key, *value, number_at(each, "lease")});
    }
    return page;
}

std::string grant_body(std::int64_t ttl_seconds) { return fmt::format("{{\"TTL\":\"{}\"}}", ttl_seconds); }
std::string lease_body(std::int64_t lease) { return fmt::format("{{\"ID\":\"{}\"}}", lease); }

// A keepalive is a stream, whose messages come wrapped.
Result<Lease> read_lease(std::string_view body) {
    const auto end = body.find('\n');
    const auto answer = json::parse(body.substr(0, end));
    if (!answer) return fail(answer.error());
    const auto* wrapped = json::find(*answer, "result");
    const auto& lease = wrapped != nullptr ? *wrapped : *answer;
    if (const auto why = json::string_at(*answer, "error"); !why.empty()) return fail(Errc::invalid, std::string(why));
    return Lease{number_at(lease, "ID"), number_at(lease, "TTL")};
}

std::string login_body(std::string_view user, std::string_view password) {
    json::Object body;
    body["name"] = user;
    body["password"] = password;
    return json::serialize(body);
}

Result<std::string> read_token(std::string_view body) {
    const auto answer = json::parse(body);
    if (!answer) return fail(answer.error());
    const auto token = json::string_at(*answer, "token");
    if (token.empty()) return fail(Errc::invalid, "token", "etcd's answer to the password has none");
    return std::string(token);
}

Error error_of(int status, std::string_view body) {
    const auto answer = json::parse(body);
    auto message = answer ? std::string(json::string_at(*answer, "error")) : std::string();
    if (message.empty() && answer) message = json::string_at(*answer, "message");
    if (message.empty()) message = valid_utf8(body.substr(0, std::min<std::size_t>(body.size(), 200)));
    const auto code = answer ? number_at(*answer, "code") : 0;
    auto text = fmt::format("etcd answers {}: {}", status, message);
    if (code == code_not_found) return {Errc::not_found, {}, std::move(text)};
    const bool elsewhere = status >= 500 || code == code_unavailable || code == code_deadline || code == code_aborted;
    return {elsewhere ? Errc::unavailable : Errc::invalid, {}, std::move(text)};
}

bool wants_login(int status, std::string_view body) {
    const auto answer = json::parse(body);
    return status == 401 || (answer && number_at(*answer, "code") == code_unauthenticated) ||
           body.find("invalid auth token") != std::string_view::npos;
}

}  // namespace fairlead::skydns
