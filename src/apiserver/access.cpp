#include "apiserver/access.h"

#include <fmt/core.h>

#include "apiserver/impersonation.h"
#include "apiserver/issued_tokens.h"
#include "apiserver/token_file.h"
#include "base/text.h"

namespace fairlead::apiserver {

namespace {

constexpr std::string_view attempts_name = "authentication_attempts";
constexpr std::string_view attempts_help =
    "Requests by who called: success (a user), anonymous (no credentials), failure (credentials that are no good).";
constexpr std::string_view decisions_name = "apiserver_authorization_decisions_total";
constexpr std::string_view decisions_help = "What the roles said about requests.";

bool at_or_below(std::string_view path, std::string_view root) {
    return path == root || (path.starts_with(root) && path.size() > root.size() && path[root.size()] == '/');
}

std::string verb_of_method(std::string_view method) {
    if (method == "POST") return "create";
    if (method == "PUT") return "update";
    if (method == "PATCH") return "patch";
    if (method == "DELETE") return "delete";
    return lower(method);
}

// The one name that a field selector allows, or "".
std::string_view pinned_name(std::string_view selector) {
    constexpr std::string_view field = "metadata.name=";
    for (auto term : split(selector, ',')) {
        if (!term.starts_with(field)) continue;
        term.remove_prefix(field.size());
        if (term.starts_with('=')) term.remove_prefix(1);
        if (term.find('\\') == std::string_view::npos) return term;
    }
    return {};
}

// The token of "Authorization: Bearer x", or "".
std::string_view bearer_token(const net::Headers& headers) {
    constexpr std::string_view scheme = "bearer ";
    const auto header = trim(headers.get("Authorization"));
    if (header.size() <= scheme.size() || lower(header.substr(0, scheme.size())) != scheme) return {};
    return trim(header.substr(scheme.size()));
}

Labels decision_labels(std::string_view decision) {
    return {{"type", "RBAC"}, {"name", "rbac"}, {"decision", std::string(decision)}};
}

}  // namespace

User admin_user() { return {"admin", {std::string(masters_group), std::string(authenticated_group)}}; }
User server_user() { return {"system:apiserver", {std::string(masters_group), std::string(authenticated_group)}}; }

bool open_path(std::string_view path) {
    return at_or_below(path, "/livez") || at_or_below(path, "/readyz") || at_or_below(path, "/healthz") ||
           path == "/version";
}

Attributes attributes_of(const RequestInfo& info, std::string_view method, const QueryOptions& options) {
    Attributes wish;
    if (info.type != RequestInfo::Type::resource) {
        wish.verb = method == "HEAD" ? "get" : lower(method);
        wish.path = info.path.empty() ? "/" : info.path;
        return wish;
    }
    const auto verb = info.verb(method, options.watch);
    wish.verb = verb ? std::string(verb_name(*verb)) : verb_of_method(method);
    wish.group = info.group;
    wish.version = info.version;
    wish.resource = info.resource;
    wish.subresource = info.subresource;
    wish.namespace_ = info.namespace_;
    wish.name = info.name;
    // A namespace lives in itself, so that a role inside it can allow reading it.
    if (info.group.empty() && info.resource == "namespaces") wish.namespace_ = info.name;
    if (wish.name.empty() && (verb == Verb::list || verb == Verb::watch)) {
        wish.name = pinned_name(options.field_selector);
    }
    return wish;
}

Status refused_access(const User& user, const Attributes& wish, std::string_view reason) {
    std::string why;
    if (!wish.path.empty()) {
        auto status = forbidden_path(user.name, wish.verb, wish.path);
        if (!reason.empty()) status.message += fmt::format(": {}", reason);
        return status;
    }
    why = fmt::format("User {} cannot {} resource {} in API group {} ", in_quotes(user.name), wish.verb,
                      in_quotes(wish.subresource.empty() ? wish.resource : wish.resource + "/" + wish.subresource),
                      in_quotes(wish.group));
    why += wish.namespace_.empty() ? "at the cluster scope" : "in the namespace " + in_quotes(wish.namespace_);
    if (!reason.empty()) why += fmt::format(": {}", reason);
    resource::Kind named;  // what is asked for need not exist
    named.group = wish.group;
    named.plural = wish.resource;
    return forbidden(named, wish.name, why);
}

net::Request credentials_of(const net::Request& request) {
    net::Request shown;
    shown.peer = request.peer;
    for (const auto& [name, value] : request.headers.items()) {
        const auto known = lower(name);
        if (known == "authorization" || known.starts_with("impersonate-")) shown.headers.add(name, value);
    }
    return shown;
}

Access::Access(Options options, store::Store& store, const Clock& clock, Log& log, Metrics& metrics)
    : options_(options),
      store_(store),
      clock_(clock),
      authorizer_(store, log),
      known_(metrics.counter(attempts_name, attempts_help, {{"result", "success"}})),
      unknown_(metrics.counter(attempts_name, attempts_help, {{"result", "anonymous"}})),
      failed_(metrics.counter(attempts_name, attempts_help, {{"result", "failure"}})),
      allowed_(metrics.counter(decisions_name, decisions_help, decision_labels("allowed"))),
      denied_(metrics.counter(decisions_name, decisions_help, decision_labels("denied"))),
      decision_seconds_(metrics.histogram("authorization_duration_seconds", "Time that one decision took.",
                                          {0.000001, 0.000005, 0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.01, 0.1})) {}

std::optional<User> Access::user_of(std::string_view token) const {
    if (options_.token_file) {
        if (auto user = options_.token_file->find(token)) return user;
    }
    return find_token(store_, token, clock_.now());
}

Verdict Access::authenticate(const net::Request& request, const Login* login) const {
    Verdict verdict;
    if (options_.allow_all) {
        verdict.user = admin_user();
    } else if (!request.peer.certificate_name.empty()) {
        User user{request.peer.certificate_name, request.peer.certificate_groups};
        complete_groups(user);
        verdict.user = std::move(user);
    } else if (login != nullptr) {
        verdict.user = user_of(login->token);
        if (verdict.user && !login->user.empty() && login->user != verdict.user->name) verdict.user.reset();
        if (!verdict.user) {
            verdict.refusal = unauthorized();
            verdict.reason = "the password is no token of that user, or one that is revoked or expired";
        }
    } else if (const auto token = bearer_token(request.headers); !token.empty()) {
        verdict.user = user_of(token);
        if (!verdict.user) {
            verdict.refusal = unauthorized();
            verdict.reason = "the bearer token is unknown, revoked or expired";
        }
    } else if (!request.peer.certificate_problem.empty()) {
        verdict.reason = "the client certificate is no good: " + request.peer.certificate_problem;
    }
    return verdict;
}

void Access::impersonate(const net::Request& request, Verdict& verdict) {
    auto wanted = requested_user(request.headers);
    if (!wanted) {
        verdict.refusal = wanted.error();
        return;
    }
    if (!*wanted) return;
    for (const auto& wish : impersonation_wishes(**wanted)) {
        const auto decision = authorizer_.decide(*verdict.user, wish);
        if (decision.allowed) continue;
        verdict.refusal = refused_access(*verdict.user, wish, decision.reason);
        verdict.reason = fmt::format("may not act as {} {}", wish.resource, in_quotes(wish.name));
        return;
    }
    complete_groups(**wanted);
    verdict.behind = std::exchange(verdict.user, std::move(*wanted));
}

bool Access::judge_caller(const net::Request& request, const Attributes& attributes, Verdict& verdict) {
    if (verdict.user) impersonate(request, verdict);
    if (verdict.refusal) return false;
    if (!attributes.path.empty() && open_path(attributes.path)) {
        if (verdict.reason.empty()) verdict.reason = "open to everybody";
        return false;
    }
    if (!verdict.user) {
        verdict.refusal = unauthorized();
        if (verdict.reason.empty()) verdict.reason = "no credentials";
        return false;
    }
    return true;
}

void Access::count(const Verdict& verdict) { (verdict.user ? known_ : verdict.refusal ? failed_ : unknown_).add(); }

Verdict Access::identify(const net::Request& request, const Login* login) {
    auto verdict = authenticate(request, login);
    count(verdict);
    if (judge_caller(request, {}, verdict)) verdict.reason = "open to all users";
    return verdict;
}

Verdict Access::check(const net::Request& request, const Attributes& attributes, const Login* login) {
    auto verdict = authenticate(request, login);
    count(verdict);
    if (!judge_caller(request, attributes, verdict)) return verdict;
    const auto started = clock_.monotonic();
    auto decision = authorizer_.decide(*verdict.user, attributes);
    decision_seconds_.observe(std::chrono::duration<double>(clock_.monotonic() - started).count());
    (decision.allowed ? allowed_ : denied_).add();
    if (!decision.allowed) verdict.refusal = refused_access(*verdict.user, attributes, decision.reason);
    verdict.reason = std::move(decision.reason);
    return verdict;
}

bool Access::still_allowed(const net::Request& request, const Attributes& attributes, const Login* login) {
    auto verdict = authenticate(request, login);
    if (!judge_caller(request, attributes, verdict)) return !verdict.refusal;
    return authorizer_.decide(*verdict.user, attributes).allowed;
}

}  // namespace fairlead::apiserver
