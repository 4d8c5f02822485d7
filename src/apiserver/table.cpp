#include "apiserver/table.h"

namespace fairlead::apiserver {

namespace {

std::string head(std::string_view kind, const Form& form) {
    return R"({"kind":")" + std::string(kind) + R"(","apiVersion":"meta.k8s.io/)" + form.meta_version + '"';
}

std::string table_head(const Form& form, std::string_view revision) {
    return head("Table", form) + R"(,"metadata":{"resourceVersion":")" + std::string(revision) + R"("},)";
}

}  // namespace

std::string column_definitions(const resource::Kind& kind) {
    json::Array columns;
    for (const auto& column : kind.columns) {
        json::Object item;
        item["name"] = column.name;
        item["type"] = column.type;
        item["format"] = column.format;
        item["description"] = column.doc;
        item["priority"] = column.priority;
        columns.push_back(std::move(item));
    }
    return json::serialize(columns);
}

void append_partial_metadata(const json::Value& object, const Form& form, std::string& out) {
    out += head("PartialObjectMetadata", form);
    out += R"(,"metadata":)";
    if (const auto* metadata = json::find(object, "metadata")) {
        json::serialize_to(*metadata, out);
    } else {
        out += "{}";
    }
    out += '}';
}

void append_row(const json::Value& object, const resource::Kind& kind, const Form& form, WallTime now,
                std::string& out) {
    out += R"({"cells":[)";
    bool first = true;
    for (const auto& column : kind.columns) {
        if (!std::exchange(first, false)) out += ',';
        json::serialize_to(column.cell(object, now), out);
    }
    out += R"(],"object":)";
    switch (form.include) {
        case IncludeObject::metadata:
            append_partial_metadata(object, form, out);
            break;
        case IncludeObject::object:
            json::serialize_to(object, out);
            break;
        case IncludeObject::none:
            out += "null";
            break;
    }
    out += '}';
}

std::string table_of(const json::Value& object, const resource::Kind& kind, const Form& form, WallTime now,
                     bool with_columns) {
    std::string out = table_head(form, json::string_at(object, "metadata.resourceVersion"));
    // The member is required by Table's decoders, also when it is left empty.
    out += R"("columnDefinitions":)" + (with_columns ? column_definitions(kind) : std::string("null")) + R"(,"rows":[)";
    append_row(object, kind, form, now, out);
    return out + "]}";
}

std::string empty_table(const Form& form, std::string_view revision) {
    return table_head(form, revision) + R"("columnDefinitions":null,"rows":[]})";
}

std::string render(std::string text, const resource::Kind& kind, const Form& form, WallTime now) {
    if (form.shape == Shape::object) return text;
    const auto object = json::parse(text);
    if (!object) return text;
    if (form.shape == Shape::table) return table_of(*object, kind, form, now, true);
    std::string out;
    append_partial_metadata(*object, form, out);
    return out;
}

}  // namespace fairlead::apiserver
