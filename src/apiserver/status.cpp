#include "apiserver/status.h"

#include <fmt/core.h>

namespace fairlead::apiserver {

namespace {

StatusDetails details_of(const resource::Kind& kind, std::string_view name) {
    return StatusDetails{.name = std::string(name),
                         .group = kind.group,
                         .kind = kind.plural,
                         .uid = {},
                         .causes = {},
                         .retry_after_seconds = 0};
}

// "one" or "[one, two]", each once: how Kubernetes prints several errors.
std::string aggregate(const std::vector<std::string>& messages) {
    std::vector<std::string> distinct;
    for (const auto& message : messages) {
        if (std::find(distinct.begin(), distinct.end(), message) == distinct.end()) distinct.push_back(message);
    }
    if (distinct.size() == 1) return distinct.front();
    std::string text = "[";
    for (const auto& message : distinct) {
        if (text.size() > 1) text += ", ";
        text += message;
    }
    return text + "]";
}

Status invalid_named(std::string qualified_kind, std::string kind, std::string group, std::string_view name,
                     const resource::FieldErrors& errors) {
    StatusDetails details{.name = std::string(name),
                          .group = std::move(group),
                          .kind = std::move(kind),
                          .uid = {},
                          .causes = {},
                          .retry_after_seconds = 0};
    std::vector<std::string> messages;
    for (const auto& error : errors) {
        details.causes.push_back({std::string(cause_name(error.cause)), error.message, error.field});
        messages.push_back(error.field.empty() ? error.message : error.field + ": " + error.message);
    }
    std::string message = fmt::format("{} \"{}\" is invalid", qualified_kind, name);
    if (!messages.empty()) message += ": " + aggregate(messages);
    return Status{.code = 422,
                  .reason = "Invalid",
                  .message = std::move(message),
                  .details = std::move(details),
                  .continue_token = {}};
}

Status simple(int code, std::string_view reason, std::string message) {
    return Status{.code = code,
                  .reason = std::string(reason),
                  .message = std::move(message),
                  .details = std::nullopt,
                  .continue_token = {}};
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& part : parts) {
        if (!text.empty()) text += ", ";
        text += part;
    }
    return text;
}

}  // namespace

std::string_view cause_name(resource::Cause cause) {
    switch (cause) {
        case resource::Cause::required:
            return "FieldValueRequired";
        case resource::Cause::invalid:
            return "FieldValueInvalid";
        case resource::Cause::type_invalid:
            return "FieldValueTypeInvalid";
        case resource::Cause::not_supported:
            return "FieldValueNotSupported";
        case resource::Cause::forbidden:
            return "FieldValueForbidden";
        case resource::Cause::duplicate:
            return "FieldValueDuplicate";
        case resource::Cause::too_long:
            return "FieldValueTooLong";
        case resource::Cause::too_many:
            return "FieldValueTooMany";
        case resource::Cause::not_found:
            return "FieldValueNotFound";
    }
    return "FieldValueInvalid";
}

json::Value to_value(const Status& status) {
    json::Object root;
    root["kind"] = "Status";
    root["apiVersion"] = "v1";
    json::Object metadata;
    if (!status.continue_token.empty()) metadata["continue"] = status.continue_token;
    root["metadata"] = std::move(metadata);
    root["status"] = "Failure";
    root["message"] = status.message;
    if (!status.reason.empty()) root["reason"] = status.reason;
    if (status.details) {
        json::Object details;
        const auto& d = *status.details;
        if (!d.name.empty()) details["name"] = d.name;
        if (!d.group.empty()) details["group"] = d.group;
        if (!d.kind.empty()) details["kind"] = d.kind;
        if (!d.uid.empty()) details["uid"] = d.uid;
        if (!d.causes.empty()) {
            json::Array causes;
            for (const auto& cause : d.causes) {
                json::Object item;
                item["reason"] = cause.reason;
                item["message"] = cause.message;
                if (!cause.field.empty()) item["field"] = cause.field;
                causes.push_back(std::move(item));
            }
            details["causes"] = std::move(causes);
        }
        if (d.retry_after_seconds > 0) details["retryAfterSeconds"] = d.retry_after_seconds;
        root["details"] = std::move(details);
    }
    root["code"] = status.code;
    return root;
}

std::string to_json(const Status& status) { return json::serialize(to_value(status)); }

std::string success_json(const resource::Kind& kind, std::string_view name, std::string_view uid) {
    json::Object details;
    details["name"] = name;
    if (!kind.group.empty()) details["group"] = kind.group;
    details["kind"] = kind.plural;
    if (!uid.empty()) details["uid"] = uid;
    json::Object root;
    root["kind"] = "Status";
    root["apiVersion"] = "v1";
    root["metadata"] = json::Object();
    root["status"] = "Success";
    root["details"] = std::move(details);
    return json::serialize(root);
}

Status not_found(const resource::Kind& kind, std::string_view name) {
    auto status = simple(404, "NotFound", fmt::format("{} \"{}\" not found", kind.qualified_resource(), name));
    status.details = details_of(kind, name);
    return status;
}

Status namespace_not_found(std::string_view name) {
    auto status = simple(404, "NotFound", fmt::format("namespaces \"{}\" not found", name));
    StatusDetails details;
    details.name = name;
    details.kind = "namespaces";
    status.details = std::move(details);
    return status;
}

