#include "net/encoding.h"

#include <fmt/core.h>

#include <charconv>

#include "base/text.h"
#include "net/gzip.h"

namespace fairlead::net {
namespace {

bool is_framing(std::string_view name) {
    for (const std::string_view ours : {"Content-Length", "Transfer-Encoding", "Connection", "Date", "X-Request-Id"}) {
        if (equal_ignoring_case(name, ours)) return true;
    }
    return false;
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
    out += name;
    out += ": ";
    const auto start = out.size();
    out += value;
    // A value with a line end in it would be the next header: no input may write headers.
    for (auto i = start; i < out.size(); ++i) {
        if (out[i] == '\r' || out[i] == '\n' || out[i] == '\0') out[i] = ' ';
    }
    out += "\r\n";
}

}  // namespace

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

void append_head(std::string& out, const Response& response, const HeadOptions& options) {
    fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", response.status, status_text(response.status));
    for (const auto& [name, value] : response.headers.items()) {
        if (!is_framing(name)) append_header(out, name, value);
    }
    append_header(out, "Date", options.date);
    if (!options.request_id.empty()) append_header(out, "X-Request-Id", options.request_id);
    if (has_body(response.status)) {
        if (response.stream == nullptr) {
            fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", response.body.size());
        } else if (!options.http_1_0) {
            out += "Transfer-Encoding: chunked\r\n";
        }
    }
    if (options.close) {
        out += "Connection: close\r\n";
    } else if (equal_ignoring_case(response.headers.get("Connection"), "keep-alive")) {
        out += "Connection: keep-alive\r\n";  // the rule of HTTP/1.1, said where an old protocol wants it said
    }
    out += "\r\n";
}

std::size_t frame_chunk(std::string& buffer) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, buffer.size() - chunk_prefix_bytes, 16).ptr;
    const auto count = static_cast<std::size_t>(end - digits);
    const auto start = chunk_prefix_bytes - count - 2;
    buffer.replace(start, count, digits, count);
    buffer.replace(start + count, 2, "\r\n");
    buffer += "\r\n";
    return start;
}

bool accepts_gzip(std::string_view accept_encoding) {
    for (const auto item : split(accept_encoding, ',')) {
        const auto parts = split(item, ';');
        if (!equal_ignoring_case(trim(parts[0]), "gzip")) continue;
        for (std::size_t i = 1; i < parts.size(); ++i) {
            const auto weight = trim(parts[i]);
            // q=0, q=0.0 ... mean "not this one" (RFC 9110 12.4.2).
            if (weight.starts_with("q=") && weight.find_first_not_of("0.", 2) == std::string_view::npos) return false;
        }
        return true;
    }
    return false;
}

void compress(Response& response, std::size_t from_bytes, bool client_accepts) {
    const bool large = response.stream != nullptr || response.body.size() >= from_bytes;
    if (!response.compressible || !large || response.headers.has("Content-Encoding")) return;
    response.headers.add("Vary", "Accept-Encoding");
    if (!client_accepts) return;
    if (response.stream != nullptr) {
        response.stream = gzip_stream(std::move(response.stream));
    } else {
        std::string packed;
        if (!Gzip().add(response.body, Gzip::Flush::finish, packed)) return;
        response.body = std::move(packed);
    }
    response.headers.set("Content-Encoding", "gzip");
}

}  // namespace fairlead::net
