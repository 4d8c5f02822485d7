#include "provider/webhook/webhook.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "base/log.h"
#include "base/text.h"
#include "json/value.h"
#include "net/client.h"
#include "plan/endpoint_json.h"
#include "plan/plan.h"
#include "provider/provider_metrics.h"
#include "provider/webhook/protocol.h"

namespace fairlead::provider::webhook {
namespace {

constexpr std::size_t max_said_bytes = 300;  // of an answer's text in a message

struct Url {
    std::string base, path;  // "http://127.0.0.1:8888", "/webhook" without a slash at its end
};

Result<Url> parse_url(std::string_view text) {
    const auto scheme = text.find("://");
    const bool known = text.starts_with("http://") || text.starts_with("https://");
    const auto host = known ? text.substr(scheme + 3) : std::string_view();
    if (host.empty() || host.front() == '/' || text.find_first_of(" \t\r\n?#@") != std::string_view::npos) {
        return fail(Errc::invalid, "spec.webhook.url",
                    fmt::format("\"{}\" must be an address as http://host:port/path", text));
    }
    const auto slash = text.find('/', scheme + 3);
    Url url{std::string(text.substr(0, slash)), slash == std::string_view::npos ? "" : std::string(text.substr(slash))};
    while (url.path.ends_with('/')) url.path.pop_back();
    return url;
}

// What an answer says about itself, for a person; never more than a line.
std::string said(const net::Response& response) {
    auto text = valid_utf8(trim(std::string_view(response.body).substr(0, max_said_bytes)));
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.empty() ? fmt::format("the webhook answered {}", response.status)
                        : fmt::format("the webhook answered {}: {}", response.status, text);
}

bool soft(int status) { return status >= 500 || status == 429 || status == 408; }

// What the webhook is asked to adjust, and remembered by: everything but the labels.
std::string spelled(const dns::Endpoint& endpoint) {
    auto bare = endpoint;
    bare.labels.clear();
    return json::serialize(plan::endpoint_json(bare));
}

bool same_record(const dns::Endpoint& a, const dns::Endpoint& b) {
    return a.record_type == b.record_type && a.set_identifier == b.set_identifier &&
           plan::normal_name(a.dns_name) == plan::normal_name(b.dns_name);
}

class WebhookProvider final : public Provider {
public:
    WebhookProvider(const ZoneSettings& settings, Url url, net::ClientOptions client, const Surroundings& around,
                    const Limits& limits)
        : zone_(settings.key),
          apex_(settings.apex),
          url_(std::move(url)),
          client_(std::move(client)),
          around_(around),
          metrics_(around.metrics, around.clock, "webhook"),
          limits_(limits) {}

    [[nodiscard]] Supports supports() const override {
        Supports supports;
        supports.types = {"A", "AAAA", "CNAME", "TXT", "MX", "SRV", "NS", "PTR", "NAPTR", "CAA"};
        // Policies go along as they are; whether the webhook knows them is its own.
        supports.weight = supports.geo = supports.region = supports.failover = true;
        supports.multi_value = supports.geoproximity = true;
        return supports;
    }
    Result<Listing> list(const std::optional<std::vector<std::string>>& names) override;
    void prepare(std::span<const dns::Endpoint> endpoints) override;
    [[nodiscard]] Result<dns::Endpoint> canonicalise(const dns::Endpoint& endpoint) const override;
    std::vector<Outcome> apply(std::span<const plan::ChangeGroup> groups) override;

private:
    Result<net::Response> send(std::string_view operation, net::ClientRequest request) const;
    Result<void> negotiate();
    Result<void> try_negotiate(bool& again);
    [[nodiscard]] bool concerns(const dns::Endpoint& endpoint) const;
    // What the webhook makes of each; an endpoint that it leaves out has none.
    Result<std::vector<std::optional<dns::Endpoint>>> adjust(std::span<const dns::Endpoint> endpoints) const;
    void remember(const dns::Endpoint& endpoint, const std::optional<dns::Endpoint>& adjusted) const;
    [[nodiscard]] Outcome send_changes(std::span<const plan::ChangeGroup> groups) const;
    void apply_part(std::span<const plan::ChangeGroup> groups, std::span<Outcome> outcomes, unsigned& failures) const;
    [[nodiscard]] std::size_t batch_end(std::span<const plan::ChangeGroup> groups, std::size_t from) const;

