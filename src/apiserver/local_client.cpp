#include "apiserver/local_client.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace fairlead::apiserver {

namespace {

std::string_view policy_name(control::Propagation propagation) {
    switch (propagation) {
        case control::Propagation::background:
            return "Background";
        case control::Propagation::foreground:
            return "Foreground";
        case control::Propagation::orphan:
            return "Orphan";
    }
    return "";
}

std::string delete_body(const control::DeleteOptions& options) {
    json::Value body;
    json::set_at(body, "kind", "DeleteOptions");
    json::set_at(body, "apiVersion", "v1");
    if (!options.uid.empty()) json::set_at(body, "preconditions.uid", json::Value(options.uid));
    if (!options.resource_version.empty()) {
        json::set_at(body, "preconditions.resourceVersion", json::Value(options.resource_version));
    }
    if (options.propagation) {
        json::set_at(body, "propagationPolicy", json::Value(policy_name(*options.propagation)));
    }
    return json::serialize(body);
}

Errc code_of(int http, std::string_view reason) {
    switch (http) {
        case 404:
            return Errc::not_found;
        case 409:
            return reason == "AlreadyExists" ? Errc::already_exists : Errc::conflict;
        case 410:
            return Errc::compacted;
        case 413:
            return Errc::too_large;
        case 400:
        case 403:
        case 422:
            return Errc::invalid;
        case 405:
        case 415:
        case 501:
            return Errc::unsupported;
        case 429:
        case 503:
            return Errc::unavailable;
        case 504:
            return Errc::timeout;
        default:
            return Errc::internal;
    }
}

Error error_of(const Reply& reply) {
    Error error{code_of(reply.code, ""), {}, reply.body};
    const auto status = json::parse(reply.body);
    if (!status) return error;
    error.code = code_of(reply.code, json::string_at(*status, "reason"));
    error.message = json::string_at(*status, "message");
    const auto* causes = json::find(*status, "details.causes");
    if (causes && causes->is_array() && !causes->get_array().empty()) {
        error.field = json::string_at(causes->get_array().front(), "field");
    }
    return error;
}

}  // namespace

LocalClient::LocalClient(const resource::Kinds& kinds, store::Store& store, const Clock& clock, Random& random,
                         std::size_t at_once)
    : rest_(kinds, store, clock, random), at_once_(at_once) {}

Reply LocalClient::call(const control::Request& request) {
    const auto& object = request.object;
    const Target target{object.kind, object.namespace_, object.name, request.subresource};
    QueryOptions options;
    // The group lets it through every check of what a user may do; what an object may be is checked all the same.
    options.caller = {{std::string(controllers_user), {"system:masters", "system:authenticated"}}, request.agent};
    const bool has_body = request.verb != control::Verb::get && request.verb != control::Verb::remove;
    const std::string bytes = has_body ? json::serialize(request.body) : std::string();
    switch (request.verb) {
        case control::Verb::get:
            return rest_.get(target, options);
        case control::Verb::create: {
            const Target place{object.kind, object.namespace_, "", request.subresource};
            return rest_.create(place, options, {bytes, "application/json"});
        }
        case control::Verb::update:
            return rest_.update(target, options, {bytes, "application/json"});
        case control::Verb::merge_patch:
            return rest_.patch(target, options, {bytes, "application/merge-patch+json"});
        case control::Verb::json_patch:
            return rest_.patch(target, options, {bytes, "application/json-patch+json"});
        case control::Verb::remove: {
            const auto body = delete_body(request.remove);
            return rest_.remove(target, options, {body, "application/json"});
        }
    }
    return reply_of(internal_error("unknown verb"));
}

std::vector<Result<json::Value>> LocalClient::send_all(std::span<const control::Request> requests) {
    const auto threads = std::min(at_once_, requests.size());
    if (threads <= 1) return Transport::send_all(requests);
    std::vector<Result<json::Value>> answers(requests.size(), fail(Errc::internal, "not sent"));
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (auto i = next++; i < requests.size(); i = next++) answers[i] = send(requests[i]);
    };
    std::vector<std::thread> helpers;
    helpers.reserve(threads - 1);
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
    for (auto& helper : helpers) helper.join();
    return answers;
}

Result<json::Value> LocalClient::send(const control::Request& request) {
    if (!request.object.kind) return fail(Errc::internal, "a request without a kind");
    const auto reply = call(request);
    if (reply.code >= 300) return fail(error_of(reply));
    if (reply.content == Reply::Content::status) return json::Value(nullptr);
    return json::parse(reply.body);
}

}  // namespace fairlead::apiserver
