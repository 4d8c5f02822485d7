#include "cluster/http_call.h"

#include <fmt/core.h>

#include "base/text.h"
#include "json/value.h"

namespace fairlead::cluster {

namespace {

constexpr std::size_t max_said_bytes = 300;  // of a server's words, in ours
constexpr std::size_t max_status_values = 1'000;

// What the server says about its refusal: the message of a Status, or the beginning of whatever it sent.
std::string said(const std::string& body) {
    if (const auto value = json::parse(body, max_status_values)) {
        if (const auto message = json::string_at(*value, "message"); !message.empty()) {
            return std::string(message.substr(0, max_said_bytes));
        }
    }
    return valid_utf8(trim(std::string_view(body).substr(0, max_said_bytes)));
}

}  // namespace

Error refusal(const net::Response& response) {
    const auto words = said(response.body);
    auto text = fmt::format("HTTP {}{}{}", response.status, words.empty() ? "" : ": ", words);
    switch (response.status) {
        case 410:
            return {Errc::compacted, {}, std::move(text)};
        case 404:
            return {Errc::not_found, {}, std::move(text)};
        case 400:
        case 401:
        case 403:
        case 422:
            return {Errc::invalid, {}, std::move(text)};
        case 409:
            return {Errc::conflict, {}, std::move(text)};
        default:
            return {Errc::unavailable, {}, std::move(text)};
    }
}

}  // namespace fairlead::cluster
