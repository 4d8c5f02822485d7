#include "apiserver/default_roles.h"

#include <fmt/core.h>

#include <map>

#include "apiserver/access.h"
#include "apiserver/issued_tokens.h"

namespace fairlead::apiserver {

namespace {

constexpr std::string_view group = "rbac.authorization.k8s.io";
constexpr std::string_view autoupdate = "rbac.authorization.kubernetes.io/autoupdate";

using Texts = std::vector<std::string_view>;

const Texts read = {"get", "list", "watch"};
const Texts write = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};

json::Array list(const Texts& texts) {
    json::Array array;
    for (const auto text : texts) array.emplace_back(text);
    return array;
}

json::Value rule(const Texts& verbs, std::string_view api_group, const Texts& resources) {
    return json::Object{{"apiGroups", json::Array{api_group}}, {"resources", list(resources)}, {"verbs", list(verbs)}};
}

json::Value paths(const Texts& urls, const Texts& verbs = {"get"}) {
    return json::Object{{"nonResourceURLs", list(urls)}, {"verbs", list(verbs)}};
}

json::Object metadata(std::string_view name) {
    return {{"name", name},
            {"labels", json::Object{{"kubernetes.io/bootstrapping", "rbac-defaults"}}},
            {"annotations", json::Object{{autoupdate, "true"}}}};
}

json::Value role(std::string_view name, json::Array rules) {
    return json::Object{{"apiVersion", fmt::format("{}/v1", group)},
                        {"kind", "ClusterRole"},
                        {"metadata", metadata(name)},
                        {"rules", std::move(rules)}};
}

json::Value binding(std::string_view role_name, std::string_view to_group) {
    return json::Object{
        {"apiVersion", fmt::format("{}/v1", group)},
        {"kind", "ClusterRoleBinding"},
        {"metadata", metadata(role_name)},
        {"roleRef", json::Object{{"apiGroup", group}, {"kind", "ClusterRole"}, {"name", role_name}}},
        {"subjects", json::Array{json::Object{{"apiGroup", group}, {"kind", "Group"}, {"name", to_group}}}}};
}

// Everything that can be read but Secrets: RBAC can only allow, so the rest is named kind by kind.
json::Array viewer_rules(const resource::Kinds& kinds) {
    std::map<std::string, Texts> resources;
    std::vector<std::string> status;
    status.reserve(kinds.all().size());
    for (const auto& kind : kinds.all()) {
        if (kind.create_only || (kind.group.empty() && kind.plural == "secrets")) continue;
        auto& of_group = resources[kind.group];
        of_group.emplace_back(kind.plural);
        if (kind.status_subresource) of_group.emplace_back(status.emplace_back(kind.plural + "/status"));
    }
    json::Array rules;
    for (const auto& [api_group, names] : resources) rules.push_back(rule(read, api_group, names));
    rules.push_back(paths({"/dns/*"}));                  // says of the DNSRecords what they come to
    rules.push_back(paths({"/dns/preview"}, {"post"}));  // and would come to; it writes nothing
    return rules;
}

json::Array user_rules() {
    return {rule(write, "route.openshift.io", {"routes"}), rule(write, "networking.k8s.io", {"ingresses"}),
            rule(write, "fairlead.dev", {"loadbalancerclaims", "desiredlrps", "actuallrps"}),
            rule(read, "", {"services", "endpoints", "events"}),
            rule(read, "kuadrant.io", {"dnsrecords"})};  // those that their Ingresses get
}

// All of the Receptor API: processes, instances, and domains, which are Leases. Bound in its namespace.
json::Array receptor_rules() {
    return {rule(write, "fairlead.dev", {"desiredlrps", "actuallrps"}), rule(write, "coordination.k8s.io", {"leases"})};
}

// What a router's agent reads to route, and where it says what it did: its own RouterInstance.
json::Array router_rules() {
    return {rule(read, "route.openshift.io", {"routes"}),
            rule(read, "networking.k8s.io", {"ingresses"}),
            rule(read, "fairlead.dev", {"routers", "loadbalancers", "desiredlrps", "actuallrps", "portleases"}),
            rule(read, "", {"services", "endpoints"}),
            rule({"create", "get", "patch"}, "fairlead.dev", {"routerinstances"}),
            rule({"get", "patch"}, "fairlead.dev", {"routerinstances/status"})};
}

// What an emitter reads, and the Lease by which one of several is the active one.
json::Array emitter_rules() {
    return {rule(read, "fairlead.dev", {"desiredlrps", "actuallrps"}),
            rule({"create", "get", "list", "update", "watch"}, "coordination.k8s.io", {"leases"})};
}

// Certificates that Routes and Routers name; apart, because an agent that needs none should not see any.
json::Array router_secret_rules() { return {rule(read, "", {"secrets"})}; }

json::Value resource_wildcard(const Texts& verbs) {
    return json::Object{{"apiGroups", list({"*"})}, {"resources", list({"*"})}, {"verbs", list(verbs)}};
}

bool contains(const json::Value* array, const json::Value& item) {
    if (!array || !array->is_array()) return false;
    for (const auto& one : array->get_array()) {
        if (json::equal(one, item)) return true;
    }
    return false;
}

struct Writer {
    Rest& rest;
    const resource::Kinds& kinds;

