#include "apiserver/access_review.h"

#include <fmt/core.h>

#include "json/value.h"

namespace fairlead::apiserver {

namespace {

std::string text(const json::Value& review, std::string_view path) {
    return std::string(json::string_at(review, path));
}

json::Array list(const std::vector<std::string>& texts) {
    json::Array array;
    for (const auto& one : texts) array.emplace_back(one);
    return array;
}

std::vector<std::string> texts_at(const json::Value& review, std::string_view path) {
    std::vector<std::string> texts;
    const auto* array = json::find(review, path);
    if (!array || !array->is_array()) return texts;
    for (const auto& item : array->get_array()) {
        if (item.is_string()) texts.emplace_back(json::view(item.get_string()));
    }
    return texts;
}

Outcome<Attributes> wish_of(const json::Value& review) {
    const auto* path = json::find(review, "spec.nonResourceAttributes");
    const auto* resource = json::find(review, "spec.resourceAttributes");
    if ((path != nullptr) == (resource != nullptr)) {
        return refuse(
            bad_request("spec: exactly one of nonResourceAttributes or resourceAttributes must be specified"));
    }
    Attributes wish;
    if (path) {
        wish.verb = text(*path, "verb");
        wish.path = text(*path, "path");
        if (wish.path.empty()) wish.path = "/";
        return wish;
    }
    wish.verb = text(*resource, "verb");
    wish.group = text(*resource, "group");
    wish.version = text(*resource, "version");
    wish.resource = text(*resource, "resource");
    wish.subresource = text(*resource, "subresource");
    wish.namespace_ = text(*resource, "namespace");
    wish.name = text(*resource, "name");
    return wish;
}

Outcome<json::Value> decide(const json::Value& review, const User& user, Access& access) {
    const auto wish = wish_of(review);
    if (!wish) return refuse(wish.error());
    json::Object status;
    if (!wish->path.empty() && open_path(wish->path)) {
        status["allowed"] = true;
        return status;
    }
    const auto decision = access.authorizer().decide(user, *wish);
    status["allowed"] = decision.allowed;
    if (!decision.reason.empty()) status["reason"] = decision.reason;
    return status;
}

Outcome<json::Value> decide_about(const json::Value& review, const RequestInfo& info, Access& access) {
    User user{text(review, "spec.user"), texts_at(review, "spec.groups")};
    if (user.name.empty() && user.groups.empty()) {
        return refuse(bad_request("spec: at least one of user or group must be specified"));
    }
    if (!info.namespace_.empty() && text(review, "spec.resourceAttributes.namespace") != info.namespace_) {
        return refuse(
            bad_request(fmt::format("spec.resourceAttributes.namespace must match namespace: {}", info.namespace_)));
    }
    return decide(review, user, access);
}

json::Value rules_of(const json::Value& review, const User& user, Access& access) {
    const auto held = access.authorizer().held_by(user, text(review, "spec.namespace"));
    json::Array resources, paths;
    for (const auto& rule : held.rules) {
        json::Object one{{"verbs", list(rule.verbs)}};
        if (!rule.non_resource_urls.empty()) {
            one["nonResourceURLs"] = list(rule.non_resource_urls);
            paths.push_back(std::move(one));
            continue;
        }
        one["apiGroups"] = list(rule.api_groups);
        one["resources"] = list(rule.resources);
        if (!rule.resource_names.empty()) one["resourceNames"] = list(rule.resource_names);
        resources.push_back(std::move(one));
    }
    json::Object status{{"resourceRules", std::move(resources)},
                        {"nonResourceRules", std::move(paths)},
                        {"incomplete", !held.problem.empty()}};
    if (!held.problem.empty()) status["evaluationError"] = held.problem;
    return status;
}

json::Value described(const User& user) {
    json::Object info{{"username", user.name}};
    if (!user.uid.empty()) info["uid"] = user.uid;
    info["groups"] = list(user.groups);
    if (!user.extra.empty()) {
        json::Object extra;
        for (const auto& [key, values] : user.extra) extra[key] = list(values);
        info["extra"] = std::move(extra);
    }
    return info;
}

json::Value whose(const json::Value& review, const Access& access) {
    const auto token = text(review, "spec.token");
    const auto user = token.empty() ? std::nullopt : access.user_of(token);
    if (!user) return json::Object{{"authenticated", false}, {"error", "the token is unknown, revoked or expired"}};
    return json::Object{{"authenticated", true}, {"user", described(*user)}};
}

Outcome<json::Value> status_of(const ReviewKind& kind, const json::Value& review, const RequestInfo& info,
                               const User& user, Access& access) {
    if (kind.resource == "selfsubjectreviews") return json::Object{{"userInfo", described(user)}};
    if (kind.resource == "tokenreviews") return whose(review, access);
    if (kind.resource == "selfsubjectrulesreviews") return rules_of(review, user, access);
    if (kind.resource == "selfsubjectaccessreviews") return decide(review, user, access);
    return decide_about(review, info, access);
}

}  // namespace

const ReviewKind* find_review(const RequestInfo& info) {
    if (info.version != "v1" || !info.name.empty()) return nullptr;
    for (const auto& kind : review_kinds) {
        if (kind.group == info.group && kind.resource == info.resource && kind.namespaced == !info.namespace_.empty()) {
            return &kind;
        }
    }
    return nullptr;
}

Reply review_access(const ReviewKind& kind, const RequestInfo& info, const User& user, const Body& body,
                    Access& access) {
    if (const auto format = body_format(body.content_type); !format) return reply_of(format.error());
    auto review = json::parse(body.bytes, json::max_sent_values);
    if (!review || !review->is_object()) {
        return reply_of(bad_request("couldn't get version/kind; json parse error: " +
                                    (review ? "not an object" : review.error().text())));
    }
    const auto* spec = json::find(*review, "spec");
    if (!spec && kind.resource != "selfsubjectreviews") return reply_of(bad_request("spec: Required value"));
    auto status = status_of(kind, *review, info, user, access);
    if (!status) return reply_of(status.error());
    json::Object metadata{{"creationTimestamp", nullptr}};
    if (kind.namespaced) metadata["namespace"] = info.namespace_;
    json::Object answer{
        {"kind", kind.kind}, {"apiVersion", fmt::format("{}/v1", kind.group)}, {"metadata", std::move(metadata)}};
    if (spec) answer["spec"] = *spec;
    // What was asked about a token must not come back in an answer that proxies might log.
    if (kind.resource == "tokenreviews") answer["spec"] = json::Object();
    answer["status"] = std::move(*status);
    Reply reply;
    reply.code = 201;
    reply.content = Reply::Content::status;
    reply.body = json::serialize(answer);
    return reply;
}

}  // namespace fairlead::apiserver
