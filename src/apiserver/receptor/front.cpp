#include "apiserver/receptor/front.h"

#include <fmt/core.h>

#include <charconv>

#include "apiserver/receptor/events.h"
#include "base/text.h"

namespace fairlead::apiserver::receptor {

Front::Front(FrontOptions options, Lent lent)
    : options_(std::move(options)),
      lent_(std::move(lent)),
      receptor_(options_.name_space, lent_.kinds, lent_.store, lent_.rest, lent_.clock),
      resyncs_(lent_.metrics.counter("fairlead_receptor_resyncs_total",
                                     "Readers of /v1/events that were told to read the lists again, because what they "
                                     "had missed was no longer kept.")) {}

bool Front::authorized(const CallPtr& call, const std::optional<Operation>& operation) {
    const auto& request = call->request;
    const auto login = login_of(request, options_.cors_origins);
    const auto* shown = login ? &*login : nullptr;
    const auto rights = operation ? rights_for(*operation, options_.name_space) : std::vector<Attributes>();
    if (rights.empty()) {
        call->attributes.verb = lower(request.method);
        call->attributes.path = call->info.path;
    } else {
        call->attributes = rights.front();
    }
    auto verdict =
        rights.empty() ? lent_.access.identify(request, shown) : lent_.access.check(request, rights.front(), shown);
    for (std::size_t i = 1; i < rights.size() && !verdict.refusal; ++i) {
        const auto decision = lent_.access.authorizer().decide(*verdict.user, rights[i]);
        if (decision.allowed) continue;
        call->attributes = rights[i];
        verdict.refusal = refused_access(*verdict.user, rights[i], decision.reason);
        verdict.reason = decision.reason;
    }
    call->user = std::move(verdict.user);
    call->behind = std::move(verdict.behind);
    call->reason = std::move(verdict.reason);
    call->allowed = !verdict.refusal;
    const std::string_view agent = request.headers.get("User-Agent");
    call->options.caller = {call->user.value_or(User{}), std::string(agent.substr(0, agent.find('/')))};
    if (verdict.refusal) call->finish(*verdict.refusal);
    return !verdict.refusal;
}

void Front::name_labels(const CallPtr& call, const Operation& operation) {
    const auto naming = naming_of(operation);
    const auto* kind = lent_.kinds.find(naming.group, naming.version, naming.resource);
    if (!naming.verb || kind == nullptr) return;
    call->name_labels(*kind, *naming.verb);
    call->labels.subresource = "receptor";
    call->labels.scope = call->attributes.name.empty() ? "namespace" : "resource";
}

void Front::serve(const CallPtr& call) {
    const auto& request = call->request;
    call->word_refusal = [](const Status& status) { return to_response(problem_of(status)); };
    call->headers = cors_headers(request, options_.cors_origins);
    const auto found = find_operation(request.method, request.target);
    if (found.operation && found.operation->action == Action::preflight) {
        if (options_.cors_origins.empty()) return call->finish(method_not_allowed());
        Answer answer{.code = 200};
        answer.headers = preflight_headers(request);
        return call->finish(to_response(std::move(answer)));
    }
    if (!authorized(call, found.operation)) return;
    if (!found.operation) {
        if (found.path_known) return call->finish(method_not_allowed());
        return call->finish(to_response(problem(404, "InvalidRequest", "there is no such path")));
    }
    name_labels(call, *found.operation);
    if (lent_.draining()) return call->finish(service_unavailable("the server is shutting down"));
    if (found.operation->action == Action::auth_cookie) {
        Answer answer;
        const auto cookie = cookie_for(request, !options_.cors_origins.empty());
        if (!cookie.empty()) answer.headers.set("Set-Cookie", cookie);
        return call->finish(to_response(std::move(answer)));
    }
    lent_.in_worker(call, [this, call, operation = *found.operation] { run(call, operation); });
}

void Front::run(const CallPtr& call, const Operation& operation) {
    if (operation.action == Action::events) return open_events(call, operation);
    call->finish(
        to_response(receptor_.serve(operation, call->request.body, call->request.headers, call->options.caller)));
}

void Front::open_events(const CallPtr& call, const Operation& operation) {
    const auto& request = call->request;
    EventPlan plan{receptor_.desired_kind().table(), receptor_.actual_kind().table(), options_.name_space + "/",
                   operation.view, std::nullopt};
    if (const auto problem = bad_parameter(operation)) return call->finish(to_response(invalid_request(*problem)));
    if (const auto last = trim(request.headers.get("Last-Event-ID")); !last.empty()) {
        store::Revision revision = 0;
        const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), revision);
        if (error != std::errc{} || end != last.data() + last.size()) {
            return call->finish(to_response(
                invalid_request(fmt::format("Last-Event-ID: '{}' is no id of ours, which are numbers", last))));
        }
        plan.after = revision;
    }
    auto place = lent_.watch_places.take(call->user ? call->user->name : std::string());
    if (!place) return call->finish(too_many_requests(place.error().message, 1));
    const std::shared_ptr<void> held(
        nullptr, [place = std::move(*place), gauge = lent_.request_metrics.long_running(call->labels)](void*) {});
    EventLimits limits;
    limits.recheck_interval = lent_.recheck_interval;
    limits.on_resync = [this] { resyncs_.add(); };
    limits.still_allowed = [this, shown = credentials_of(request), login = login_of(request, options_.cors_origins),
                            rights = rights_for(operation, options_.name_space), id = request.id] {
        const bool allowed = std::all_of(rights.begin(), rights.end(), [&](const Attributes& right) {
            return lent_.access.still_allowed(shown, right, login ? &*login : nullptr);
        });
        if (!allowed) lent_.log.info("event stream ended: its caller may no longer watch", {{"id", id}});
        return allowed;
    };
    Answer answer;
    answer.code = 200;
    answer.headers = {{"Content-Type", "text/event-stream; charset=utf-8"},
                      {"Cache-Control", "no-cache, no-store, must-revalidate"},
                      {"Connection", "keep-alive"},
                      {"X-Accel-Buffering", "no"}};  // for a proxy in between
    answer.stream =
        std::make_unique<EventStream>(std::move(plan), lent_.store, lent_.clock, &lent_.hub, std::move(limits), held);
    call->finish(to_response(std::move(answer)));
}

}  // namespace fairlead::apiserver::receptor
