// Paths and operations of OpenAPI documents. kubectl reads from them which kinds exist, and whether PATCH of a kind
// takes dryRun and fieldValidation: without that it offers no diff and no server-side dry run. Pure.
#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "resource/openapi_parts.h"

namespace fairlead::resource {

namespace {

json::Value text_value(std::string_view text) { return json::Value(text); }

std::string capitalized(std::string_view text) {
    std::string out(text);
    if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
    return out;
}

// "listRouteOpenshiftIoV1NamespacedRouteStatus": unique in the document.
std::string operation_id(std::string_view verb, const Kind& kind, bool namespaced, std::string_view suffix) {
    std::string out(verb);
    if (kind.group.empty()) out += "Core";
    for (const std::string_view part : split(kind.group, '.')) out += capitalized(part);
    out += capitalized(kind.version);
    if (namespaced) out += "Namespaced";
    return out + kind.name + std::string(suffix);
}

json::Value parameter(Dialect dialect, std::string_view name, std::string_view in, std::string_view type,
                      std::string_view doc) {
    json::Object out;
    out["name"] = text_value(name);
    out["in"] = text_value(in);
    out["description"] = text_value(doc);
    if (in == "path") out["required"] = true;
    if (dialect == Dialect::v2) {
        out["type"] = text_value(type);
        out["uniqueItems"] = true;
    } else {
        json::Object schema;
        schema["type"] = text_value(type);
        schema["uniqueItems"] = true;
        out["schema"] = std::move(schema);
    }
    return out;
}

struct Query {
    std::string_view name, type, doc;
};

constexpr std::array<Query, 3> write_queries{{
    {"dryRun", "string", "All: do everything except for storing."},
    {"fieldManager", "string", "Name of the writer, for managedFields."},
    {"fieldValidation", "string", "What becomes of unknown fields: Ignore, Warn or Strict."},
}};
constexpr std::array<Query, 1> apply_queries{{
    {"force", "boolean", "Server-side apply takes fields over from other managers."},
}};
constexpr std::array<Query, 3> delete_queries{{
    {"dryRun", "string", "All: do everything except for storing."},
    {"gracePeriodSeconds", "integer", "Seconds that the object has to end by itself."},
    {"propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."},
}};
constexpr std::array<Query, 9> list_queries{{
    {"allowWatchBookmarks", "boolean", "Send bookmarks in a watch."},
    {"continue", "string", "Token from the part of the list before this one."},
    {"fieldSelector", "string", "Only objects whose fields match."},
    {"labelSelector", "string", "Only objects whose labels match."},
    {"limit", "integer", "At most this many objects; the answer says how to go on."},
    {"resourceVersion", "string", "State to list, or to watch from."},
    {"resourceVersionMatch", "string", "Exact or NotOlderThan: how resourceVersion is meant."},
    {"timeoutSeconds", "integer", "End of the watch."},
    {"watch", "boolean", "Send changes as they happen instead of a list."},
}};

// Makes the operations of one kind on one path.
class Operations {
public:
    Operations(const Kind& kind, Dialect dialect, bool named, bool namespaced, std::string_view subresource)
        : kind_(kind), dialect_(dialect), named_(named), namespaced_(namespaced), suffix_(capitalized(subresource)) {}

    [[nodiscard]] json::Value read() const { return make("read", "get", "read", {}, {}, kind_definition(kind_)); }
    [[nodiscard]] json::Value list() const {
        return make("list", "list", "list", list_queries, {}, kind_definition(kind_) + "List");
    }
    [[nodiscard]] json::Value create() const {
        return make("create", "post", "create", write_queries, kind_definition(kind_), kind_definition(kind_));
    }
    [[nodiscard]] json::Value replace() const {
        return make("replace", "put", "replace", write_queries, kind_definition(kind_), kind_definition(kind_));
    }
    [[nodiscard]] json::Value patch() const {
        std::vector<Query> queries(write_queries.begin(), write_queries.end());
        queries.insert(queries.end(), apply_queries.begin(), apply_queries.end());
        json::Value out = make("patch", "patch", "patch", queries, any_body, kind_definition(kind_));
        std::vector<std::string_view> types{"application/apply-patch+yaml"};
        if (kind_.built_in) types.insert(types.begin(), "application/strategic-merge-patch+json");
        if (!kind_.create_only) {
            types.insert(types.begin(), {"application/json-patch+json", "application/merge-patch+json"});
        }
        set_consumes(out.get_object(), types);
        return out;
    }
    [[nodiscard]] json::Value remove() const {
        return make("delete", "delete", "delete", delete_queries, meta_definition("DeleteOptions"),
                    meta_definition("Status"));
    }
    [[nodiscard]] json::Value remove_all() const {
        return make("deletecollection", "deletecollection", "delete all", list_queries,
                    meta_definition("DeleteOptions"), meta_definition("Status"));
    }

private:
    static constexpr std::string_view any_body = "*";

    [[nodiscard]] json::Value schema_of_body(std::string_view definition) const {
        if (definition != any_body) return reference(dialect_, std::string(definition));
        json::Object out;
        out["type"] = "object";
        return out;
    }

    void set_consumes(json::Object& operation, const std::vector<std::string_view>& types) const {
        if (dialect_ == Dialect::v2) {
            json::Array list;
            for (const std::string_view type : types) list.push_back(text_value(type));
            operation["consumes"] = std::move(list);
            return;
        }
        json::Object content;
        for (const std::string_view type : types) {
            json::Object media;
            media["schema"] = schema_of_body(any_body);
            content[type] = std::move(media);
        }
        operation["requestBody"].as_object()["content"] = std::move(content);
    }

