#include "control/client.h"

#include <fmt/core.h>

#include "control/fence.h"

namespace fairlead::control {

std::string ObjectId::key() const { return namespace_.empty() ? name : namespace_ + "/" + name; }

std::string ObjectId::text() const {
    return fmt::format("{} {}", kind ? kind->qualified_resource() : std::string("?"), key());
}

ObjectId object_id(const resource::Kind& kind, std::string_view key) {
    ObjectId id{&kind, "", std::string(key)};
    const auto slash = key.find('/');
    if (kind.scope == resource::Scope::namespaced && slash != std::string_view::npos) {
        id.namespace_ = key.substr(0, slash);
        id.name = key.substr(slash + 1);
    }
    return id;
}

std::vector<Result<json::Value>> Transport::send_all(std::span<const Request> requests) {
    std::vector<Result<json::Value>> answers;
    answers.reserve(requests.size());
    for (const auto& request : requests) answers.push_back(send(request));
    return answers;
}

Client::Client(Transport& transport, std::string agent, const Fence* fence, const Clock& clock)
    : transport_(transport), agent_(std::move(agent)), fence_(fence), clock_(clock) {}

Result<json::Value> Client::get(const ObjectId& id) {
    Request request;
    request.object = id;
    request.agent = agent_;
    return transport_.send(request);
}

Result<json::Value> Client::write(Verb verb, const ObjectId& id, json::Value body, std::string_view subresource) {
    Request request;
    request.verb = verb;
    request.object = id;
    request.subresource = subresource;
    request.body = std::move(body);
    request.agent = agent_;
    if (fence_ && !fence_->open(clock_.monotonic())) {
        return fail(Errc::unavailable, id.text(), "the lease is not held, so nothing is written");
    }
    return transport_.send(request);
}

std::vector<Result<json::Value>> Client::write_all(std::vector<Request> requests) {
    const bool open = fence_ == nullptr || fence_->open(clock_.monotonic());
    if (open) {
        for (auto& request : requests) request.agent = agent_;
        return transport_.send_all(requests);
    }
    std::vector<Result<json::Value>> answers;
    answers.reserve(requests.size());
    for (const auto& request : requests) {
        answers.emplace_back(
            fail(Errc::unavailable, request.object.text(), "the lease is not held, so nothing is written"));
    }
    return answers;
}

Result<json::Value> Client::create(const ObjectId& id, json::Value object) {
    return write(Verb::create, id, std::move(object), {});
}

Result<json::Value> Client::update(const ObjectId& id, json::Value object) {
    return write(Verb::update, id, std::move(object), {});
}

Result<json::Value> Client::update_status(const ObjectId& id, json::Value object) {
    return write(Verb::update, id, std::move(object), "status");
}

Result<json::Value> Client::update_finalize(const ObjectId& id, json::Value object) {
    return write(Verb::update, id, std::move(object), "finalize");
}

Result<json::Value> Client::merge_patch(const ObjectId& id, json::Value patch, std::string_view subresource) {
    return write(Verb::merge_patch, id, std::move(patch), subresource);
}

Result<json::Value> Client::json_patch(const ObjectId& id, json::Value patch, std::string_view subresource) {
    return write(Verb::json_patch, id, std::move(patch), subresource);
}

Result<json::Value> Client::remove(const ObjectId& id, const DeleteOptions& options) {
    Request request;
    request.verb = Verb::remove;
    request.object = id;
    request.remove = options;
    request.agent = agent_;
    if (fence_ && !fence_->open(clock_.monotonic())) {
        return fail(Errc::unavailable, id.text(), "the lease is not held, so nothing is deleted");
    }
    return transport_.send(request);
}

}  // namespace fairlead::control
