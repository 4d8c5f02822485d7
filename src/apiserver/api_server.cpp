#include "apiserver/api_server.h"

#include <fmt/core.h>

#include <atomic>
#include <exception>
#include <map>

#include "apiserver/access_review.h"
#include "apiserver/call.h"
#include "apiserver/default_roles.h"
#include "apiserver/discovery.h"
#include "apiserver/escalation.h"
#include "apiserver/health.h"
#include "apiserver/issued_tokens.h"
#include "apiserver/openapi_endpoint.h"
#include "apiserver/receptor/front.h"
#include "apiserver/rest.h"
#include "apiserver/token_file.h"
#include "apiserver/watch.h"
#include "apiserver/watch_hub.h"
#include "apiserver/watch_places.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/worker_pool.h"
#include "net/server.h"

namespace fairlead::apiserver {

namespace {

constexpr std::uint64_t shortest_watch_seconds = 1'800;  // a watch without timeoutSeconds: 30 to 60 minutes, so that
constexpr std::uint64_t watch_spread_seconds = 1'800;    // clients that came together do not leave together
constexpr std::chrono::seconds token_sweep_interval{60};

using CallPtr = std::shared_ptr<Call>;

bool is_read(std::string_view method) { return method == "GET" || method == "HEAD"; }

}  // namespace

struct ApiServer::Impl {
    Impl(ApiOptions o, const resource::Kinds& k, store::Store& s, const Clock& c, Random& r, Log& l, Metrics& m)
        : options(std::move(o)),
          kinds(k),
          store(s),
          clock(c),
          random(r),
          log(l),
          metrics(m),
          access({.token_file = options.token_file, .allow_all = options.insecure_allow_all}, s, c, l, m),
          guard(access.authorizer(), k, c),
          rest(k, s, c, r, {.stream_lists_from = options.stream_lists_from, .guard = &guard}),
          discovery(k, options.version),
          openapi(k, options.version),
          request_metrics(m),
          watch_places(options.max_watches, options.max_watches_per_user, m),
          hub(s, c),
          receptor_front(
              options.receptor,
              {.kinds = k,
               .store = s,
               .rest = rest,
               .access = access,
               .clock = c,
               .log = l,
               .metrics = m,
               .request_metrics = request_metrics,
               .hub = hub,
               .watch_places = watch_places,
               .recheck_interval = options.recheck_interval,
               .in_worker = [this](const CallPtr& call, std::function<void()> job) { in_worker(call, std::move(job)); },
               .draining = [this] { return draining.load(); }}),
          large_pool(options.large_workers, options.max_waiting_large),
          pool(options.workers, options.max_waiting) {
        auto prepared = rest.prepare();
        if (prepared) prepared = ensure_defaults(rest, kinds);
        if (!prepared) {
            preparation_problem = prepared.error().text();
            log.error("start of the API failed", {{"error", preparation_problem}});
        }
        access.authorizer().held_by({}, "");  // reads all roles now, not during the first request
        health.add_live("ping", [] { return std::nullopt; });
        health.add_ready("store", [this]() -> std::optional<std::string> {
            const auto problem = store.health();
            return problem ? std::optional(problem->text()) : std::nullopt;
        });
        health.add_ready("namespaces", [this]() -> std::optional<std::string> {
            return preparation_problem.empty() ? std::nullopt : std::optional(preparation_problem);
        });
        health.add_ready("shutdown", [this]() -> std::optional<std::string> {
            return draining ? std::optional<std::string>("process is shutting down") : std::nullopt;
        });
    }

    void route(const CallPtr& call);
    void route_other(const CallPtr& call);
    void route_resource(const CallPtr& call);
    struct Offered {
        Endpoint endpoint;
        Methods methods = Methods::read;
    };
    [[nodiscard]] const Offered* find_endpoint(std::string_view path) const;
    void serve_endpoint(const CallPtr& call, const Endpoint& endpoint);
    bool authorized(const CallPtr& call);
    bool resolve(const CallPtr& call);
    void run(const CallPtr& call);
    void read_one(const CallPtr& call) { call->finish(rest.get(call->target, call->options)); }
    void open_watch(const CallPtr& call);
    void in_worker(const CallPtr& call, std::function<void()> job);
    void remove_expired_tokens();

