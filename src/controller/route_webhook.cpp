#include "controller/route_webhook.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.h"

namespace fairlead::controller {

namespace {

constexpr std::chrono::milliseconds longest_wait{30'000};
constexpr std::size_t max_answer_values = 1'000;

}  // namespace

struct WebhookCalls::Box {
    std::mutex mutex;
    std::function<void()> wake;  // null: nobody listens any more
    std::vector<std::pair<std::string, Result<std::string>>> arrived;
};

Result<WebhookSettings> webhook_settings(const std::map<std::string, std::string>& parameters) {
    WebhookSettings settings;
    settings.fallback = traffic::default_strategy;
    for (const auto& [name, value] : parameters) {
        if (name == "url") {
            settings.url = value;
        } else if (name == "ca") {
            settings.ca_pem = value;
        } else if (name == "timeout") {
            const auto timeout = parse_duration(value);
            if (!timeout || timeout->count() <= 0 || *timeout > longest_wait) {
                return fail(Errc::invalid, "parameters.timeout",
                            fmt::format("'{}' is no duration up to 30s such as 500ms", value));
            }
            settings.timeout = *timeout;
        } else if (name == "fallback") {
            if (value != "fail" && !traffic::make_strategy(value)) {
                return fail(
                    Errc::invalid, "parameters.fallback",
                    fmt::format("'{}' is none of round-robin, least-routes, weighted, rendezvous, fail", value));
            }
            settings.fallback = value;
        } else {
            return fail(Errc::invalid, "parameters", fmt::format("'{}' is none of url, ca, timeout, fallback", name));
        }
    }
    if (!settings.url.starts_with("http://") && !settings.url.starts_with("https://")) {
        return fail(Errc::invalid, "parameters.url", fmt::format("'{}' is no http or https URL", settings.url));
    }
    return settings;
}

std::string webhook_body(json::Value route, std::span<const traffic::Candidate> routers) {
    json::erase_at(route, "spec.tls.key");  // a key is nobody's business but the router's
    json::erase_at(route, "metadata.managedFields");
    json::Array list;
    list.reserve(routers.size());
    for (const auto& router : routers) {
        json::Object entry{{"name", json::Value(router.name)}, {"routes", router.routes}};
        if (router.capacity) entry["capacity"] = *router.capacity;
        list.emplace_back(std::move(entry));
    }
    return json::serialize(json::Object{{"route", std::move(route)}, {"routers", std::move(list)}});
}

Result<std::string> webhook_choice(std::string_view answer, std::span<const traffic::Candidate> routers) {
    const auto value = json::parse(answer, max_answer_values);
    if (!value) return fail(Errc::invalid, fmt::format("its answer is no JSON: {}", value.error().message));
    const std::string name(json::string_at(*value, "router"));
    if (name.empty()) return fail(Errc::invalid, R"(its answer has no "router")");
    const bool offered =
        std::any_of(routers.begin(), routers.end(), [&](const auto& router) { return router.name == name; });
    if (!offered) {
        return fail(Errc::invalid, fmt::format("it chose router '{}', which is none of those that may take the route",
                                               valid_utf8(name.substr(0, 253))));
    }
    return name;
}

WebhookCalls::WebhookCalls(Ask ask, std::function<void()> wake) : ask_(std::move(ask)), box_(std::make_shared<Box>()) {
    box_->wake = std::move(wake);
}

WebhookCalls::~WebhookCalls() {
    const std::lock_guard lock(box_->mutex);
    box_->wake = nullptr;
}

bool WebhookCalls::ask(const std::string& route, Question question) {
    if (open_.size() >= max_open) return false;
    open_.insert(route);
    answers_.erase(route);
    const auto done = [box = box_, route](Result<std::string> answer) {
        const std::lock_guard lock(box->mutex);
        if (!box->wake) return;
        box->arrived.emplace_back(route, std::move(answer));
        box->wake();
    };
    if (ask_) {
        ask_(std::move(question), done);
    } else {
        done(fail(Errc::unsupported, "this server asks no webhooks"));
    }
    return true;
}

std::vector<std::string> WebhookCalls::take_news() {
    std::vector<std::pair<std::string, Result<std::string>>> arrived;
    {
        const std::lock_guard lock(box_->mutex);
        arrived.swap(box_->arrived);
    }
    std::vector<std::string> routes;
    routes.reserve(arrived.size());
    for (auto& [route, answer] : arrived) {
        if (open_.erase(route) == 0) continue;
        answers_.insert_or_assign(route, std::move(answer));
        routes.push_back(std::move(route));
    }
    return routes;
}

std::optional<Result<std::string>> WebhookCalls::take(const std::string& route) {
    const auto found = answers_.find(route);
    if (found == answers_.end()) return std::nullopt;
    auto answer = std::move(found->second);
    answers_.erase(found);
    return answer;
}

// A question that is under way is answered in its time; then nobody takes the answer.
void WebhookCalls::forget(const std::string& route) { answers_.erase(route); }

}  // namespace fairlead::controller