    std::string zone_;
    dns::Name apex_;
    Url url_;
    mutable net::Client client_;
    Surroundings around_;
    ProviderMetrics metrics_;
    Limits limits_;
    bool negotiated_ = false;
    plan::DomainFilter filter_;
    // By spelled(): nothing for what the webhook leaves out. Forgotten with each listing, as it may be another webhook.
    mutable std::unordered_map<std::string, std::optional<dns::Endpoint>> adjusted_;
};

Result<net::Response> WebhookProvider::send(std::string_view operation, net::ClientRequest request) const {
    request.headers.set("Accept", std::string(media_type));
    if (request.method == "POST") request.headers.set("Content-Type", std::string(media_type));
    auto measured = metrics_.begin(std::string(operation));
    auto response = client_.send(request);
    if (!response) {
        measured.done(result_text(response.error().code));
        return response;
    }
    measured.done(response->status < 300 ? "ok" : soft(response->status) ? "unavailable" : "refused");
    return response;
}

Result<void> WebhookProvider::try_negotiate(bool& again) {
    const auto response = send("negotiate", {.method = "GET", .target = url_.path + "/"});
    again = !response || soft(response->status);
    if (!response) return fail(response.error());
    if (response->status != 200)
        return fail(again ? Errc::unavailable : Errc::invalid, "spec.webhook.url", said(*response));
    if (response->headers.get("Content-Type") != media_type) {
        return fail(Errc::invalid, "spec.webhook.url",
                    fmt::format("the answer has the type \"{}\" and not \"{}\"", response->headers.get("Content-Type"),
                                media_type));
    }
    auto filter = parse_filter(response->body);
    if (!filter) {
        return fail(Errc::invalid, "spec.webhook.url", "the domain filter cannot be read: " + filter.error().text());
    }
    // A filter may also name something below the apex: then that part is what we can write.
    const auto apex = apex_.host();
    const bool below = std::any_of(filter->include().begin(), filter->include().end(), [&](const std::string& entry) {
        return entry.ends_with("." + apex) || entry == "." + apex;
    });
    if (!filter->matches(apex) && !below && filter->regex_include().empty()) {
        return fail(Errc::not_found, "spec.domainName",
                    fmt::format("the webhook does not serve {}: its domain filter is {}", apex, filter_text(*filter)));
    }
    filter_ = std::move(*filter);
    negotiated_ = true;
    return {};
}

Result<void> WebhookProvider::negotiate() {
    auto pause = limits_.first_pause;
    for (unsigned tried = 1;; ++tried) {
        bool again = false;
        auto done = try_negotiate(again);
        if (done || !again || tried >= limits_.tries) return done;
        if (!around_.waiter.wait(pause)) return fail(Errc::unavailable, "the process ends");
        pause *= 2;
    }
}

bool WebhookProvider::concerns(const dns::Endpoint& endpoint) const {
    const auto name = dns::Name::parse(endpoint.dns_name);
    if (!name || !name->at_or_below(apex_) || !filter_.matches(endpoint.dns_name)) return false;
    return endpoint.record_type != "SOA" && !(endpoint.record_type == "NS" && *name == apex_);
}

Result<Listing> WebhookProvider::list(const std::optional<std::vector<std::string>>& names) {
    if (auto ok = negotiated_ ? Result<void>() : negotiate(); !ok) return fail(std::move(ok.error()));
    const auto response = send("list", {.method = "GET", .target = url_.path + std::string(records_path)});
    negotiated_ = response && response->status == 200;  // else it may be another one after
    if (!response) return fail(response.error());
    if (response->status != 200) {
        return fail(soft(response->status) ? Errc::unavailable : Errc::invalid, "spec.webhook.url", said(*response));
    }
    auto endpoints = parse_endpoints(response->body);
    if (!endpoints) {
        return fail(Errc::unavailable, "the records of the webhook cannot be read: " + endpoints.error().text());
    }
    Listing listing;
    listing.endpoints.reserve(endpoints->size());
    for (auto& endpoint : *endpoints) {
        if (!concerns(endpoint)) continue;
        if (names) {
            const auto name = plan::normal_name(endpoint.dns_name);
            if (std::find(names->begin(), names->end(), name) == names->end()) continue;
        }
        listing.endpoints.push_back(std::move(endpoint));
    }
    if (!names) adjusted_.clear();
    return listing;
}

Result<std::vector<std::optional<dns::Endpoint>>> WebhookProvider::adjust(
    std::span<const dns::Endpoint> endpoints) const {
    std::vector<dns::Endpoint> bare(endpoints.begin(), endpoints.end());
    for (auto& endpoint : bare) endpoint.labels.clear();
    const auto response = send("adjust", {.method = "POST",
                                          .target = url_.path + std::string(adjust_path),
                                          .headers = {},
                                          .body = endpoints_text(bare)});
    if (!response) return fail(response.error());
    if (response->status != 200) {
        return fail(soft(response->status) ? Errc::unavailable : Errc::unsupported, said(*response));
    }
    auto answer = parse_endpoints(response->body);
    if (!answer) return fail(Errc::unavailable, "the adjusted endpoints cannot be read: " + answer.error().text());
    // It may leave some out, and is free to order them: each belongs to the one that it is of.
    std::vector<std::optional<dns::Endpoint>> adjusted(endpoints.size());
    std::size_t hint = 0;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        for (std::size_t step = 0; step < answer->size(); ++step) {
            const auto at = (hint + step) % answer->size();
            if (!same_record((*answer)[at], endpoints[i])) continue;
            adjusted[i] = (*answer)[at];
            hint = at + 1;
            break;
        }
    }
    return adjusted;
}

void WebhookProvider::remember(const dns::Endpoint& endpoint, const std::optional<dns::Endpoint>& adjusted) const {
    if (adjusted_.size() >= limits_.adjusted) adjusted_.clear();
    adjusted_.insert_or_assign(spelled(endpoint), adjusted);
}

void WebhookProvider::prepare(std::span<const dns::Endpoint> endpoints) {
    std::vector<dns::Endpoint> unknown;
    std::set<std::tuple<std::string, std::string, std::string>> met;
    for (const auto& endpoint : endpoints) {
        if (adjusted_.contains(spelled(endpoint))) continue;
        // Rivals for one set would come back as one; the second is asked about alone.
        if (met.emplace(plan::normal_name(endpoint.dns_name), endpoint.record_type, endpoint.set_identifier).second) {
            unknown.push_back(endpoint);
        }
    }
    for (std::size_t from = 0; from < unknown.size(); from += limits_.batch_groups) {
        const auto part = std::span(unknown).subspan(from, std::min(limits_.batch_groups, unknown.size() - from));
        const auto adjusted = adjust(part);
        if (!adjusted) return;  // each is asked about by itself, and says what is wrong
        for (std::size_t i = 0; i < part.size(); ++i) remember(part[i], (*adjusted)[i]);
    }
}

Result<dns::Endpoint> WebhookProvider::canonicalise(const dns::Endpoint& endpoint) const {
    auto known = adjusted_.find(spelled(endpoint));
    if (known == adjusted_.end()) {
        const auto adjusted = adjust({&endpoint, 1});
        if (!adjusted) return fail(adjusted.error());
        remember(endpoint, adjusted->front());
        known = adjusted_.find(spelled(endpoint));
    }
    if (!known->second) {
        return fail(Errc::unsupported,
                    fmt::format("the webhook leaves out {} {}", endpoint.record_type, endpoint.dns_name));
    }
    if (!filter_.matches(known->second->dns_name)) {
        return fail(Errc::unsupported, fmt::format("{} is outside of what the webhook serves: {}", endpoint.dns_name,
                                                   filter_text(filter_)));
    }
    auto canonical = *known->second;
    canonical.labels = endpoint.labels;
    return canonical;
}

Outcome WebhookProvider::send_changes(std::span<const plan::ChangeGroup> groups) const {
    Changes changes;
    for (const auto& group : groups) add_group(changes, group);
    const auto response = send("apply", {.method = "POST",
                                         .target = url_.path + std::string(records_path),
                                         .headers = {},
                                         .body = changes_text(changes)});
    if (!response) return {Outcome::State::unavailable, {}, response.error().text()};
    if (response->status == 204) return {};
    return {soft(response->status) ? Outcome::State::unavailable : Outcome::State::refused, {}, said(*response)};
}

// Halves what is refused until what is wrong stands alone. External-dns's own server says 500 to every refusal, so that
// a soft answer does not tell a bad record from a bad day: only failure after failure does.
void WebhookProvider::apply_part(std::span<const plan::ChangeGroup> groups, std::span<Outcome> outcomes,
                                 unsigned& failures) const {
    std::vector<std::pair<std::size_t, std::size_t>> parts{{0, groups.size()}};
    Outcome last;
    while (!parts.empty()) {
        const auto [from, size] = parts.back();
        parts.pop_back();
        if (size == 0) continue;
        if (failures < limits_.failures_in_a_row) {
            last = send_changes(groups.subspan(from, size));
            failures = last.state == Outcome::State::unavailable ? failures + 1 : 0;
            if (last.state != Outcome::State::applied && size > 1) {
                parts.emplace_back(from + size / 2, size - size / 2);
                parts.emplace_back(from, size / 2);
                continue;
            }
        } else {
            last.state = Outcome::State::unavailable;
        }
        std::fill_n(outcomes.begin() + static_cast<std::ptrdiff_t>(from), size, last);
    }
}

std::size_t WebhookProvider::batch_end(std::span<const plan::ChangeGroup> groups, std::size_t from) const {
    std::size_t bytes = 0;
    auto to = from;
    for (; to < groups.size() && to - from < limits_.batch_groups; ++to) {
        Changes changes;
        add_group(changes, groups[to]);
        bytes += changes_text(changes).size();
        if (bytes > limits_.batch_bytes && to > from) break;
    }
    return to;
}

std::vector<Outcome> WebhookProvider::apply(std::span<const plan::ChangeGroup> groups) {
    std::vector<Outcome> outcomes(groups.size());
    unsigned failures = 0;
    for (std::size_t from = 0; from < groups.size();) {
        const auto to = batch_end(groups, from);
        apply_part(groups.subspan(from, to - from), std::span(outcomes).subspan(from, to - from), failures);
        from = to;
    }
    return outcomes;
}

}  // namespace

