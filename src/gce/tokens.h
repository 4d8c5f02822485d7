// Access tokens: of a service account (a signed assertion for a token), or of the machine we run on (its metadata
// server). Kept until shortly before they end. Thread-safe; a call blocks while the first token is fetched. Tokens
// appear in no message.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "gce/parameters.h"
#include "gce/service_account.h"
#include "net/client.h"

namespace fairlead::gce {

// A call to a server of tokens: its address without a path, and the request.
using TokenCall = std::function<Result<net::Response>(const std::string& base_url, const net::ClientRequest&)>;

class Tokens {
public:
    // Errors: invalid (the key).
    static Result<Tokens> make(const Access& access, const Clock& clock, TokenCall call);
    Tokens(Tokens&& other) noexcept;

    // Errors: invalid (refused: the key is not known, or may not), unavailable (no answer), timeout.
    Result<std::string> get();
    // After a 401: this one is good no more. Another one that somebody fetched meanwhile stays.
    void drop(const std::string& token);

private:
    struct Held {
        std::string token;
        WallTime fetched{}, ends{};
    };
    Tokens(Access access, std::optional<ServiceAccount> account, const Clock& clock, TokenCall call)
        : access_(std::move(access)), account_(std::move(account)), clock_(&clock), call_(std::move(call)) {}
    Result<Held> fetch() const;
    Result<net::Response> ask_account() const;
    Result<net::Response> ask_metadata() const;

    Access access_;
    std::optional<ServiceAccount> account_;
    const Clock* clock_;
    TokenCall call_;
    std::mutex mutex_;
    std::optional<Held> held_;
};

}  // namespace fairlead::gce
