#include "apiserver/receptor/answer.h"

#include <fmt/core.h>

#include "apiserver/rest.h"
#include "json/quote.h"

namespace fairlead::apiserver::receptor {

namespace {

constexpr std::string_view challenge = "Basic realm=\"API Authentication\"";

std::string_view name_of(int code) {
    switch (code) {
        case 400:
        case 405:
        case 413:
            return "InvalidRequest";
        case 401:
        case 403:
            return "Unauthorized";
        case 409:
            return "ResourceConflict";
        default:
            return "UnknownError";
    }
}

// "spec.ports[1]" -> "ports[1]": clients of the Receptor know no spec.
std::string_view field_of(std::string_view path) {
    constexpr std::string_view spec = "spec.";
    if (path.starts_with(spec)) path.remove_prefix(spec.size());
    return path;
}

std::string broken_rules(const json::Value& status) {
    const auto* causes = json::find(status, "details.causes");
    std::string out;
    if (causes == nullptr || !causes->is_array()) return out;
    for (const auto& cause : causes->get_array()) {
        out += fmt::format("{}Invalid field: {} ({})", out.empty() ? "" : ", ",
                           field_of(json::string_at(cause, "field")), json::string_at(cause, "message"));
    }
    return out;
}

}  // namespace

Answer json(int code, std::string body) {
    Answer answer;
    answer.code = code;
    answer.body = std::move(body);
    return answer;
}

Answer problem(int code, std::string_view name, std::string_view message) {
    std::string body = R"({"name":)";
    json::append_quoted(name, body);
    body += R"(,"message":)";
    json::append_quoted(message, body);
    body += '}';
    return json(code, std::move(body));
}

Answer invalid_json(std::string_view message) { return problem(400, "InvalidJSON", message); }
Answer invalid_request(std::string_view message) { return problem(400, "InvalidRequest", message); }
Answer invalid_lrp(std::string_view message) { return problem(400, "InvalidLRP", message); }

Answer invalid_field(const Error& error) {
    return invalid_lrp(fmt::format("Invalid field: {} ({})", error.field, error.message));
}

Answer desired_not_found(std::string_view guid) {
    return problem(404, "DesiredLRPNotFound", fmt::format("Desired LRP with guid '{}' not found", guid));
}
Answer desired_exists(std::string_view guid) {
    return problem(409, "DesiredLRPAlreadyExists", fmt::format("Desired LRP with guid '{}' already exists", guid));
}
Answer desired_conflict(std::string_view guid) {
    return problem(500, "ResourceConflict", fmt::format("Desired LRP with guid '{}' failed to update", guid));
}
Answer actual_not_found(std::string_view guid, std::string_view index) {
    return problem(404, "ActualLRPIndexNotFound",
                   fmt::format("process-guid '{}' does not exist or has no instance at index {}", guid, index));
}

Answer another_instance(std::string_view guid, std::string_view index, std::string_view instance) {
    return problem(404, "ActualLRPIndexNotFound",
                   fmt::format("process-guid '{}' has another instance at index {}: {}", guid, index,
                               instance.empty() ? "one without instance_guid" : instance));
}

Answer problem_of(const Status& status) {
    auto answer = problem(status.code, name_of(status.code),
                          status.code == 401 ? std::string_view("Unauthorized") : status.message);
    if (status.code == 401) answer.headers.set("WWW-Authenticate", std::string(challenge));
    const int retry = status.details ? status.details->retry_after_seconds : 0;
    if (retry > 0) answer.headers.set("Retry-After", std::to_string(retry));
    return answer;
}

Answer problem_of(const Reply& reply) {
    const auto status = json::parse(reply.body);
    const std::string message(status ? json::string_at(*status, "message") : std::string_view("no answer"));
    if (reply.code == 422 && status) {
        const auto rules = broken_rules(*status);
        return invalid_lrp(rules.empty() ? message : rules);
    }
    auto answer = problem(reply.code == 404 ? 500 : reply.code, name_of(reply.code), message);
    if (reply.retry_after_seconds > 0) answer.headers.set("Retry-After", std::to_string(reply.retry_after_seconds));
    return answer;
}

net::Response to_response(Answer answer) {
    net::Response response;
    response.status = answer.code;
    response.headers = std::move(answer.headers);
    response.body = std::move(answer.body);
    response.stream = std::move(answer.stream);
    const bool has_body = !response.body.empty() || response.stream != nullptr;
    if (has_body && !response.headers.has("Content-Type")) response.headers.set("Content-Type", "application/json");
    if (!response.headers.has("Cache-Control")) response.headers.set("Cache-Control", "no-cache, private");
    response.compressible = has_body && response.headers.get("Content-Type") == "application/json";
    return response;
}

}  // namespace fairlead::apiserver::receptor
