// One HTTP request on its way through the API server: what it asks, who asks, and the answer that closes its books
// (metrics, access log). Made on the session's thread, finished once on whichever thread has the answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/access.h"
#include "apiserver/answer.h"
#include "apiserver/audit_log.h"
#include "apiserver/request_info.h"
#include "apiserver/request_metrics.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/http.h"

namespace fairlead::apiserver {

class Call {
public:
    // `audit` may be null.
    Call(net::Request request, net::Respond respond, RequestMetrics& metrics, const Clock& clock, Log& log,
         AuditLog* audit);

    void finish(net::Response response);
    void finish(const Status& status) { finish(word_refusal(status)); }
    void finish(Reply reply) { finish(answer(std::move(reply), presentation)); }

    // What names the request in metrics; set once the resource is known to exist, so that strangers' paths make no
    // labels.
    void name_labels(const resource::Kind& kind, Verb verb);

    const net::Request request;
    const RequestInfo info;
    QueryOptions options;
    std::optional<User> user;    // who acts
    std::optional<User> behind;  // who called, if he acts as somebody else
    Attributes attributes;       // what he wants to do
    bool allowed = false;        // what authorisation said
    std::string reason;          // and why: for the audit log
    Target target;
    Verb verb = Verb::get;
    Presentation presentation;
    RequestLabels labels;
    // How a part of the server with an API of its own words refusals.
    std::function<net::Response(const Status&)> word_refusal = [](const Status& status) { return answer(status); };
    net::Headers headers;  // that every answer to this call carries

private:
    void write_log(int status, std::chrono::nanoseconds took);
    void write_audit(int status, std::chrono::nanoseconds took);

    net::Respond respond_;
    RequestMetrics& metrics_;
    const Clock& clock_;
    Log& log_;
    AuditLog* audit_;
    MonotonicTime started_;
    std::shared_ptr<void> in_flight_;
};

}  // namespace fairlead::apiserver