Result<std::unique_ptr<Provider>> make(const ZoneSettings& settings, const Surroundings& around, const Limits& limits) {
    auto url = parse_url(settings.webhook.url);
    if (!url) return fail(std::move(url.error()));
    net::ClientOptions client;
    client.base_url = url->base;
    client.timeout = settings.webhook.timeout;
    client.connect_timeout = std::min(client.connect_timeout, settings.webhook.timeout);
    client.max_answer_bytes = max_body_bytes;
    const auto secret = [&](const char* key) {
        const auto found = settings.secret.find(key);
        return found == settings.secret.end() ? std::string() : found->second;
    };
    client.bearer_token = std::string(trim(secret("token")));
    client.ca_pem = secret("ca.crt");
    client.certificate_pem = secret("tls.crt");
    client.key_pem = secret("tls.key");
    if (!client.bearer_token.empty() && url->base.starts_with("http://") && !url->base.starts_with("http://127.") &&
        !url->base.starts_with("http://[::1]") && !url->base.starts_with("http://localhost")) {
        return fail(Errc::invalid, "spec.webhook.url", "a token is not sent over plain HTTP to another machine");
    }
    return std::make_unique<WebhookProvider>(settings, std::move(*url), std::move(client), around, limits);
}

Providers::Make maker(const Surroundings& around) {
    return [around](const ZoneSettings& settings) { return make(settings, around); };
}

}  // namespace fairlead::provider::webhook
