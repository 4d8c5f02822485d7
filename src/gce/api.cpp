#include "gce/api.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"

namespace fairlead::gce {
namespace {

using namespace std::chrono_literals;

constexpr unsigned max_tries = 8;
constexpr std::chrono::nanoseconds first_pause = 250ms;
constexpr std::chrono::nanoseconds longest_pause = 10s;
constexpr auto patience = 60s;           // nothing is begun after that
constexpr std::size_t max_said = 1'000;  // of what a server said, in a message
constexpr std::size_t max_pages = 10'000;
constexpr std::string_view page_size = "500";  // the most that Compute Engine gives
constexpr std::string_view account = "project";

// "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE" of operations is "resourceInUseByAnotherResource" of answers.
std::string plain(std::string_view reason) {
    std::string out;
    for (const char c : lower(reason)) {
        if (c != '_') out += c;
    }
    return out;
}

Errc code_of(Trouble trouble) {
    switch (trouble) {
        case Trouble::exists:
        case Trouble::stale:
            return Errc::conflict;
        case Trouble::quota:
            return Errc::too_large;
        case Trouble::in_use:
        case Trouble::not_ready:
        case Trouble::passing:
            return Errc::unavailable;
        case Trouble::missing:
        case Trouble::refused:
        case Trouble::access:
            break;
    }
    return Errc::invalid;
}

// "Quota 'BACKEND_SERVICES' exceeded.  Limit: 9.0 globally."
std::string quota_in(std::string_view said) {
    const auto begin = said.find('\'');
    const auto end = begin == std::string_view::npos ? begin : said.find('\'', begin + 1);
    return end == std::string_view::npos ? "" : std::string(said.substr(begin + 1, end - begin - 1));
}

std::string target_of(const std::string& project, const ApiRequest& request) {
    auto target = fmt::format("/compute/v1/projects/{}/{}", project, request.path);
    char separator = '?';
    for (const auto& [name, value] : request.query) {
        target += separator;
        target += name + "=" + percent_encode(value);
        separator = '&';
    }
    return target;
}

}  // namespace

Trouble trouble_of(int status, std::string_view reason) {
    static const std::map<std::string, Trouble, std::less<>> by_reason{
        {"alreadyexists", Trouble::exists},
        {"resourcealreadyexists", Trouble::exists},
        {"notfound", Trouble::missing},
        {"resourcenotfound", Trouble::missing},
        {"resourceinusebyanotherresource", Trouble::in_use},
        {"resourcenotready", Trouble::not_ready},
        {"conditionnotmet", Trouble::stale},
        {"quotaexceeded", Trouble::quota},
        {"limitexceeded", Trouble::quota},
        {"ratelimitexceeded", Trouble::passing},
        {"userratelimitexceeded", Trouble::passing},
        {"operationratelimitexceeded", Trouble::passing},
        {"backenderror", Trouble::passing},
        {"internalerror", Trouble::passing},
        {"autherror", Trouble::access},
        {"forbidden", Trouble::access},
        {"permissionsdenied", Trouble::access},
        {"accessnotconfigured", Trouble::access},
    };
    if (const auto found = by_reason.find(plain(reason)); found != by_reason.end()) return found->second;
    if (status == 429 || status >= 500 || status == 408) return Trouble::passing;
    if (status == 401 || status == 403) return Trouble::access;
    if (status == 404) return Trouble::missing;
    if (status == 409) return Trouble::exists;
    if (status == 412) return Trouble::stale;
    return Trouble::refused;
}

ApiError error_of(Trouble trouble, std::string_view what, std::string_view said) {
    auto message = fmt::format("{}: {}", what, valid_utf8(said.substr(0, max_said)));
    std::string field;
    if (trouble == Trouble::quota) field = quota_in(said);
    if (trouble == Trouble::access) field = "secret";
    return {trouble, {code_of(trouble), std::move(field), std::move(message)}};
}

Api::Api(std::string project, double requests_per_second, balancer::Surroundings surroundings, Tokens tokens, Send send)
    : project_(std::move(project)),
      rate_(requests_per_second),
      surroundings_(std::move(surroundings)),
      tokens_(std::move(tokens)),
      send_(std::move(send)),
      metrics_(surroundings_.metrics, surroundings_.clock, "gce"),
      throttled_(
          surroundings_.metrics.counter("fairlead_gce_throttled_total",
                                        "Requests that Compute Engine refused because there were too many of them.")) {}

// Of several clients that were refused together, no two come back together.
std::chrono::nanoseconds Api::pause(unsigned tries) {
    const auto longest = std::min(longest_pause, first_pause * (1U << std::min(tries, 8U)));
    const auto least = longest / 4;
    const auto spread = static_cast<std::uint64_t>((longest - least).count()) + 1;
    return least + std::chrono::nanoseconds(static_cast<std::int64_t>(surroundings_.random.next() % spread));
}

bool Api::rest(unsigned tries) { return surroundings_.wait(pause(tries)); }

Api::Answer Api::attempt(const ApiRequest& request, const net::ClientRequest& out, const std::string& token) {
    auto with_token = out;
    with_token.headers.set("Authorization", "Bearer " + token);
    const auto what = fmt::format("{} {}", request.operation, request.path);
    Answer answer;
    auto measured = metrics_.begin(request.operation);
    auto response = send_(with_token);
    if (!response) {
        const auto code = response.error().code;
        answer.again = code == Errc::unavailable || code == Errc::timeout;
        answer.error = {answer.again ? Trouble::passing : Trouble::refused,
                        {code, {}, fmt::format("{}: {}", what, response.error().text())}};
        measured.done(provider::result_text(code));
        return answer;
    }
    auto said = json::parse(response->body.empty() ? "{}" : response->body);
    if (response->status >= 200 && response->status < 300) {
        if (said) {
            answer.good = std::move(*said);
            measured.done("ok");
        } else {
            answer.again = true;
            answer.error = error_of(Trouble::passing, what, "the answer is no JSON: " + said.error().message);
            measured.done("unavailable");
        }
        return answer;
    }
    std::string reason;
    std::string message;
    if (said) {
        message = json::string_at(*said, "error.message");
        if (const auto* errors = json::find(*said, "error.errors");
            errors != nullptr && errors->is_array() && !errors->get_array().empty())
            reason = json::string_at(errors->get_array().front(), "reason");
    }
    const auto trouble = trouble_of(response->status, reason);
    answer.error = error_of(trouble, what, fmt::format("status {} {}: {}", response->status, reason, message));
    answer.expired = response->status == 401;
    answer.again = trouble == Trouble::passing;
    answer.throttled = answer.again && response->status < 500;
    if (answer.throttled) throttled_.add();
    measured.done(provider::result_text(answer.error.error.code));
    return answer;
}

ApiResult<json::Value> Api::call(const ApiRequest& request) {
    const ApiError stopping{Trouble::passing, {Errc::unavailable, {}, "the server is stopping"}};
    net::ClientRequest out;
    out.method = request.method;
    out.target = target_of(project_, request);
    if (request.body) {
        out.body = json::serialize(*request.body);
        out.headers.set("Content-Type", "application/json");
    }
    bool renewed = false;
    Answer answer;
    const auto& clock = surroundings_.clock;
    const auto began = clock.monotonic();
    for (unsigned tries = 0; tries < max_tries; ++tries) {
        const auto token = tokens_.get();
        if (token) {
            const auto wait = budgets_.reserve(std::string(account), rate_, clock.monotonic());
            if (wait.count() > 0 && !surroundings_.wait(wait)) return tl::unexpected(stopping);
            answer = attempt(request, out, *token);
        } else {
            const auto code = token.error().code;
            answer = {};
            answer.again = code == Errc::unavailable || code == Errc::timeout;
            answer.error = {answer.again ? Trouble::passing : Trouble::access, token.error()};
        }
        if (answer.good) return std::move(*answer.good);
        if (answer.expired && token && !renewed) {
            renewed = true;
            tokens_.drop(*token);
            continue;
        }
        if (!answer.again) break;
        const auto rest = pause(tries);
        if (tries + 1 == max_tries || clock.monotonic() + rest - began > patience) {
            answer.error.error.message += fmt::format(" ({} tries)", tries + 1);
            break;
        }
        // The whole project goes slower, not this balancer alone.
        if (answer.throttled) budgets_.hold(std::string(account), clock.monotonic() + rest);
        surroundings_.log.debug(
            "gce request is tried again",
            {{"operation", request.operation}, {"path", request.path}, {"why", answer.error.error.message}});
        if (!surroundings_.wait(rest)) return tl::unexpected(stopping);
    }
    return tl::unexpected(std::move(answer.error));
}

ApiResult<void> Api::pages(ApiRequest request, const std::function<void(const json::Value&)>& items) {
    const auto asked = request.query;
    std::string token;
    for (std::size_t page = 0; page < max_pages; ++page) {
        request.query = asked;
        request.query.emplace_back("maxResults", page_size);
        if (!token.empty()) request.query.emplace_back("pageToken", token);
        const auto answer = call(request);
        if (!answer) return tl::unexpected(answer.error());
        items(*answer);
        token = json::string_at(*answer, "nextPageToken");
        if (token.empty()) return {};
    }
    return tl::unexpected(error_of(Trouble::passing, request.path, "the list does not end"));
}

Send network(const std::string& endpoint, std::chrono::milliseconds timeout) {
    struct Clients {
        std::mutex mutex;
        std::vector<std::unique_ptr<net::Client>> idle;
    };
    net::ClientOptions options;
    options.base_url = endpoint;
    options.timeout = timeout;
    return [options, clients = std::make_shared<Clients>()](const net::ClientRequest& request) {
        std::unique_ptr<net::Client> client;
        {
            const std::lock_guard lock(clients->mutex);
            if (!clients->idle.empty()) {
                client = std::move(clients->idle.back());
                clients->idle.pop_back();
            }
        }
        if (!client) client = std::make_unique<net::Client>(options);
        auto response = client->send(request);
        const std::lock_guard lock(clients->mutex);
        clients->idle.push_back(std::move(client));
        return response;
    };
}

}  // namespace fairlead::gce
