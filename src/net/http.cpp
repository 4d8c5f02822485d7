#include "net/http.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::net {

std::string_view Headers::get(std::string_view name) const {
    for (const auto& [key, value] : items_) {
        if (equal_ignoring_case(key, name)) return value;
    }
    return {};
}

bool Headers::has(std::string_view name) const {
    return std::ranges::any_of(items_, [&](const auto& item) { return equal_ignoring_case(item.first, name); });
}

void Headers::set(std::string name, std::string value) {
    std::erase_if(items_, [&](const auto& item) { return equal_ignoring_case(item.first, name); });
    add(std::move(name), std::move(value));
}

void Headers::add(std::string name, std::string value) { items_.emplace_back(std::move(name), std::move(value)); }

std::string_view status_text(int status) {
    switch (status) {
        case 100:
            return "Continue";
        case 101:
            return "Switching Protocols";
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 206:
            return "Partial Content";
        case 301:
            return "Moved Permanently";
        case 302:
            return "Found";
        case 303:
            return "See Other";
        case 304:
            return "Not Modified";
        case 307:
            return "Temporary Redirect";
        case 308:
            return "Permanent Redirect";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 406:
            return "Not Acceptable";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 410:
            return "Gone";
        case 411:
            return "Length Required";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Request Entity Too Large";
        case 414:
            return "Request URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 422:
            return "Unprocessable Entity";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
    }
    return "Unknown";
}

}  // namespace fairlead::net
