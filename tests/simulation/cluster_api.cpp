#include "simulation/cluster_api.h"

#include "apiserver/media.h"
#include "apiserver/request_info.h"

namespace fairlead::simulation {

namespace {

constexpr apiserver::RestOptions rest_options{std::chrono::milliseconds(0)};

Error error_of(int code, const std::string& text) {
    if (code == 410) return {Errc::compacted, {}, text};
    if (code == 404) return {Errc::not_found, {}, text};
    if (code == 409) return {Errc::conflict, {}, text};
    if (code == 400 || code == 422) return {Errc::invalid, {}, text};
    return {Errc::unavailable, {}, text};
}

}  // namespace

ClusterApi::ClusterApi(const resource::Kinds& kinds, const Clock& clock, Random& random, std::size_t history)
    : kinds_(kinds),
      clock_(clock),
      store_(store::make_memory_store({.events = history})),
      rest_(kinds, *store_, clock, random, rest_options) {
    (void)rest_.prepare();
}

ClusterApi::Parsed ClusterApi::parse(std::string_view path) const {
    const auto info = apiserver::parse_target(path);
    Parsed parsed;
    parsed.target = {kinds_.find(info.group, info.version, info.resource), info.namespace_, info.name,
                     info.subresource};
    if (auto options = apiserver::parse_query(info.query)) parsed.options = std::move(*options);
    if (auto form = apiserver::negotiate({}, parsed.options.include_object)) parsed.form = std::move(*form);
    return parsed;
}

apiserver::Reply ClusterApi::call(std::string_view method, std::string_view path, std::string_view bytes) {
    const auto [target, options, form] = parse(path);
    const apiserver::Body body{bytes, method == "PATCH" ? "application/merge-patch+json" : "application/json"};
    const auto verb = apiserver::parse_target(path).verb(method, options.watch);
    if (verb == apiserver::Verb::get) return rest_.get(target, options);
    if (verb == apiserver::Verb::list) return rest_.list(target, options, form);
    if (verb == apiserver::Verb::create) return rest_.create(target, options, body);
    if (verb == apiserver::Verb::update) return rest_.update(target, options, body);
    if (verb == apiserver::Verb::patch) return rest_.patch(target, options, body);
    return rest_.remove(target, options, body);
}

int ClusterApi::send(std::string_view method, std::string_view path, std::string_view body) {
    return call(method, path, body).code;
}

std::string ClusterApi::text(std::string_view path) {
    auto reply = call("GET", path, {});
    return reply.code == 200 ? std::move(reply.body) : std::string();
}

json::Value ClusterApi::get(std::string_view path) {
    const auto body = text(path);
    return body.empty() ? json::Value() : json::parse(body).value_or(json::Value());
}

Result<std::string> ClusterApi::list(std::string_view path) {
    auto reply = call("GET", path, {});
    if (reply.code != 200) return fail(error_of(reply.code, reply.body));
    return std::move(reply.body);
}

Result<std::string> ClusterApi::write(const cluster::Sending& sending) {
    auto reply = call(sending.method, sending.path, sending.body);
    if (reply.code >= 300) return fail(error_of(reply.code, reply.body));
    return std::move(reply.body);
}

Result<std::unique_ptr<apiserver::WatchStream>> ClusterApi::watch(std::string_view path) {
    const auto [target, options, form] = parse(path);
    auto plan = rest_.plan_watch(target, options, form);
    if (!plan) {
        const auto reply = apiserver::reply_of(plan.error());
        return fail(error_of(reply.code, reply.body));
    }
    return std::make_unique<apiserver::WatchStream>(std::move(*plan), *store_, clock_, nullptr,
                                                    apiserver::WatchLimits{});
}

}  // namespace fairlead::simulation
