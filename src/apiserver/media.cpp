#include "apiserver/media.h"

#include "base/text.h"

namespace fairlead::apiserver {

namespace {

struct Clause {
    std::string type;
    std::string as, group, version;
};

std::vector<Clause> clauses(std::string_view accept) {
    std::vector<Clause> list;
    for (const auto part : split(accept, ',')) {
        Clause clause;
        bool first = true;
        for (const auto piece : split(part, ';')) {
            const auto text = trim(piece);
            if (std::exchange(first, false)) {
                clause.type = lower(text);
                continue;
            }
            const auto equals = text.find('=');
            if (equals == std::string_view::npos) continue;
            const auto name = lower(trim(text.substr(0, equals)));
            const auto value = trim(text.substr(equals + 1));
            if (name == "as") clause.as = value;
            if (name == "g") clause.group = value;
            if (name == "v") clause.version = value;
        }
        if (!clause.type.empty()) list.push_back(std::move(clause));
    }
    return list;
}

std::optional<Form> serve(const Clause& clause) {
    Form form;
    if (clause.type == "application/yaml") {
        form.yaml = true;
    } else if (clause.type != "application/json" && clause.type != "*/*" && clause.type != "application/*") {
        return std::nullopt;
    }
    if (clause.as.empty()) return form;
    if (clause.group != "meta.k8s.io" || (clause.version != "v1" && clause.version != "v1beta1")) return std::nullopt;
    form.meta_version = clause.version;
    if (clause.as == "Table") {
        form.shape = Shape::table;
    } else if (clause.as == "PartialObjectMetadata" || clause.as == "PartialObjectMetadataList") {
        form.shape = Shape::partial_metadata;
    } else {
        return std::nullopt;
    }
    return form;
}

}  // namespace

Outcome<Form> negotiate(std::string_view accept, std::string_view include_object) {
    std::optional<Form> form;
    if (trim(accept).empty()) form.emplace();
    for (const auto& clause : clauses(accept)) {
        if (form) break;
        form = serve(clause);
    }
    if (!form) return refuse(not_acceptable({"application/json", "application/yaml"}));
    if (include_object == "Object") form->include = IncludeObject::object;
    if (include_object == "None") form->include = IncludeObject::none;
    if (form->shape == Shape::table && !include_object.empty() && include_object != "Object" &&
        include_object != "None" && include_object != "Metadata") {
        return refuse(bad_request("unrecognized includeObject value: \"" + std::string(include_object) + "\""));
    }
    return *form;
}

bool accepts(std::string_view accept, std::string_view type) {
    for (const auto& clause : clauses(accept)) {
        if (clause.type == type) return true;
    }
    return false;
}

std::string media_type(std::string_view header) { return lower(trim(header.substr(0, header.find(';')))); }

Outcome<BodyFormat> body_format(std::string_view content_type) {
    const auto type = media_type(content_type);
    if (type.empty() || type == "application/json") return BodyFormat::json;
    if (type == "application/yaml") return BodyFormat::yaml;
    return refuse(unsupported_media_type({"application/json", "application/yaml"}));
}

}  // namespace fairlead::apiserver
