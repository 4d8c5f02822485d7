// A kind: its names, its scope, its shape, its table and its own rules. One file per kind under kinds/, listed in
// kinds/all.cpp. Immutable after start, shared by all threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "json/value.h"
#include "resource/schema.h"

namespace fairlead::resource {

enum class Scope { cluster, namespaced };

// A column of `kubectl get`.
struct Column {
    std::string name;
    std::string type = "string";  // "string", "integer", "date"
    std::string format;           // "name" for the first column
    std::string doc;
    int priority = 0;  // 1 = only with -o wide
    // The cell of an object; `now` for ages. Text, number, or null (shown as <none>/<unset>).
    std::function<json::Value(const json::Value& object, WallTime now)> cell;
};

// Cells that most kinds share.
Column name_column();
Column age_column();
// The string, number or boolean at a dotted path; lists are joined by commas.
Column path_column(std::string name, std::string dotted_path, std::string doc, int priority = 0);
// status of the condition with that type: "True", "False", "Unknown", or empty.
Column condition_column(std::string name, std::string condition_type, std::string doc, int priority = 0);

struct Kind {
    std::string group;  // "" for core
    std::string version;
    std::string name;      // "Route"
    std::string plural;    // "routes"
    std::string singular;  // "route"
    std::vector<std::string> short_names;
    std::vector<std::string> categories;  // "all", "fairlead"
    Scope scope = Scope::namespaced;
    bool status_subresource = true;
    // Kinds of Kubernetes itself: strategic merge patch is accepted, PUT without resourceVersion is allowed, list items
    // come without kind and apiVersion, as the real server does it.
    bool built_in = false;
    // A request in the form of a resource: only `create` exists, nothing is kept (RouteBinding).
    bool create_only = false;
    // Name rule: most are DNS-1123 subdomains; namespaces and services are labels, RBAC names are path segments.
    enum class NameRule { subdomain, label, path_segment } name_rule = NameRule::subdomain;
    std::string doc;
    Schema schema;  // of the whole object; apiVersion, kind and metadata included
    std::vector<Column> columns;
    // Dotted paths that fieldSelector accepts besides metadata.name and metadata.namespace.
    std::vector<std::string> selectable_fields;

    // Rules that concern the server's own bookkeeping, run after defaulting and before validation. `old` null on
    // create. May fill fields in (Route.spec.dnsType) and may refuse (Route.status.phase on create).
    std::function<void(json::Value& object, const json::Value* old, Violations& violations)> admit;
    // For a kind that gives parts of an object back byte for byte: takes from the JSON text that was sent what the
    // value does not say. Null for nearly all.
    std::function<void(json::Value& object, std::string_view text)> keep_text;

    [[nodiscard]] std::string api_version() const { return group.empty() ? version : group + "/" + version; }
    // "routes.route.openshift.io", or "namespaces" in the core group: how errors name the resource.
    [[nodiscard]] std::string qualified_resource() const { return group.empty() ? plural : plural + "." + group; }
    // "Route.route.openshift.io": how validation errors name the kind.
    [[nodiscard]] std::string qualified_kind() const { return group.empty() ? name : name + "." + group; }
    // "route.openshift.io/routes": the store's table.
    [[nodiscard]] std::string table() const { return group + "/" + plural; }
};

// All kinds, ordered by group, version and name.
class Kinds {
public:
    explicit Kinds(std::vector<Kind> kinds);
    [[nodiscard]] const std::vector<Kind>& all() const { return kinds_; }
    [[nodiscard]] const Kind* find(std::string_view group, std::string_view version, std::string_view plural) const;
    [[nodiscard]] const Kind* find_kind(std::string_view api_version, std::string_view kind) const;

private:
    std::vector<Kind> kinds_;
};

// The kinds that Fairlead serves (kinds/all.cpp).
Kinds make_kinds();

}  // namespace fairlead::resource
