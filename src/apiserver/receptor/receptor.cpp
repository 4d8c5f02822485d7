#include "apiserver/receptor/receptor.h"

#include <fmt/core.h>

#include "apiserver/access.h"
#include "apiserver/object_bytes.h"

namespace fairlead::apiserver::receptor {

namespace {

constexpr std::string_view json_type = "application/json";

}  // namespace

Receptor::Receptor(std::string ns, const resource::Kinds& kinds, store::Store& store, Rest& rest, const Clock& clock)
    : namespace_(std::move(ns)),
      kinds_(kinds),
      store_(store),
      rest_(rest),
      clock_(clock),
      desired_(*kinds.find("fairlead.dev", "v1", "desiredlrps")),
      actual_(*kinds.find("fairlead.dev", "v1", "actuallrps")),
      leases_(*kinds.find("coordination.k8s.io", "v1", "leases")),
      namespaces_(*kinds.find("", "v1", "namespaces")) {}

Target Receptor::target(const Kind& kind, std::string name) const { return {&kind, namespace_, std::move(name), ""}; }

QueryOptions Receptor::query(const Caller& caller) {
    QueryOptions options;
    options.caller = caller;
    return options;
}

std::optional<Answer> Receptor::ensure_namespace() {
    const auto present = store_.get(store_key(namespaces_, "", namespace_));
    if (!present) return problem_of(from_error(present.error()));
    if (*present) return std::nullopt;
    const json::Value object =
        json::Object{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object{{"name", namespace_}}}};
    // Whoever may write LRPs into it may have it made: it is the server's own doing, as it is its own setting.
    const auto reply = rest_.create({&namespaces_, "", "", ""}, query({server_user(), "fairlead"}),
                                    {json::serialize(object), json_type});
    if (reply.code == 201 || reply.code == 409) return std::nullopt;
    return problem_of(reply);
}

Reply Receptor::create(const Kind& kind, const json::Value& object, const Caller& caller) {
    const auto text = json::serialize(object);
    const auto once = [&] { return rest_.create(target(kind, ""), query(caller), {text, json_type}); };
    auto reply = once();
    // 404 can only mean the namespace.
    if (reply.code == 404 && !ensure_namespace()) reply = once();
    return reply;
}

Outcome<store::ObjectRef> Receptor::find(const Kind& kind, const std::string& name, std::string_view guid) const {
    auto found = store_.get(store_key(kind, namespace_, name));
    if (!found) return refuse(from_error(found.error()));
    if (!*found) return store::ObjectRef();
    const auto object = parse_object(**found);
    if (!object) return refuse(object.error());
    return json::string_at(*object, "spec.process_guid") == guid ? std::move(*found) : store::ObjectRef();
}

Answer Receptor::serve(const Operation& operation, std::string_view body, const net::Headers& headers,
                       const Caller& caller) {
    if (const auto problem = bad_parameter(operation)) return invalid_request(*problem);
    switch (operation.action) {
        case Action::create_desired:
            return create_desired(body, caller);
        case Action::list_desired:
            return list_desired(operation);
        case Action::get_desired:
            return get_desired(operation);
        case Action::update_desired:
            return update_desired(operation.guid, body, caller);
        case Action::remove_desired:
            return remove_desired(operation.guid, caller);
        case Action::list_actual:
        case Action::list_actual_of_process:
            return list_actual(operation);
        case Action::get_actual:
            return get_actual(operation);
        case Action::put_actual:
            return put_actual(operation, body, caller);
        case Action::remove_actual:
            return remove_actual(operation, caller);
        case Action::write_many_actual:
            return write_many_actual(body, caller);
        case Action::put_domain:
            return put_domain(operation.domain, headers, caller);
        case Action::list_domains:
            return list_domains();
        case Action::events:
        case Action::auth_cookie:
        case Action::preflight:
            break;
    }
    return problem(500, "UnknownError", "nobody answers this here");
}

}  // namespace fairlead::apiserver::receptor
