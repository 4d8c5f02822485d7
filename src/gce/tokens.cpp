#include "gce/tokens.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "json/value.h"

namespace fairlead::gce {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view scope = "https://www.googleapis.com/auth/compute";
constexpr std::chrono::seconds renew_before = 5min;
constexpr std::int64_t longest_life = 86'400;  // a service that says more is not believed

struct Address {
    std::string base, path;
};
Address split_url(const std::string& url) {
    const auto start = url.find("://");
    const auto slash = url.find('/', start == std::string::npos ? 0 : start + 3);
    if (slash == std::string::npos) return {url, "/"};
    return {url.substr(0, slash), url.substr(slash)};
}

}  // namespace

Result<Tokens> Tokens::make(const Access& access, const Clock& clock, TokenCall call) {
    std::optional<ServiceAccount> account;
    if (!access.key_json.empty()) {
        auto parsed = parse_service_account(access.key_json);
        if (!parsed) return fail(parsed.error());
        account = std::move(*parsed);
        if (!access.token_endpoint.empty()) account->token_uri = access.token_endpoint;
        if (access.token_endpoint.empty() && !account->token_uri.starts_with("https://"))
            return fail(Errc::invalid, "secret", "token_uri of key.json is no https address");
    }
    return Tokens(access, std::move(account), clock, std::move(call));
}

Tokens::Tokens(Tokens&& other) noexcept
    : access_(std::move(other.access_)),
      account_(std::move(other.account_)),
      clock_(other.clock_),
      call_(std::move(other.call_)),
      held_(std::move(other.held_)) {}

Result<std::string> Tokens::get() {
    const std::lock_guard lock(mutex_);
    const auto now = clock_->now();
    // The metadata server hands out what it has, which may end sooner than we would renew: half of a life is enough.
    const auto early =
        held_ ? std::min<WallTime::duration>(renew_before, (held_->ends - held_->fetched) / 2) : WallTime::duration{};
    if (held_ && now + early < held_->ends) return held_->token;
    auto fresh = fetch();
    if (fresh) {
        held_ = std::move(*fresh);
        return held_->token;
    }
    // Better the old one for the minutes that it has left than none.
    if (held_ && now < held_->ends) return held_->token;
    return fail(fresh.error());
}

void Tokens::drop(const std::string& token) {
    const std::lock_guard lock(mutex_);
    if (held_ && held_->token == token) held_.reset();
}

Result<net::Response> Tokens::ask_account() const {
    auto assertion = make_assertion(*account_, account_->token_uri, scope, clock_->now());
    if (!assertion) return fail(assertion.error());
    const auto [base, path] = split_url(account_->token_uri);
    net::ClientRequest request;
    request.method = "POST";
    request.target = path;
    request.headers.set("Content-Type", "application/x-www-form-urlencoded");
    request.body = "grant_type=" + percent_encode("urn:ietf:params:oauth:grant-type:jwt-bearer") +
                   "&assertion=" + percent_encode(*assertion);
    return call_(base, request);
}

Result<net::Response> Tokens::ask_metadata() const {
    net::ClientRequest request;
    request.target = "/computeMetadata/v1/instance/service-accounts/default/token";
    request.headers.set("Metadata-Flavor", "Google");
    auto response = call_(access_.metadata_endpoint, request);
    // Whatever else answers at that address is not to be believed.
    if (response && response->headers.get("Metadata-Flavor") != "Google")
        return fail(Errc::unavailable, "what answers is not Google's metadata server");
    return response;
}

Result<Tokens::Held> Tokens::fetch() const {
    const auto now = clock_->now();
    const auto* who = account_ ? "the token endpoint" : "the metadata server";
    auto response = account_ ? ask_account() : ask_metadata();
    if (!response) {
        auto error = response.error();
        error.message = fmt::format("{}: {}", who, error.message);
        return fail(error);
    }
    const auto said = json::parse(response->body);
    if (response->status >= 500 || response->status == 429)
        return fail(Errc::unavailable, fmt::format("{}: status {}", who, response->status));
    if (response->status != 200) {
        const std::string reason{said ? json::string_at(*said, "error") : ""};
        const std::string more{said ? json::string_at(*said, "error_description") : ""};
        return fail(Errc::invalid, "secret",
                    fmt::format("{} refuses: status {} {} {}", who, response->status, reason.substr(0, 100),
                                more.substr(0, 300)));
    }
    const auto lives = said ? json::int_at(*said, "expires_in") : std::nullopt;
    std::string token{said ? json::string_at(*said, "access_token") : ""};
    if (token.empty() || !lives || *lives <= 0)
        return fail(Errc::unavailable, fmt::format("{} answers without a token", who));
    return Held{std::move(token), now, now + std::chrono::seconds(std::min(*lives, longest_life))};
}

}  // namespace fairlead::gce
