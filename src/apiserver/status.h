// metav1.Status: how every refusal is worded, exactly as kube-apiserver words it, because clients compare reasons and
// people compare messages. Pure values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/result.h"
#include "resource/kind.h"
#include "resource/schema.h"

namespace fairlead::apiserver {

struct StatusCause {
    std::string reason, message, field;
    bool operator==(const StatusCause&) const = default;
};

struct StatusDetails {
    std::string name, group, kind, uid;
    std::vector<StatusCause> causes;
    int retry_after_seconds = 0;
    bool operator==(const StatusDetails&) const = default;
};

struct Status {
    int code = 500;
    std::string reason;
    std::string message;
    std::optional<StatusDetails> details;
    std::string continue_token;  // metadata.continue: where a list may go on although its snapshot is gone
    bool operator==(const Status&) const = default;
};

// What a verb gives back: a value, or the Status that says why not.
template <class T>
using Outcome = tl::expected<T, Status>;
inline tl::unexpected<Status> refuse(Status status) { return tl::unexpected(std::move(status)); }

std::string to_json(const Status& status);
json::Value to_value(const Status& status);
// The answer of a delete that is complete.
std::string success_json(const resource::Kind& kind, std::string_view name, std::string_view uid);

Status not_found(const resource::Kind& kind, std::string_view name);
Status namespace_not_found(std::string_view name);
Status already_exists(const resource::Kind& kind, std::string_view name, bool being_deleted);
Status conflict(const resource::Kind& kind, std::string_view name, std::string_view why);
// The common conflict: somebody else wrote in between.
Status modified_meanwhile(const resource::Kind& kind, std::string_view name);
Status invalid(const resource::Kind& kind, std::string_view name, const resource::FieldErrors& errors);
// Of an options struct of meta.k8s.io: "ListOptions", "DeleteOptions".
Status invalid_options(std::string_view options_kind, const resource::FieldErrors& errors);
Status bad_request(std::string message);
Status forbidden(const resource::Kind& kind, std::string_view name, std::string_view why);
Status namespace_terminating(const resource::Kind& kind, std::string_view name, std::string_view ns);
Status unauthorized();
Status forbidden_path(std::string_view user, std::string_view verb, std::string_view path);
Status expired(std::string message);
Status method_not_allowed();
Status not_acceptable(const std::vector<std::string>& accepted);
Status unsupported_media_type(const std::vector<std::string>& accepted);
Status request_too_large(std::string message);
Status rejected_patch(const Error& why);  // the cause says which operation, as the real server does not
Status too_many_requests(std::string message, int retry_after_seconds);
Status resource_version_too_large(std::uint64_t asked, std::uint64_t current);
Status service_unavailable(std::string message);
Status internal_error(std::string_view message);
// A failure of the store that no verb has a better word for.
Status from_error(const Error& error);

// "FieldValueRequired" and so on.
std::string_view cause_name(resource::Cause cause);

}  // namespace fairlead::apiserver