    ApiOptions options;
    const resource::Kinds& kinds;
    store::Store& store;
    const Clock& clock;
    Random& random;
    Log& log;
    Metrics& metrics;
    Access access;
    EscalationGuard guard;
    Rest rest;
    Discovery discovery;
    OpenApiEndpoint openapi;
    Health health;
    std::map<std::string, Offered, std::less<>> endpoints;  // by path
    RequestMetrics request_metrics;
    std::string preparation_problem;
    std::atomic<bool> draining{false};
    WatchPlaces watch_places;
    MonotonicTime next_token_sweep;  // of the thread that maintains
    WatchHub hub;
    receptor::Front receptor_front;
    WorkerPool large_pool;
    WorkerPool pool;  // last: its threads use everything above
};

ApiServer::ApiServer(ApiOptions options, const resource::Kinds& kinds, store::Store& store, const Clock& clock,
                     Random& random, Log& log, Metrics& metrics)
    : impl_(std::make_unique<Impl>(std::move(options), kinds, store, clock, random, log, metrics)) {}

ApiServer::~ApiServer() = default;

void ApiServer::add_ready_check(std::string name, std::function<std::optional<std::string>()> check) {
    impl_->health.add_ready(std::move(name), std::move(check));
}

void ApiServer::add_endpoint(std::string path, Endpoint endpoint, Methods methods) {
    impl_->endpoints.emplace(std::move(path), Impl::Offered{std::move(endpoint), methods});
}

void ApiServer::maintain() {
    if (auto* file = impl_->options.token_file) {
        const auto read = file->reload(false);
        if (!read)
            impl_->log.warn("cannot read the token file, its old content counts", {{"why", read.error().text()}});
        if (read && *read)
            impl_->log.info("token file read", {{"file", file->path().string()}, {"tokens", file->size()}});
    }
    const auto now = impl_->clock.monotonic();
    if (now < impl_->next_token_sweep) return;
    impl_->next_token_sweep = now + token_sweep_interval;
    impl_->remove_expired_tokens();
}

void ApiServer::Impl::remove_expired_tokens() {
    const auto* secrets = kinds.find("", "v1", "secrets");
    if (!secrets) return;
    QueryOptions query;
    query.caller = {server_user(), "fairlead"};
    for (const auto& name : expired_tokens(store, clock.now())) {
        const auto reply = rest.remove({secrets, std::string(system_namespace), name, ""}, query, {});
        if (reply.code < 300) log.info("expired token removed", {{"token", name}});
    }
}

void ApiServer::drain() {
    impl_->draining = true;
    impl_->hub.drain();
}

net::Response ApiServer::error_response(int status, std::string message, std::string_view target) {
    Status refusal;
    refusal.code = status;
    refusal.message = std::move(message);
    switch (status) {
        case 400:
            refusal.reason = "BadRequest";
            break;
        case 408:
            refusal.reason = "Timeout";
            break;
        case 413:
            // In the words that clients know; the limit is the HTTP server's own.
            refusal.message = fmt::format("Request entity too large: limit is {}", net::ServerOptions().max_body_bytes);
            refusal.reason = "RequestEntityTooLarge";
            break;
        case 429:
            refusal = too_many_requests(std::move(refusal.message), 1);
            break;
        case 503:
            refusal = service_unavailable(std::move(refusal.message));
            break;
        default:
            refusal.reason = status >= 500 ? "InternalError" : "BadRequest";
            break;
    }
    return receptor::is_ours(target) ? receptor::to_response(receptor::problem_of(refusal)) : answer(refusal);
}

void ApiServer::handle(net::Request request, net::Respond respond) {
    auto call = std::make_shared<Call>(std::move(request), std::move(respond), impl_->request_metrics, impl_->clock,
                                       impl_->log, impl_->options.audit);
    impl_->route(call);
}

void ApiServer::Impl::in_worker(const CallPtr& call, std::function<void()> job) {
    const auto guarded = [this, call, job = std::move(job)] {
        // Libraries below throw only on bugs and exhausted memory; one request must not take the server down.
        try {
            job();
        } catch (const std::exception& problem) {
            log.error("request failed unexpectedly", {{"id", call->request.id}, {"error", problem.what()}});
            call->finish(internal_error(problem.what()));
        }
    };
    auto& workers = call->request.body.size() > options.large_body_bytes ? large_pool : pool;
    if (!workers.try_post(guarded)) {
        call->finish(too_many_requests("too many requests are waiting, please try again later", 1));
    }
}

bool ApiServer::Impl::authorized(const CallPtr& call) {
    call->attributes = attributes_of(call->info, call->request.method, call->options);
    auto verdict = access.check(call->request, call->attributes);
    call->user = std::move(verdict.user);
    call->behind = std::move(verdict.behind);
    call->reason = std::move(verdict.reason);
    call->allowed = !verdict.refusal;
    const std::string_view agent = call->request.headers.get("User-Agent");
    call->options.caller = {call->user.value_or(User{}), std::string(agent.substr(0, agent.find('/')))};
    if (verdict.refusal) call->finish(*verdict.refusal);
    return !verdict.refusal;
}

void ApiServer::Impl::route(const CallPtr& call) {
    if (receptor::is_ours(call->request.target)) return receptor_front.serve(call);
    auto parsed = parse_query(call->info.query);
    if (parsed) {
        call->options = std::move(*parsed);
        call->presentation.pretty = call->options.pretty;
    }
    if (!authorized(call)) return;
    if (!parsed) return call->finish(parsed.error());
    const auto& info = call->info;
    switch (info.type) {
        case RequestInfo::Type::unknown:
            return call->finish(page_not_found());
        case RequestInfo::Type::other:
            return route_other(call);
        case RequestInfo::Type::resource:
            return route_resource(call);
        case RequestInfo::Type::api_versions:
        case RequestInfo::Type::api_groups:
        case RequestInfo::Type::api_group:
        case RequestInfo::Type::group_resources: {
            const auto* document = discovery.find(info);
            if (!document) return call->finish(page_not_found());
            if (!is_read(call->request.method)) return call->finish(method_not_allowed());
            return call->finish(json_answer(*document, call->presentation));
        }
    }
}

void ApiServer::Impl::route_other(const CallPtr& call) {
    const auto& path = call->info.path;
    const auto* offered = find_endpoint(path);
    if (!is_read(call->request.method)) {
        if (offered == nullptr || offered->methods == Methods::read) return call->finish(page_not_found());
        return in_worker(call, [this, call, offered] { serve_endpoint(call, offered->endpoint); });
    }
    if (auto response = health.serve(path, call->options, call->user.has_value())) {
        return call->finish(std::move(*response));
    }
    if (path == "/version") return call->finish(json_answer(discovery.version(), call->presentation));
    if (path == "/") return call->finish(json_answer(discovery.paths(), call->presentation));
    if (path == "/metrics") {
        return in_worker(call, [this, call] {
            net::Response response;
            response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            response.body = metrics.expose();
            response.compressible = true;
            call->finish(std::move(response));
        });
    }
    if (OpenApiEndpoint::serves(path)) {
        return in_worker(call, [this, call] { call->finish(openapi.serve(call->info.path, call->request.headers)); });
    }
    if (offered != nullptr) {
        return in_worker(call, [this, call, offered] { serve_endpoint(call, offered->endpoint); });
    }
    call->finish(page_not_found());
}

const ApiServer::Impl::Offered* ApiServer::Impl::find_endpoint(std::string_view path) const {
    for (auto end = path.size(); end != std::string_view::npos && end > 0; end = path.rfind('/', end - 1)) {
        // Of everything below it: with the slash.
        const auto found = endpoints.find(end == path.size() ? path : path.substr(0, end + 1));
        if (found != endpoints.end()) return &found->second;
    }
    return nullptr;
}

void ApiServer::Impl::serve_endpoint(const CallPtr& call, const Endpoint& endpoint) {
    auto parameters = query_parameters(call->info.query);
    if (!parameters) return call->finish(parameters.error());
    const auto& request = call->request;
    const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
    const auto may = [&](const Attributes& wish) {
        return options.insecure_allow_all || (call->user && access.authorizer().decide(*call->user, wish).allowed);
    };
    auto response = endpoint(
        {call->info.path, std::move(*parameters), method, &request.headers, std::string_view(request.body), may});
    if (!response) return call->finish(from_error(response.error()));
    call->finish(std::move(*response));
}

// Finds the kind and the verb; answers itself if there is no such thing.
bool ApiServer::Impl::resolve(const CallPtr& call) {
    const auto& info = call->info;
    const auto* kind = kinds.find(info.group, info.version, info.resource);
    const auto nothing = [&] { return call->finish(page_not_found()), false; };
    if (!kind) return nothing();
    const bool namespaced = kind->scope == resource::Scope::namespaced;
    if (!namespaced && !info.namespace_.empty()) return nothing();
    if (namespaced && info.namespace_.empty() && !info.name.empty()) return nothing();
    const bool is_namespaces = kind->group.empty() && kind->plural == "namespaces";
    const bool status = info.subresource == "status" && kind->status_subresource && !kind->create_only;
    const bool finalize = info.subresource == "finalize" && is_namespaces;
    if (!info.subresource.empty() && !status && !finalize) return nothing();
    const auto verb = info.verb(call->request.method, call->options.watch);
    const bool everywhere = namespaced && info.namespace_.empty();
    // Apply of a kind that is only ever created is a create.
    const bool creates = verb && (*verb == Verb::create || *verb == Verb::patch);
    const bool allowed = verb && (!kind->create_only || creates) &&
                         !(everywhere && (*verb == Verb::create || *verb == Verb::remove_collection)) &&
                         (!finalize || *verb == Verb::update);
    if (!allowed) return call->finish(method_not_allowed()), false;
    call->verb = *verb;
    call->name_labels(*kind, *verb);
    call->target = {kind, info.namespace_, info.name, info.subresource};
    call->presentation.kind = kind;
    return true;
}

void ApiServer::Impl::route_resource(const CallPtr& call) {
    const auto& info = call->info;
    if (draining) return call->finish(service_unavailable("the server is shutting down"));
    if (const auto* review = find_review(info); review && call->user) {
        if (call->request.method != "POST") return call->finish(method_not_allowed());
        // All that a user holds may be many thousands of rules: not on the thread that serves others.
        return in_worker(call, [this, call, review] {
            const Body body{call->request.body, call->request.headers.get("Content-Type")};
            call->finish(review_access(*review, call->info, *call->user, body, access));
        });
    }
    if (!resolve(call)) return;
    auto form = negotiate(call->request.headers.get("Accept"), call->options.include_object);
    if (!form) return call->finish(form.error());
    call->presentation.form = std::move(*form);
    // One object is in memory: no need for another thread. Everything else may wait for the disk or take long.
    if (call->verb == Verb::get && call->options.resource_version.empty()) return read_one(call);
    in_worker(call, [this, call] { run(call); });
}

void ApiServer::Impl::run(const CallPtr& call) {
    const auto& target = call->target;
    const auto& query = call->options;
    const Body body{call->request.body, call->request.headers.get("Content-Type")};
    switch (call->verb) {
        case Verb::get:
            return read_one(call);
        case Verb::list:
            return call->finish(rest.list(target, query, call->presentation.form));
        case Verb::watch:
            return open_watch(call);
        case Verb::create:
            return call->finish(rest.create(target, query, body));
        case Verb::update:
            return call->finish(rest.update(target, query, body));
        case Verb::patch:
            return call->finish(rest.patch(target, query, body));
        case Verb::remove:
            return call->finish(rest.remove(target, query, body));
        case Verb::remove_collection:
            return call->finish(rest.remove_collection(target, query, body));
    }
}

void ApiServer::Impl::open_watch(const CallPtr& call) {
    auto plan = rest.plan_watch(call->target, call->options, call->presentation.form);
    if (!plan) return call->finish(plan.error());
    auto place = watch_places.take(call->user ? call->user->name : std::string());
    if (!place) return call->finish(too_many_requests(place.error().message, 1));
    const std::shared_ptr<void> held(
        nullptr, [place = std::move(*place), gauge = request_metrics.long_running(call->labels)](void*) {});
    WatchLimits limits;
    limits.bookmark_interval = options.bookmark_interval;
    limits.timeout = std::chrono::seconds(shortest_watch_seconds + random.next() % watch_spread_seconds);
    limits.recheck_interval = options.recheck_interval;
    limits.still_allowed = [this, shown = credentials_of(call->request), wish = call->attributes,
                            id = call->request.id] {
        const bool allowed = access.still_allowed(shown, wish);
        if (!allowed) log.info("watch ended: its caller may no longer watch", {{"id", id}});
        return allowed;
    };
    auto stream = std::make_unique<WatchStream>(std::move(*plan), store, clock, &hub, std::move(limits), held);
    call->finish(stream_answer(std::move(stream)));
}

}  // namespace fairlead::apiserver