    void add_body(json::Object& operation, json::Array& parameters, std::string_view definition) const {
        if (definition.empty()) return;
        const bool needed = !definition.ends_with("DeleteOptions");
        if (dialect_ == Dialect::v2) {
            json::Object body;
            body["name"] = "body";
            body["in"] = "body";
            if (needed) body["required"] = true;
            body["schema"] = schema_of_body(definition);
            parameters.push_back(std::move(body));
            return;
        }
        json::Object media;
        media["schema"] = schema_of_body(definition);
        json::Object content;
        content["application/json"] = std::move(media);
        json::Object body;
        body["content"] = std::move(content);
        if (needed) body["required"] = true;
        operation["requestBody"] = std::move(body);
    }

    [[nodiscard]] json::Value responses(std::string_view action, std::string_view definition) const {
        json::Object answer;
        answer["description"] = "OK";
        if (dialect_ == Dialect::v2) {
            answer["schema"] = reference(dialect_, std::string(definition));
        } else {
            json::Object media;
            media["schema"] = reference(dialect_, std::string(definition));
            json::Object content;
            content["application/json"] = std::move(media);
            answer["content"] = std::move(content);
        }
        json::Object refused;
        refused["description"] = "Unauthorized";
        json::Object out;
        out["200"] = answer;
        if (action == "post" || action == "put" || action == "patch") {
            answer["description"] = "Created";
            out["201"] = std::move(answer);
        }
        out["401"] = std::move(refused);
        return out;
    }

    template <class Queries>
    [[nodiscard]] json::Value make(std::string_view verb, std::string_view action, std::string_view words,
                                   const Queries& queries, std::string_view body, std::string_view answer) const {
        json::Object out;
        out["description"] = text_value(fmt::format("{} {}{}", words, kind_.name, suffix_.empty() ? "" : " status"));
        out["operationId"] = text_value(operation_id(verb, kind_, namespaced_, suffix_));
        json::Array parameters;
        if (named_) parameters.push_back(parameter(dialect_, "name", "path", "string", "Name of the object."));
        if (namespaced_) {
            parameters.push_back(parameter(dialect_, "namespace", "path", "string", "Namespace of the object."));
        }
        for (const Query& query : queries) {
            parameters.push_back(parameter(dialect_, query.name, "query", query.type, query.doc));
        }
        if (dialect_ == Dialect::v2) {
            out["produces"] = json::Array{json::Value("application/json")};
            if (!body.empty())
                out["consumes"] = json::Array{json::Value("application/json"), json::Value("application/yaml")};
        }
        add_body(out, parameters, body);
        out["parameters"] = std::move(parameters);
        out["responses"] = responses(action, answer);
        out["x-kubernetes-action"] = text_value(action);
        out["x-kubernetes-group-version-kind"] = group_version_kind(kind_);
        return out;
    }
    [[nodiscard]] json::Value make(std::string_view verb, std::string_view action, std::string_view words,
                                   std::initializer_list<Query> none, std::string_view body,
                                   std::string_view answer) const {
        return make<std::initializer_list<Query>>(verb, action, words, none, body, answer);
    }

    const Kind& kind_;
    Dialect dialect_;
    bool named_, namespaced_;
    std::string suffix_;
};

}  // namespace

void add_paths(const Kind& kind, Dialect dialect, std::map<std::string, json::Value>& paths) {
    const std::string base = kind.group.empty() ? "/api/" + kind.version : "/apis/" + kind.api_version();
    const bool namespaced = kind.scope == Scope::namespaced;
    const std::string collection = base + (namespaced ? "/namespaces/{namespace}/" : "/") + kind.plural;

    const Operations all(kind, dialect, false, namespaced, {});
    json::Object on_collection;
    on_collection["post"] = all.create();
    if (!kind.create_only) {
        on_collection["get"] = all.list();
        on_collection["delete"] = all.remove_all();
    }
    paths[collection] = std::move(on_collection);
    const Operations one(kind, dialect, true, namespaced, {});
    json::Object on_object;
    if (kind.create_only) {
        // Server-side apply creates. kubectl from 1.25 on looks at PATCH to learn whether the server takes
        // fieldValidation, and refuses to create what has none.
        on_object["patch"] = one.patch();
        paths[collection + "/{name}"] = std::move(on_object);
        return;
    }

    if (namespaced) {
        json::Value everywhere = Operations(kind, dialect, false, false, {}).list();
        everywhere.get_object()["operationId"] = text_value(operation_id("list", kind, false, "ForAllNamespaces"));
        json::Object over_namespaces;
        over_namespaces["get"] = std::move(everywhere);
        paths[base + "/" + kind.plural] = std::move(over_namespaces);
    }

    on_object["get"] = one.read();
    on_object["put"] = one.replace();
    on_object["patch"] = one.patch();
    on_object["delete"] = one.remove();
    paths[collection + "/{name}"] = std::move(on_object);

    if (!kind.status_subresource) return;
    const Operations status(kind, dialect, true, namespaced, "status");
    json::Object on_status;
    on_status["get"] = status.read();
    on_status["put"] = status.replace();
    on_status["patch"] = status.patch();
    paths[collection + "/{name}/status"] = std::move(on_status);
}

}  // namespace fairlead::resource