    Result<void> ensure(const json::Value& wanted) {
        const auto* kind = kinds.find_kind(json::string_at(wanted, "apiVersion"), json::string_at(wanted, "kind"));
        if (!kind) return {};
        const std::string name(json::string_at(wanted, "metadata.name"));
        QueryOptions options;
        options.caller = {server_user(), "fairlead"};
        Target target{kind, "", name, ""};
        auto present = rest.get(target, options);
        const auto parsed = present.code == 200 ? json::parse(present.body) : fail(Errc::not_found, name);
        std::string body;
        Reply reply;
        if (present.code == 404) {
            body = json::serialize(wanted);
            target.name.clear();
            reply = rest.create(target, options, {body, "application/json"});
        } else if (parsed) {
            const auto next = completed(*parsed, wanted);
            if (!next) return {};
            body = json::serialize(*next);
            reply = rest.update(target, options, {body, "application/json"});
        } else {
            reply = std::move(present);
        }
        // 409: another server of the same store was faster.
        if (reply.code < 300 || reply.code == 409) return {};
        return fail(Errc::internal, fmt::format("cannot write {} \"{}\": {}", kind->name, name, reply.body));
    }
};

}  // namespace

std::vector<json::Value> default_roles(const resource::Kinds& kinds) {
    return {
        role("cluster-admin", {resource_wildcard({"*"}), paths({"*"}, {"*"})}),
        role("system:basic-user",
             {rule({"create"}, "authorization.k8s.io", {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}),
              rule({"create"}, "authentication.k8s.io", {"selfsubjectreviews"})}),
        role("system:discovery", {paths({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                                         "/openapi/*", "/readyz", "/version", "/version/"})}),
        role("system:monitoring",
             {paths({"/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/readyz", "/readyz/*"})}),
        // No impersonate, escalate or bind: an admin gives others at most what he has himself.
        role("fairlead-admin",
             {resource_wildcard(write), paths({"/metrics", "/dns/*"}), paths({"/dns/preview"}, {"post"})}),
        role("fairlead-user", user_rules()),
        role("fairlead-receptor", receptor_rules()),
        role("fairlead-emitter", emitter_rules()),
        role("fairlead-router", router_rules()),
        role("fairlead-router-secrets", router_secret_rules()),
        role("fairlead-viewer", viewer_rules(kinds)),
        binding("cluster-admin", masters_group),
        binding("system:basic-user", authenticated_group),
        binding("system:discovery", authenticated_group),
        binding("system:monitoring", "system:monitoring"),
        // Whoever gives out tokens of this group wants routers to work; Secrets are a decision of their own.
        binding("fairlead-router", "fairlead:routers"),
        binding("fairlead-emitter", "fairlead:emitters"),
    };
}

std::optional<json::Value> completed(const json::Value& present, const json::Value& wanted) {
    const auto* annotations = json::find(present, "metadata.annotations");
    const auto* says =
        annotations && annotations->is_object() ? annotations->get_object().if_contains(autoupdate) : nullptr;
    if (!says || !says->is_string() || json::view(says->get_string()) != "true") return std::nullopt;
    auto next = present;
    bool changed = false;
    for (const auto* member : {"rules", "subjects"}) {
        const auto* items = json::find(wanted, member);
        if (!items) continue;
        auto* held = json::find(next, member);
        if (!held || !held->is_array()) {
            json::set_at(next, member, json::Array());
            held = json::find(next, member);
        }
        for (const auto& item : items->get_array()) {
            if (contains(held, item)) continue;
            held->get_array().push_back(item);
            changed = true;
        }
    }
    return changed ? std::optional(std::move(next)) : std::nullopt;
}

Result<void> ensure_defaults(Rest& rest, const resource::Kinds& kinds) {
    Writer writer{rest, kinds};
    const json::Value space = json::Object{
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object{{"name", system_namespace}}}};
    if (auto made = writer.ensure(space); !made) return made;
    for (const auto& wanted : default_roles(kinds)) {
        if (auto made = writer.ensure(wanted); !made) return made;
    }
    return {};
}

}  // namespace fairlead::apiserver
