#include "apiserver/answer.h"

#include "apiserver/table.h"
#include "json/value.h"
#include "json/yaml.h"

namespace fairlead::apiserver {

namespace {

constexpr std::size_t max_pretty_bytes = 4UL * 1024 * 1024;  // every single object fits
constexpr std::size_t max_warnings = 32;                     // header space is limited, and nobody reads more

// `299 - "text"`, with what would end the header or the quotes made harmless.
std::string warning(std::string_view text) {
    std::string out = "299 - \"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

}  // namespace

net::Response json_answer(std::string body, const Presentation& presentation) {
    net::Response response;
    response.headers.set("Content-Type", presentation.form.yaml ? "application/yaml" : "application/json");
    response.headers.set("Cache-Control", "no-cache, private");
    response.compressible = true;
    // Indenting is a courtesy that costs ten times the text in memory; a large list is streamed as it is anyway.
    if (presentation.form.yaml || (presentation.pretty && body.size() <= max_pretty_bytes)) {
        if (const auto value = json::parse(body)) {
            body = presentation.form.yaml ? json::to_yaml(*value) : json::pretty(*value);
        }
    }
    response.body = std::move(body);
    return response;
}

net::Response answer(Reply reply, const Presentation& presentation) {
    if (reply.content == Reply::Content::object && presentation.kind) {
        reply.body = render(std::move(reply.body), *presentation.kind, presentation.form, presentation.now);
    }
    auto response = json_answer(std::move(reply.body), presentation);
    response.stream = std::move(reply.stream);
    response.status = reply.code;
    if (reply.retry_after_seconds > 0) response.headers.set("Retry-After", std::to_string(reply.retry_after_seconds));
    for (std::size_t i = 0; i < reply.warnings.size() && i < max_warnings; ++i) {
        response.headers.add("Warning", warning(reply.warnings[i]));
    }
    return response;
}

net::Response answer(const Status& status) { return answer(reply_of(status), Presentation{}); }

net::Response page_not_found() {
    net::Response response;
    response.status = 404;
    response.headers.set("Content-Type", "text/plain; charset=utf-8");
    response.headers.set("X-Content-Type-Options", "nosniff");
    response.body = "404 page not found\n";
    return response;
}

net::Response stream_answer(std::unique_ptr<net::StreamBody> stream) {
    net::Response response;
    response.headers.set("Content-Type", "application/json");
    response.headers.set("Cache-Control", "no-cache, private");
    response.stream = std::move(stream);
    return response;
}

}  // namespace fairlead::apiserver
