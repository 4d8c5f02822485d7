#include "aws/caller.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"

namespace fairlead::aws {
namespace {

using namespace std::chrono_literals;

constexpr unsigned max_tries = 8;
constexpr std::chrono::nanoseconds first_pause = 250ms;
constexpr std::chrono::nanoseconds longest_pause = 10s;
constexpr auto patience = 60s;           // nothing is begun after that
constexpr std::size_t max_said = 1'000;  // of what a server said, in a message

// Too fast, or too much at once: the same request is good a moment later.
constexpr std::array<std::string_view, 7> throttle_codes{
    "Throttling",      "ThrottlingException",       "PriorRequestNotComplete", "RequestLimitExceeded",
    "TooManyRequests", "RequestThrottledException", "ThrottledException"};
constexpr std::array<std::string_view, 2> expired_codes{"ExpiredToken", "ExpiredTokenException"};
// What is wrong is not the record but who asks for it.
constexpr std::array<std::string_view, 8> credential_codes{"AccessDenied",
                                                           "AccessDeniedException",
                                                           "InvalidClientTokenId",
                                                           "SignatureDoesNotMatch",
                                                           "MissingAuthenticationToken",
                                                           "OptInRequired",
                                                           "UnrecognizedClientException",
                                                           "IncompleteSignature"};

template <class List>
bool one_of(const List& list, std::string_view code) {
    return std::find(list.begin(), list.end(), code) != list.end();
}

std::string host_of(const std::string& endpoint) {
    const auto start = endpoint.find("://");
    auto host = start == std::string::npos ? endpoint : endpoint.substr(start + 3);
    host = host.substr(0, host.find('/'));
    // As the client sends it: without the port that goes without saying.
    if (endpoint.starts_with("https://") && host.ends_with(":443")) host.resize(host.size() - 4);
    if (endpoint.starts_with("http://") && host.ends_with(":80")) host.resize(host.size() - 3);
    return host;
}

std::string shortened(std::string text) {
    if (text.size() > max_said) text = text.substr(0, max_said) + "...";
    return valid_utf8(text);
}

// What goes on behind the first line may be what was signed, tokens and all.
void keep_first_lines(std::vector<std::string>& messages) {
    for (auto& message : messages) message = message.substr(0, message.find('\n'));
}

// Keys that are lent for a while are others each time, but who lends them is one account.
const std::string& account_of(const Credentials& credentials) {
    return credentials.expires ? credentials.source : credentials.keys.access_key_id;
}

}  // namespace

Caller::Caller(Options options, Surroundings surroundings, std::shared_ptr<Budgets> budgets,
               CredentialChain credentials, Send send)
    : options_(std::move(options)),
      surroundings_(std::move(surroundings)),
      budgets_(std::move(budgets)),
      keys_(new Keys{.mutex = {}, .chain = std::move(credentials)}),
      send_(std::move(send)),
      host_(host_of(options_.endpoint)) {}

Result<Credentials> Caller::credentials() {
    const std::lock_guard lock(keys_->mutex);
    return keys_->chain.get();
}

// Full jitter: of several clients that were refused together, no two come back together.
std::chrono::nanoseconds Caller::pause(unsigned tries) const {
    const auto longest = std::min(longest_pause, first_pause * (1U << std::min(tries, 8U)));
    const auto least = longest / 4;
    const auto spread = static_cast<std::uint64_t>((longest - least).count()) + 1;
    return least + std::chrono::nanoseconds(static_cast<std::int64_t>(surroundings_.random.next() % spread));
}

CallError Caller::error_of(const Request& request, const net::Response& response) const {
    auto said = options_.parse_error(response.body);
    CallError error{.error = {}, .code = std::move(said.code), .messages = std::move(said.messages)};
    const bool whose = response.status == 401 || response.status == 403 || one_of(credential_codes, error.code) ||
                       one_of(expired_codes, error.code);
    if (whose) keep_first_lines(error.messages);
    auto text = shortened(error.messages.empty() ? std::string() : join(error.messages, "; "));
    const auto what = fmt::format("{}: status {}{}{}{}{}", request.operation, response.status,
                                  error.code.empty() ? "" : " ", error.code, text.empty() ? "" : ": ", text);
    if (whose) {
        error.error = {Errc::invalid, options_.credential_field, what};
    } else if (one_of(options_.absent_codes, error.code)) {
        error.error = {Errc::not_found, {}, what};
    } else if (response.status >= 500 || response.status == 429 || one_of(throttle_codes, error.code)) {
        error.error = {Errc::unavailable, {}, what};
    } else {
        error.error = {Errc::invalid, {}, what};
    }
    return error;
}

Caller::Answer Caller::attempt(const Request& request, const Credentials& credentials) {
    SigningRequest to_sign{request.method, request.path, request.query, {{"host", host_}}, request.body};
    if (!request.body.empty()) to_sign.headers.emplace_back("content-type", request.content_type);
    const auto signature =
        sign(to_sign, credentials.keys, {options_.region, options_.service}, surroundings_.clock.now());
    net::ClientRequest out;
    out.method = request.method;
    out.target = request.path;
    if (!request.query.empty()) out.target += "?" + canonical_query(request.query);
    out.body = request.body;
    if (!request.body.empty()) out.headers.set("content-type", request.content_type);
    for (const auto& [name, value] : signature.headers) out.headers.set(name, value);

    Answer answer;
    const auto measured = options_.measure(request);
    auto response = send_(out);
    if (!response) {
        const auto code = response.error().code;
        const bool passing = code == Errc::unavailable || code == Errc::timeout;
        answer.kind = passing ? Answer::Kind::again : Answer::Kind::bad;
        answer.error.error = {code, {}, fmt::format("{}: {}", request.operation, response.error().text())};
        measured(&answer.error);
        return answer;
    }
    if (response->status >= 200 && response->status < 300) {
        answer.kind = Answer::Kind::good;
        answer.body = std::move(response->body);
        measured(nullptr);
        return answer;
    }
    answer.error = error_of(request, *response);
    answer.throttled = response->status == 429 || one_of(throttle_codes, answer.error.code);
    if (one_of(expired_codes, answer.error.code)) {
        answer.kind = Answer::Kind::expired;
    } else if (answer.error.error.code == Errc::unavailable) {
        answer.kind = Answer::Kind::again;
    }
    if (answer.throttled) surroundings_.throttled.add();
    measured(&answer.error);
    return answer;
}

CallResult<std::string> Caller::call(const Request& request) {
    bool renewed = false;
    Answer answer;
    const auto began = surroundings_.clock.monotonic();
    for (unsigned tries = 0; tries < max_tries; ++tries) {
        const auto found = credentials();
        if (!found) return tl::unexpected(CallError{found.error(), {}, {}});
        const auto& account = account_of(*found);
        const auto wait = budgets_->reserve(account, options_.requests_per_second, surroundings_.clock.monotonic());
        surroundings_.waited.add(std::chrono::duration<double>(wait).count());
        if (wait.count() > 0 && !surroundings_.wait(wait))
            return tl::unexpected(CallError{{Errc::unavailable, {}, "the server is stopping"}, {}, {}});
        answer = attempt(request, *found);
        switch (answer.kind) {
            case Answer::Kind::good:
                return std::move(answer.body);
            case Answer::Kind::bad:
                return tl::unexpected(std::move(answer.error));
            case Answer::Kind::expired:
                if (renewed) return tl::unexpected(std::move(answer.error));
                renewed = true;
                {
                    const std::lock_guard lock(keys_->mutex);
                    keys_->chain.drop();
                }
                continue;
            case Answer::Kind::again:
                break;
        }
        const auto rest = pause(tries);
        if (tries + 1 == max_tries || surroundings_.clock.monotonic() + rest - began > patience) {
            answer.error.error.message += fmt::format(" ({} tries)", tries + 1);
            break;
        }
        // The whole account goes slower, not this client alone.
        if (answer.throttled) budgets_->hold(account, surroundings_.clock.monotonic() + rest);
        surroundings_.log.debug("aws request is tried again", {{"service", options_.service},
                                                               {"about", options_.about},
                                                               {"operation", request.operation},
                                                               {"why", answer.error.error.message}});
        if (!surroundings_.wait(rest))
            return tl::unexpected(CallError{{Errc::unavailable, {}, "the server is stopping"}, {}, {}});
    }
    return tl::unexpected(std::move(answer.error));
}

}  // namespace fairlead::aws
