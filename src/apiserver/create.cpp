// POST: naming, stamping, and the commit that also checks the namespace.
#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "apiserver/rest.h"
#include "base/random.h"
#include "json/value.h"
#include "resource/kinds/route_binding.h"

namespace fairlead::apiserver {

namespace {

constexpr std::string_view name_alphabet = "bcdfghjklmnpqrstvwxz2456789";  // no vowels: no words by accident
constexpr std::size_t random_name_bytes = 5;
constexpr std::size_t max_generated_prefix = 63 - random_name_bytes;  // DNS-1123 label
constexpr int max_attempts = 16;  // each lost one means that somebody else's write to the namespace succeeded

std::string random_suffix(Random& random) {
    std::string suffix;
    for (std::size_t i = 0; i < random_name_bytes; ++i) suffix += name_alphabet[random.next() % name_alphabet.size()];
    return suffix;
}

}  // namespace

void Rest::regenerate_name(json::Value& object) {
    const std::string prefix(json::string_at(object, "metadata.generateName").substr(0, max_generated_prefix));
    metadata_of(object)["name"] = prefix + random_suffix(random_);
}

Outcome<void> Rest::name_and_stamp(const Target& target, json::Value& object, bool& generated) {
    const auto& kind = *target.kind;
    if (!json::string_at(object, "metadata.resourceVersion").empty()) {
        Status status;
        status.message = "resourceVersion should not be set on objects to be created";
        return refuse(std::move(status));
    }
    generated = false;
    if (json::string_at(object, "metadata.name").empty()) {
        if (json::string_at(object, "metadata.generateName").empty()) {
            const resource::FieldErrors errors{
                {resource::Cause::required, "metadata.name", "Required value: name or generateName is required"}};
            return refuse(invalid(kind, "", errors));
        }
        regenerate_name(object);
        generated = true;
    }
    auto& metadata = metadata_of(object);
    for (const auto* member :
         {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"}) {
        metadata.erase(member);
    }
    metadata["uid"] = make_uuid(random_, clock_.now());
    metadata["creationTimestamp"] = now_text();
    metadata["generation"] = 1;
    return {};
}

Outcome<std::optional<store::Op>> Rest::namespace_check(const Kind& kind, std::string_view ns,
                                                        std::string_view name) const {
    if (kind.scope == resource::Scope::cluster || !namespaces_) return std::nullopt;
    store::Key key = store_key(*namespaces_, "", ns);
    const auto found = store_.get(key);
    if (!found) return refuse(from_error(found.error()));
    if (!*found) return refuse(namespace_not_found(ns));
    // Parsed only if the text might say so: this runs for every create.
    if ((*found)->value().find("deletionTimestamp") != std::string_view::npos) {
        const auto object = parse_object(**found);
        if (!object) return refuse(object.error());
        if (being_deleted(*object)) return refuse(namespace_terminating(kind, name, ns));
    }
    return store::check(std::move(key), store::Expect::at((*found)->modified()));
}

Outcome<Reply> Rest::create_object(const Target& target, const QueryOptions& options, const Body& body) {
    if (auto checked = check_write_options(Writing::create, options); !checked) return refuse(checked.error());
    std::vector<std::string> warnings;
    auto object = decode(target, body, options, warnings);
    if (!object) return refuse(object.error());
    if (auto checked = check_identity(target, *object); !checked) return refuse(checked.error());
    return make_object(target, std::move(*object), options, std::move(warnings), std::nullopt);
}

Outcome<Reply> Rest::make_object(const Target& target, json::Value object, const QueryOptions& options,
                                 std::vector<std::string> warnings, std::optional<resource::ManagedFields> managed) {
    const auto& kind = *target.kind;
    bool generated = false;
    if (auto named = name_and_stamp(target, object, generated); !named) return refuse(named.error());
    const std::string name(json::string_at(object, "metadata.name"));
    if (auto ns = namespace_check(kind, target.namespace_, name); !ns) return refuse(ns.error());
    if (is_namespace(kind)) json::set_at(object, "spec.finalizers", json::Array{"kubernetes"});
    const auto status = kind.status_subresource ? StatusOf::server : StatusOf::client;
    if (auto admitted = admit(kind, object, nullptr, status, options, warnings); !admitted) {
        return refuse(admitted.error());
    }
    if (kind.create_only) return bind(target, std::move(object), options, std::move(warnings));
    if (!managed) managed = resource::track_update(kind, nullptr, object, {}, writer_of(target, options));
    const auto owners = managed->empty() ? std::string() : resource::managed_fields_text(std::move(*managed));
    return commit_new(kind, target, std::move(object), owners, generated, options, std::move(warnings));
}

Outcome<Reply> Rest::commit_new(const Kind& kind, const Target& target, json::Value object,
                                std::string_view managed_fields, bool generated, const QueryOptions& options,
                                std::vector<std::string> warnings) {
    Reply reply;
    reply.code = 201;
    reply.warnings = std::move(warnings);
    if (auto allowed = guarded(kind, object, {}, options); !allowed) return refuse(allowed.error());
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        const std::string name(json::string_at(object, "metadata.name"));
        const auto key = store_key(kind, target.namespace_, name);
        auto ns = namespace_check(kind, target.namespace_, name);
        if (!ns) return refuse(ns.error());
        const auto present = store_.get(key);
        if (!present) return refuse(from_error(present.error()));
        if (*present) {
            if (generated) {
                regenerate_name(object);
                continue;
            }
            const auto old = parse_object(**present);
            if (!old) return refuse(old.error());
            return refuse(already_exists(kind, name, being_deleted(*old)));
        }
        if (options.is_dry_run()) {
            reply.body = object_text(object, "", managed_fields);
            return reply;
        }
        std::vector<store::Op> ops;
        ops.push_back(store::put(key, store::Expect::absent(), stored_form(object, managed_fields)));
        if (*ns) ops.push_back(std::move(**ns));
        const auto committed = store_.commit_and_wait(std::move(ops));
        if (committed) {
            reply.body = committed->objects.front()->value();
            return reply;
        }
        const auto code = committed.error().code;
        if (code != Errc::conflict && code != Errc::already_exists && code != Errc::not_found) {
            return refuse(from_error(committed.error()));
        }
    }
    return refuse(service_unavailable("the namespace kept changing while the object was being created; try again"));
}

// A route that is bound to a router that nobody runs would be lost, and one that is bound under a name that is not the
// router's would be reached by nobody.
Outcome<void> Rest::check_router(const resource::RouteBinding& binding, std::string_view name, const Kind& kind) const {
    const auto* routers = kinds_.find("fairlead.dev", "v1", "routers");
    if (!routers || resource::sets_back(binding)) return {};
    const auto refused = [&](resource::Cause cause, std::string field, std::string message) {
        return refuse(invalid(kind, name, {{cause, std::move(field), std::move(message)}}));
    };
    const auto found = store_.get(store_key(*routers, "", binding.router));
    if (!found) return refuse(from_error(found.error()));
    if (!*found) {
        return refused(resource::Cause::not_found, "router",
                       fmt::format("Not found: \"{}\": no Router has this name", binding.router));
    }
    const auto router = parse_object(**found);
    if (!router) return refuse(router.error());
    const auto no = [&](std::string_view field, std::string_view value, std::string_view why) {
        return refused(resource::Cause::invalid, std::string(field),
                       fmt::format("Invalid value: \"{}\": {}", value, why));
    };
    if (being_deleted(*router)) return no("router", binding.router, "the Router is being deleted");
    if (json::bool_at(*router, "spec.drain")) {
        return no("router", binding.router, "the Router takes no routes, its spec.drain is true");
    }
    const auto dns = json::string_at(*router, "spec.dns");
    if (binding.dns != dns) {
        return no("dns", binding.dns, fmt::format("must be the DNS name of Router {}, '{}'", binding.router, dns));
    }
    return {};
}

// A RouteBinding is not kept: creating it writes the binding into the Route, in one commit.
Outcome<Reply> Rest::bind(const Target& target, json::Value binding, const QueryOptions& options,
                          std::vector<std::string> warnings) {
    const auto* routes = kinds_.find("route.openshift.io", "v1", "routes");
    if (!routes) return refuse(internal_error("no kind Route to bind"));
    const auto wanted = resource::decode<resource::RouteBinding>(binding);
    if (!wanted) return refuse(bad_request(wanted.error().text()));
    const auto& name = wanted->route_name;
    const Target route{routes, wanted->route_namespace, name, "status"};
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        const auto current = existing(route);
        if (!current) return refuse(current.error());
        auto old = parse_object(**current);
        if (!old) return refuse(old.error());
        auto bound = resource::bind_route(*old, *wanted, clock_.now());
        if (!bound) {
            const auto& error = bound.error();
            if (error.code == Errc::conflict) return refuse(conflict(*routes, name, error.text()));
            const resource::FieldErrors errors{
                {resource::Cause::invalid, error.field, "Invalid value: " + error.message}};
            return refuse(invalid(*target.kind, json::string_at(binding, "metadata.name"), errors));
        }
        Change change{std::move(*bound), false, {}};
        settle_ownership(route, *old, change, options, std::nullopt);
        if (!change.unchanged) {
            auto known = check_router(*wanted, json::string_at(binding, "metadata.name"), *target.kind);
            if (!known) return refuse(known.error());
        }
        auto committed = commit_change(route, *current, std::move(change), options);
        if (!committed) return refuse(committed.error());
        if (!*committed) continue;
        Reply reply;
        reply.code = 201;
        reply.body = object_text(binding, "");
        reply.warnings = std::move(warnings);
        return reply;
    }
    return refuse(modified_meanwhile(*target.kind, name));
}

}  // namespace fairlead::apiserver
