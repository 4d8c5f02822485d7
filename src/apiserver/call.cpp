#include "apiserver/call.h"

#include "apiserver/media.h"

namespace fairlead::apiserver {

namespace {

bool mutating(std::string_view method) { return method != "GET" && method != "HEAD" && method != "OPTIONS"; }

std::string_view metric_verb(Verb verb) {
    switch (verb) {
        case Verb::get:
            return "GET";
        case Verb::list:
            return "LIST";
        case Verb::watch:
            return "WATCH";
        case Verb::create:
            return "POST";
        case Verb::update:
            return "PUT";
        case Verb::patch:
            return "PATCH";
        case Verb::remove:
            return "DELETE";
        case Verb::remove_collection:
            return "DELETECOLLECTION";
    }
    return "";
}

std::string_view known_method(std::string_view method) {
    for (const std::string_view known : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
        if (method == known) return known;
    }
    return "OTHER";
}

}  // namespace

Call::Call(net::Request r, net::Respond respond, RequestMetrics& metrics, const Clock& clock, Log& log, AuditLog* audit)
    : request(std::move(r)),
      info(parse_target(request.target)),
      respond_(std::move(respond)),
      metrics_(metrics),
      clock_(clock),
      log_(log),
      audit_(audit),
      started_(clock.monotonic()),
      in_flight_(metrics.in_flight(mutating(request.method))) {
    labels.verb = known_method(request.method);
    presentation.now = clock.now();
}

void Call::name_labels(const resource::Kind& kind, Verb v) {
    const bool applies = v == Verb::patch && media_type(request.headers.get("Content-Type")) == apply_patch_type;
    labels = {applies ? "APPLY" : std::string(metric_verb(v)),
              kind.group,
              kind.version,
              kind.plural,
              info.subresource,
              !info.name.empty()         ? "resource"
              : !info.namespace_.empty() ? "namespace"
                                         : "cluster"};
}

void Call::finish(net::Response response) {
    const auto took = clock_.monotonic() - started_;
    if (!request.id.empty()) response.headers.set("X-Request-Id", request.id);
    for (const auto& [name, value] : headers.items()) response.headers.set(name, value);
    metrics_.finished(labels, response.status, took);
    write_log(response.status, took);
    if (audit_) write_audit(response.status, took);
    in_flight_.reset();
    respond_(std::move(response));
}

void Call::write_audit(int status, std::chrono::nanoseconds took) {
    audit_->record({.time = clock_.now(),
                    .request_id = request.id,
                    .user = user,
                    .behind = behind,
                    .from = request.peer.address,
                    .agent = std::string(request.headers.get("User-Agent")),
                    .attributes = attributes,
                    .path = info.path,
                    .code = status,
                    .latency = std::chrono::duration_cast<std::chrono::microseconds>(took),
                    .allowed = allowed,
                    .reason = reason});
}

void Call::write_log(int status, std::chrono::nanoseconds took) {
    const auto level = status >= 500 ? LogLevel::info : LogLevel::debug;
    if (!log_.enabled(level)) return;
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    log_.write(level, "request",
               {{"id", request.id},
                {"user", user ? std::string_view(user->name) : std::string_view("-")},
                {"from", request.peer.address},
                {"verb", labels.verb},
                {"path", info.path},
                {"resource", labels.resource},
                {"code", status},
                {"latency_us", micros}});
}

}  // namespace fairlead::apiserver
