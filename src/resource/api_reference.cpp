// docs/api.md: the reference that people read, printed from the kinds. Pure.
#include <fmt/core.h>

#include "base/text.h"
#include "resource/field_rows.h"
#include "resource/openapi.h"

namespace fairlead::resource {

namespace {

// Inside a table cell a bar would end the cell, and a line end the row.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string code(std::string_view text) { return text.empty() ? std::string() : "`" + cell(text) + "`"; }

std::vector<std::string> coded(const std::vector<std::string>& parts) {
    std::vector<std::string> out;
    for (const std::string& part : parts) out.push_back(code(part));
    return out;
}

std::string anchor(const Kind& kind) { return lower(kind.name); }

void append_facts(const Kind& kind, std::string& out) {
    std::vector<std::string> names{kind.plural, kind.singular};
    names.insert(names.end(), kind.short_names.begin(), kind.short_names.end());
    const std::string base = kind.group.empty() ? "/api/" + kind.version : "/apis/" + kind.api_version();
    const std::string place = kind.scope == Scope::namespaced ? "/namespaces/{namespace}/" : "/";
    std::vector<std::string> verbs{"create", "patch"};
    if (!kind.create_only) {
        verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
    }
    out += fmt::format("| | |\n|---|---|\n| apiVersion | `{}` |\n| kind | `{}` |\n", kind.api_version(), kind.name);
    out += fmt::format("| names | {} |\n", join(coded(names), ", "));
    if (!kind.categories.empty()) out += fmt::format("| categories | {} |\n", join(coded(kind.categories), ", "));
    out += fmt::format("| scope | {} |\n", kind.scope == Scope::namespaced ? "namespaced" : "cluster");
    out += fmt::format("| path | `{}{}{}` |\n", base, place, kind.plural);
    out += fmt::format("| verbs | {} |\n", join(verbs, ", "));
    if (kind.status_subresource) out += "| subresources | `status` |\n";
    std::vector<std::string> fields{"metadata.name"};
    if (kind.scope == Scope::namespaced) fields.emplace_back("metadata.namespace");
    fields.insert(fields.end(), kind.selectable_fields.begin(), kind.selectable_fields.end());
    if (!kind.create_only) out += fmt::format("| field selectors | {} |\n", join(coded(fields), ", "));
    if (kind.schema.keep_unknown) out += "| other fields | are kept as they were sent |\n";
    out += '\n';
}

void append_columns(const Kind& kind, std::string& out) {
    if (kind.columns.empty()) return;
    out += "| column | shown | meaning |\n|---|---|---|\n";
    for (const Column& column : kind.columns) {
        out += fmt::format("| {} | {} | {} |\n", cell(column.name), column.priority == 0 ? "always" : "`-o wide`",
                           cell(column.doc));
    }
    out += '\n';
}

void append_fields(const Kind& kind, std::string& out) {
    out += "| field | type | required | default | allowed | meaning |\n|---|---|---|---|---|---|\n";
    for (const Property& property : kind.schema.properties) {
        if (property.name == "apiVersion" || property.name == "kind") continue;
        Schema single;
        single.type = Type::object;
        single.properties.push_back(property);
        // metadata is the same everywhere and has a section of its own.
        if (property.name == "metadata") single.properties.front().schema.properties.clear();
        for (const FieldRow& row : field_rows(single)) {
            out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.path, cell(row.type),
                               row.required ? "yes" : "", code(row.default_value), cell(row.limits), cell(row.doc));
        }
    }
    out += '\n';
}

void append_metadata(const Kinds& kinds, std::string& out) {
    for (const Kind& kind : kinds.all()) {
        const Property* metadata = kind.schema.find("metadata");
        if (metadata == nullptr) continue;
        out += "## metadata\n\nEvery kind has these fields below `metadata`.\n\n";
        out += "| field | type | required | allowed | meaning |\n|---|---|---|---|---|\n";
        for (const FieldRow& row : field_rows(metadata->schema, "metadata")) {
            out += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.path, cell(row.type), row.required ? "yes" : "",
                               cell(row.limits), cell(row.doc));
        }
        return;
    }
}

}  // namespace

std::string api_reference(const Kinds& kinds) {
    std::string out =
        "# API reference\n\nMade from the descriptions of the kinds in `src/resource/kinds`; do not edit.\n\n"
        "| apiVersion | kind | scope | what it is |\n|---|---|---|---|\n";
    for (const Kind& kind : kinds.all()) {
        out += fmt::format("| `{}` | [{}](#{}) | {} | {} |\n", kind.api_version(), kind.name, anchor(kind),
                           kind.scope == Scope::namespaced ? "namespaced" : "cluster", cell(kind.doc));
    }
    out += '\n';
    for (const Kind& kind : kinds.all()) {
        out += fmt::format("## {}\n\n{}\n\n", kind.name, kind.doc);
        append_facts(kind, out);
        append_columns(kind, out);
        append_fields(kind, out);
    }
    append_metadata(kinds, out);
    return out;
}

}  // namespace fairlead::resource
