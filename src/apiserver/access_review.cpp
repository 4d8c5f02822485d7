#include "apiserver/access_review.h"

#include "json/value.h"

namespace fairlead::apiserver {

namespace {

std::string text(const json::Value& review, std::string_view path) {
    return std::string(json::string_at(review, path));
}

json::Value decide(const json::Value& review, const User& user) {
    Attributes attributes;
    if (json::find(review, "spec.nonResourceAttributes")) {
        attributes.path = text(review, "spec.nonResourceAttributes.path");
        attributes.verb = text(review, "spec.nonResourceAttributes.verb");
    } else {
        attributes.verb = text(review, "spec.resourceAttributes.verb");
        attributes.group = text(review, "spec.resourceAttributes.group");
        attributes.resource = text(review, "spec.resourceAttributes.resource");
        attributes.subresource = text(review, "spec.resourceAttributes.subresource");
        attributes.namespace_ = text(review, "spec.resourceAttributes.namespace");
        attributes.name = text(review, "spec.resourceAttributes.name");
    }
    const auto refusal = authorize(user, attributes);
    json::Object status;
    status["allowed"] = !refusal.has_value();
    if (refusal) status["reason"] = refusal->message;
    return status;
}

// What the user may do in a namespace. As long as authorize() knows administrators only, that is everything.
json::Value rules() {
    const json::Array all{"*"};
    json::Object status;
    status["resourceRules"] = json::Array{json::Object{{"verbs", all}, {"apiGroups", all}, {"resources", all}}};
    status["nonResourceRules"] = json::Array{json::Object{{"verbs", all}, {"nonResourceURLs", all}}};
    status["incomplete"] = false;
    return status;
}

}  // namespace

Reply review_access(std::string_view resource, const User& user, const Body& body) {
    if (const auto format = body_format(body.content_type); !format) return reply_of(format.error());
    auto review = json::parse(body.bytes, json::max_sent_values);
    if (!review || !review->is_object()) {
        return reply_of(bad_request("couldn't get version/kind; json parse error: " +
                                    (review ? "not an object" : review.error().text())));
    }
    const bool access = resource == access_reviews;
    if (!json::find(*review, "spec")) return reply_of(bad_request("spec: Required value"));
    json::Object answer;
    answer["kind"] = access ? "SelfSubjectAccessReview" : "SelfSubjectRulesReview";
    answer["apiVersion"] = std::string(access_review_group) + "/v1";
    answer["metadata"] = json::Object{{"creationTimestamp", nullptr}};
    answer["spec"] = *json::find(*review, "spec");
    answer["status"] = access ? decide(*review, user) : rules();
    Reply reply;
    reply.code = 201;
    reply.content = Reply::Content::status;
    reply.body = json::serialize(answer);
    return reply;
}

}  // namespace fairlead::apiserver
