#include "dnshook/hook_server.h"

#include <chrono>

#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "provider/webhook/protocol.h"

namespace fairlead::dnshook {
namespace {

namespace webhook = provider::webhook;

net::Response plain(int status, std::string text) {
    net::Response response;
    response.status = status;
    response.headers.set("Content-Type", "text/plain; charset=utf-8");
    response.body = std::move(text);
    return response;
}

net::Response answer(std::string body) {
    net::Response response;
    response.headers.set("Content-Type", std::string(webhook::media_type));
    response.headers.set("Vary", "Content-Type");  // versions before 0.14 look for it
    response.body = std::move(body);
    response.body += '\n';  // as Go's encoder ends it
    response.compressible = true;
    return response;
}

std::string_view operation_of(std::string_view method, std::string_view path) {
    if (path == "/" || path.empty()) return method == "GET" ? "negotiate" : "";
    if (path == webhook::records_path) return method == "GET" ? "list" : method == "POST" ? "apply" : "";
    if (path == webhook::adjust_path) return method == "POST" ? "adjust" : "";
    return path == "/healthz" && method == "GET" ? "health" : "";
}

// Whoever speaks another version says so in Accept; curl and old clients say nothing or anything.
bool acceptable(std::string_view accept) {
    return accept.empty() || accept.find("*/*") != std::string_view::npos ||
           accept.find(webhook::media_type) != std::string_view::npos ||
           accept.find("external.dns.webhook") == std::string_view::npos;
}

}  // namespace

net::Response HookServer::refuse(int status, std::string_view operation, const Error& error) {
    const auto text = valid_utf8(error.text());
    log_.warn("webhook request failed", {{"operation", operation}, {"status", status}, {"why", text}});
    return plain(status, text + "\n");
}

net::Response HookServer::negotiate() {
    const auto zones = shelf_.zones();
    if (!zones) return refuse(500, "negotiate", zones.error());
    std::vector<std::string> domains;
    domains.reserve(zones->size());
    for (const auto& zone : *zones) domains.push_back(zone.domain);
    // An empty list would mean every name there is.
    if (domains.empty())
        return refuse(500, "negotiate", {Errc::unavailable, {}, "there is no zone of the built-in server yet"});
    auto filter = plan::DomainFilter::of_lists(std::move(domains), {});
    if (!filter) return refuse(500, "negotiate", filter.error());
    return answer(webhook::filter_text(*filter));
}

net::Response HookServer::records() {
    const auto endpoints = shelf_.list();
    if (!endpoints) return refuse(500, "list", endpoints.error());
    return answer(webhook::endpoints_text(*endpoints));
}

net::Response HookServer::adjust(std::string_view body) {
    const auto endpoints = webhook::parse_endpoints(body);
    if (!endpoints) return refuse(400, "adjust", endpoints.error());
    return answer(webhook::endpoints_text(*endpoints));
}

net::Response HookServer::apply(std::string_view body) {
    const auto changes = webhook::parse_changes(body);
    if (!changes) return refuse(400, "apply", changes.error());
    if (const auto applied = shelf_.apply(*changes); !applied) return refuse(500, "apply", applied.error());
    net::Response done;
    done.status = 204;
    return done;
}

net::Response HookServer::serve(std::string_view method, std::string_view path, const net::Headers& headers,
                                std::string_view body) {
    const auto began = clock_.monotonic();
    const auto operation = operation_of(method, path);
    net::Response response;
    if (operation.empty()) {
        response = plain(404, "no such path, or not with this method\n");
    } else if (!acceptable(headers.get("Accept"))) {
        response = plain(406, std::string("this server speaks ").append(webhook::media_type).append("\n"));
    } else if (operation == "negotiate") {
        response = negotiate();
    } else if (operation == "list") {
        response = records();
    } else if (operation == "adjust") {
        response = adjust(body);
    } else if (operation == "apply") {
        response = apply(body);
    } else {
        response = plain(200, "ok\n");
    }
    static const std::vector<double> buckets{0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15};
    const std::string label(operation.empty() ? "other" : operation);
    metrics_
        .counter("fairlead_webhook_requests_total", "Requests of external-dns, by what they asked and the status.",
                 {{"operation", label}, {"code", std::to_string(response.status)}})
        .add();
    const std::chrono::duration<double> took = clock_.monotonic() - began;
    metrics_
        .histogram("fairlead_webhook_request_duration_seconds", "How long requests of external-dns took.", buckets,
                   {{"operation", label}})
        .observe(took.count());
    return response;
}

}  // namespace fairlead::dnshook
