#include "cli/api.h"

#include <fmt/core.h>

#include <ostream>

#include "base/text.h"
#include "cli/terminal.h"

namespace fairlead::cli {
namespace {

Errc code_of(int status) {
    switch (status) {
        case 404:
            return Errc::not_found;
        case 409:
            return Errc::conflict;
        case 410:
            return Errc::compacted;
        case 413:
            return Errc::too_large;
        case 429:
        case 502:
        case 503:
            return Errc::unavailable;
        case 504:
            return Errc::timeout;
        default:
            return status >= 500 ? Errc::internal : Errc::invalid;
    }
}

std::vector<Failure::Cause> causes_of(const json::Value& status) {
    std::vector<Failure::Cause> causes;
    const auto* list = json::find(status, "details.causes");
    if (list == nullptr || !list->is_array()) return causes;
    for (const auto& item : list->get_array()) {
        causes.push_back({std::string(json::string_at(item, "field")), std::string(json::string_at(item, "message"))});
    }
    return causes;
}

std::string invalid_text(const json::Value& status, const std::vector<Failure::Cause>& causes) {
    std::string text = fmt::format("The {} \"{}\" is invalid:", json::string_at(status, "details.kind"),
                                   json::string_at(status, "details.name"));
    for (const auto& cause : causes) {
        text += fmt::format("{}{}{}{}", causes.size() == 1 ? " " : "\n* ", cause.field, cause.field.empty() ? "" : ": ",
                            cause.message);
    }
    return text;
}

Failure unreached(Error error) {
    Failure failure;
    failure.error = std::move(error);
    return failure;
}

}  // namespace

std::string query_string(const Query& query) {
    std::string text;
    for (const auto& [name, value] : query) {
        if (value.empty()) continue;
        text += fmt::format("{}{}={}", text.empty() ? "?" : "&", percent_encode(name), percent_encode(value));
    }
    return text;
}

Failure failure_from(int status, std::string_view body) {
    Failure failure;
    failure.status = status;
    failure.error.code = code_of(status);
    const auto parsed = json::parse(body);
    if (!parsed || json::string_at(*parsed, "kind") != "Status") {
        const auto text = printable(trim(body.substr(0, 300)));
        failure.error.message = fmt::format("Error from server: HTTP {} {}{}{}", status, net::status_text(status),
                                            text.empty() ? "" : ": ", text);
        return failure;
    }
    failure.reason = json::string_at(*parsed, "reason");
    failure.causes = causes_of(*parsed);
    const auto message = json::string_at(*parsed, "message");
    if (status == 401) {
        failure.error.message = "error: You must be logged in to the server (Unauthorized)";
    } else if (failure.reason == "Invalid" && !failure.causes.empty()) {
        failure.error.message = invalid_text(*parsed, failure.causes);
    } else if (failure.reason.empty()) {
        failure.error.message = fmt::format("Error from server: {}", message);
    } else {
        failure.error.message = fmt::format("Error from server ({}): {}", failure.reason, message);
    }
    return failure;
}

std::optional<std::string> warning_text(std::string_view header) {
    const auto start = header.find('"');
    const auto end = header.rfind('"');
    if (start == std::string_view::npos || end <= start) return std::nullopt;
    std::string text;
    for (std::size_t i = start + 1; i < end; ++i) {
        if (header[i] == '\\' && i + 1 < end) ++i;
        text += header[i];
    }
    return text;
}

void Api::show_warnings(const net::Headers& headers) {
    for (const auto& [name, value] : headers.items()) {
        if (!equal_ignoring_case(name, "Warning")) continue;
        if (const auto text = warning_text(value)) {
            terminal_.err << terminal_.styled("Warning:", Style::yellow) << ' ' << printable(*text) << '\n';
        }
    }
}

Answer<json::Value> Api::call(const net::ClientRequest& request) {
    auto response = transport_.send(request);
    if (!response) return tl::unexpected(unreached(std::move(response.error())));
    show_warnings(response->headers);
    if (response->status < 200 || response->status > 299) {
        return tl::unexpected(failure_from(response->status, response->body));
    }
    auto value = json::parse(response->body);
    if (!value) {
        const auto what =
            fmt::format("the answer to {} {} is no JSON: {}", request.method, request.target, value.error().text());
        return tl::unexpected(unreached({Errc::corrupt, {}, what}));
    }
    return std::move(*value);
}

Answer<json::Value> Api::get(const std::string& target, std::string_view accept) {
    net::ClientRequest request;
    request.target = target;
    request.headers.set("Accept", std::string(accept));
    return call(request);
}

Answer<json::Value> Api::send(std::string method, const std::string& target, const json::Value& body,
                              std::string_view content_type) {
    net::ClientRequest request;
    request.method = std::move(method);
    request.target = target;
    request.headers.set("Accept", std::string(accept_json));
    request.headers.set("Content-Type", std::string(content_type));
    request.body = json::serialize(body);
    return call(request);
}

Answer<json::Value> Api::list(const std::string& path, Query query, std::string_view accept) {
    query.emplace_back("limit", "500");
    query.emplace_back("continue", "");
    auto whole = get(path + query_string(query), accept);
    while (whole) {
        query.back().second = json::string_at(*whole, "metadata.continue");
        if (query.back().second.empty()) break;
        auto page = get(path + query_string(query), accept);
        if (!page) return page;
        for (const auto* part : {"items", "rows"}) {
            auto* to = json::find(*whole, part);
            auto* from = json::find(*page, part);
            if (to == nullptr || from == nullptr || !to->is_array() || !from->is_array()) continue;
            for (auto& item : from->get_array()) to->get_array().push_back(std::move(item));
        }
        if (const auto* metadata = json::find(*page, "metadata")) json::set_at(*whole, "metadata", *metadata);
    }
    return whole;
}

Answer<void> Api::watch(const std::string& path, Query query, std::string_view accept,
                        const std::function<bool(const json::Value&)>& event,
                        std::optional<std::chrono::milliseconds> limit) {
    query.emplace_back("watch", "true");
    query.emplace_back("allowWatchBookmarks", "true");
    net::ClientRequest request;
    request.target = path + query_string(query);
    request.headers.set("Accept", std::string(accept));
    std::optional<Error> broken;
    const auto on_line = [&](std::string_view line) {
        if (trim(line).empty()) return true;
        const auto value = json::parse(line);
        if (!value)
            broken = Error{Errc::corrupt, {}, fmt::format("a watch event is no JSON: {}", value.error().text())};
        return value && event(*value);
    };
    auto response = transport_.stream(request, on_line, limit);
    if (broken) return tl::unexpected(unreached(std::move(*broken)));
    if (!response) return tl::unexpected(unreached(std::move(response.error())));
    show_warnings(response->headers);
    if (response->status != 200) return tl::unexpected(failure_from(response->status, response->body));
    return {};
}

Answer<void> Api::text(const std::string& target, const std::function<bool(std::string_view)>& line) {
    net::ClientRequest request;
    request.target = target;
    auto response = transport_.stream(request, line, std::nullopt);
    if (!response) return tl::unexpected(unreached(std::move(response.error())));
    show_warnings(response->headers);
    if (response->status != 200) return tl::unexpected(failure_from(response->status, response->body));
    return {};
}

}  // namespace fairlead::cli