Status already_exists(const resource::Kind& kind, std::string_view name, bool being_deleted) {
    auto status = simple(409, "AlreadyExists",
                         fmt::format("{}{} \"{}\" already exists", being_deleted ? "object is being deleted: " : "",
                                     kind.qualified_resource(), name));
    status.details = details_of(kind, name);
    return status;
}

Status conflict(const resource::Kind& kind, std::string_view name, std::string_view why) {
    auto status =
        simple(409, "Conflict",
               fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", kind.qualified_resource(), name, why));
    status.details = details_of(kind, name);
    return status;
}

Status modified_meanwhile(const resource::Kind& kind, std::string_view name) {
    return conflict(kind, name,
                    "the object has been modified; please apply your changes to the latest version and try again");
}

Status invalid(const resource::Kind& kind, std::string_view name, const resource::FieldErrors& errors) {
    return invalid_named(kind.qualified_kind(), kind.name, kind.group, name, errors);
}

Status invalid_options(std::string_view options_kind, const resource::FieldErrors& errors) {
    return invalid_named(std::string(options_kind) + ".meta.k8s.io", std::string(options_kind), "meta.k8s.io", "",
                         errors);
}

Status bad_request(std::string message) { return simple(400, "BadRequest", std::move(message)); }

Status forbidden(const resource::Kind& kind, std::string_view name, std::string_view why) {
    std::string message = kind.qualified_resource();
    if (!name.empty()) message += fmt::format(" \"{}\"", name);
    auto status = simple(403, "Forbidden", fmt::format("{} is forbidden: {}", message, why));
    status.details = details_of(kind, name);
    return status;
}

Status namespace_terminating(const resource::Kind& kind, std::string_view name, std::string_view ns) {
    auto status = forbidden(
        kind, name, fmt::format("unable to create new content in namespace {} because it is being terminated", ns));
    status.details->causes.push_back(
        {"NamespaceTerminating", fmt::format("namespace {} is being terminated", ns), "metadata.namespace"});
    return status;
}

Status unauthorized() { return simple(401, "Unauthorized", "Unauthorized"); }

Status forbidden_path(std::string_view user, std::string_view verb, std::string_view path) {
    auto status =
        simple(403, "Forbidden", fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"", user, verb, path));
    status.details = StatusDetails{};
    return status;
}

Status expired(std::string message) { return simple(410, "Expired", std::move(message)); }

Status method_not_allowed() {
    auto status = simple(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
    status.details = StatusDetails{};
    return status;
}

Status not_acceptable(const std::vector<std::string>& accepted) {
    return simple(406, "NotAcceptable",
                  fmt::format("only the following media types are accepted: {}", joined(accepted)));
}

Status unsupported_media_type(const std::vector<std::string>& accepted) {
    return simple(415, "UnsupportedMediaType",
                  fmt::format("the body of the request was in an unknown format - accepted media types include: {}",
                              joined(accepted)));
}

Status request_too_large(std::string message) { return simple(413, "RequestEntityTooLarge", std::move(message)); }

Status rejected_patch(const Error& why) {
    auto status = simple(422, "Invalid", "the server rejected our request due to an error in our request");
    StatusDetails details;
    details.causes.push_back({"FieldValueInvalid", why.message, why.field});
    status.details = std::move(details);
    return status;
}

Status too_many_requests(std::string message, int retry_after_seconds) {
    auto status = simple(429, "TooManyRequests", std::move(message));
    StatusDetails details;
    details.retry_after_seconds = retry_after_seconds;
    status.details = std::move(details);
    return status;
}

Status resource_version_too_large(std::uint64_t asked, std::uint64_t current) {
    auto status =
        simple(504, "Timeout", fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current));
    StatusDetails details;
    details.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
    details.retry_after_seconds = 1;
    status.details = std::move(details);
    return status;
}

Status service_unavailable(std::string message) {
    auto status = simple(503, "ServiceUnavailable", std::move(message));
    StatusDetails details;
    details.retry_after_seconds = 1;
    status.details = std::move(details);
    return status;
}

Status internal_error(std::string_view message) {
    auto status = simple(500, "InternalError", fmt::format("Internal error occurred: {}", message));
    StatusDetails details;
    details.causes.push_back({"", std::string(message), ""});
    status.details = std::move(details);
    return status;
}

Status from_error(const Error& error) {
    switch (error.code) {
        case Errc::invalid:
            return bad_request(error.text());
        case Errc::not_found:
            return simple(404, "NotFound", error.text());
        case Errc::already_exists:
            return simple(409, "AlreadyExists", error.text());
        case Errc::conflict:
            return simple(409, "Conflict", error.text());
        case Errc::compacted:
            return expired(error.text());
        case Errc::future:
            return resource_version_too_large(0, 0);
        case Errc::unavailable:
            return service_unavailable(error.text());
        case Errc::timeout: {
            auto status = simple(504, "Timeout", "Timeout: " + error.text());
            StatusDetails details;
            details.retry_after_seconds = 1;
            status.details = std::move(details);
            return status;
        }
        case Errc::unsupported:
            return simple(501, "NotImplemented", error.text());
        case Errc::too_large:
            return request_too_large(error.text());
        case Errc::corrupt:
        case Errc::internal:
            return internal_error(error.text());
    }
    return internal_error(error.text());
}

}  // namespace fairlead::apiserver
