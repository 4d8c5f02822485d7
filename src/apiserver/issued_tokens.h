// Bearer tokens that the server keeps: a Secret of type fairlead.dev/token in the namespace fairlead-system. Its name
// is the token's id; it holds the SHA-256 of the secret part and who the token stands for, never the token itself. So
// they are listed, limited and revoked through the API that everything else goes through, and every server of a store
// sees them. The text of a token is "<id>.<secret>".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/caller.h"
#include "base/clock.h"
#include "base/result.h"
#include "json/value.h"
#include "store/store.h"

namespace fairlead::apiserver {

inline constexpr std::string_view system_namespace = "fairlead-system";
inline constexpr std::string_view token_type = "fairlead.dev/token";
inline constexpr std::chrono::hours longest_token_life{24 * 366};  // as long as a certificate of ours lasts

struct IssuedToken {
    User user;  // name, uid and groups, without those that come by themselves
    std::string secret_sha256;
    WallTime expires;
};

// A Secret that counts as a token.
bool is_token(const json::Value& secret);
// Errors: invalid, naming the key of `data` and its rule. `now` bounds how long a new token may last; nothing = any.
Result<IssuedToken> read_token(const json::Value& secret, std::optional<WallTime> now = {});

// Who holds this token now: one look-up in the store's memory. Nothing for an unknown, wrong or expired one. Any
// thread.
std::optional<User> find_token(store::Store& store, std::string_view token, WallTime now);

// Names of tokens that have expired.
std::vector<std::string> expired_tokens(store::Store& store, WallTime now);

}  // namespace fairlead::apiserver
