#include "apiserver/issued_tokens.h"

#include <fmt/core.h>

#include "apiserver/impersonation.h"
#include "apiserver/object_bytes.h"
#include "base/text.h"

namespace fairlead::apiserver {

namespace {

constexpr std::string_view secrets_table = "/secrets";
constexpr std::size_t max_token_bytes = 512;  // ours are 54 bytes
constexpr std::size_t max_name_bytes = 1024;
constexpr std::size_t max_groups = 256;

std::string data_of(const json::Value& secret, std::string_view key) {
    const auto decoded = from_base64(json::string_at(secret, fmt::format("data.{}", key)));
    return decoded ? *decoded : std::string();
}

bool plain(std::string_view text) {
    return !text.empty() && text.size() <= max_name_bytes && std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    });
}

std::string store_name(std::string_view id) { return fmt::format("{}/{}", system_namespace, id); }

}  // namespace

bool is_token(const json::Value& secret) {
    return json::string_at(secret, "type") == token_type &&
           json::string_at(secret, "metadata.namespace") == system_namespace;
}

Result<IssuedToken> read_token(const json::Value& secret, std::optional<WallTime> now) {
    IssuedToken token;
    token.secret_sha256 = data_of(secret, "sha256");
    const auto hexadecimal = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (token.secret_sha256.size() != 64 ||
        !std::all_of(token.secret_sha256.begin(), token.secret_sha256.end(), hexadecimal)) {
        return fail(Errc::invalid, "data[sha256]", "must be the SHA-256 of the token's secret part in lower-case hex");
    }
    token.user.name = data_of(secret, "user");
    if (!plain(token.user.name)) {
        return fail(Errc::invalid, "data[user]", "must be the name of a user, without control characters");
    }
    if (const auto groups = data_of(secret, "groups"); !groups.empty()) {
        for (const auto group : split(groups, '\n')) {
            if (!plain(group) || token.user.groups.size() == max_groups) {
                return fail(Errc::invalid, "data[groups]", "must be at most 256 names, one on each line");
            }
            token.user.groups.emplace_back(group);
        }
    }
    const auto expires = from_rfc3339(data_of(secret, "expires"));
    if (!expires) return fail(Errc::invalid, "data[expires]", "must be a time like 2026-03-01T12:00:00Z");
    if (now && *expires > *now + longest_token_life) {
        return fail(Errc::invalid, "data[expires]", "must be at most 366 days from now");
    }
    token.expires = *expires;
    return token;
}

std::optional<User> find_token(store::Store& store, std::string_view text, WallTime now) {
    const auto dot = text.find('.');
    if (dot == std::string_view::npos || text.size() > max_token_bytes) return std::nullopt;
    const auto found = store.get({std::string(secrets_table), store_name(text.substr(0, dot))});
    if (!found || !*found) return std::nullopt;
    const auto secret = parse_object(**found);
    if (!secret || !is_token(*secret) || being_deleted(*secret)) return std::nullopt;
    auto token = read_token(*secret);
    if (!token || token->expires <= now) return std::nullopt;
    if (!equal_in_constant_time(sha256_hex(text.substr(dot + 1)), token->secret_sha256)) return std::nullopt;
    complete_groups(token->user);
    return std::move(token->user);
}

std::vector<std::string> expired_tokens(store::Store& store, WallTime now) {
    std::vector<std::string> names;
    const auto snapshot = store.snapshot(secrets_table);
    if (!snapshot) return names;
    const auto prefix = store_name("");
    snapshot->scan(prefix, "", [&](const store::ObjectRef& object) {
        const auto secret = parse_object(*object);
        if (!secret || !is_token(*secret)) return true;
        const auto token = read_token(*secret);
        if (token && token->expires <= now) names.emplace_back(object->name().substr(prefix.size()));
        return true;
    });
    return names;
}

}  // namespace fairlead::apiserver
