#include "apiserver/object_bytes.h"

#include <array>

namespace fairlead::apiserver {

namespace {

constexpr std::string_view revision_member = R"("resourceVersion":")";

// Everything before resourceVersion is a string, and inside a JSON string every quote has a backslash before it: so the
// first `"resourceVersion":"` of a stored object is always the member itself.
constexpr std::array<std::string_view, 4> before_revision = {"name", "generateName", "namespace", "uid"};
constexpr std::array<std::string_view, 8> after_revision = {
    "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "labels",     "annotations",       "ownerReferences",   "finalizers"};

template <class List>
bool contains(const List& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

void append_member(std::string_view name, const json::Value& value, std::string& out) {
    if (out.back() != '{') out += ',';
    json::serialize_to(json::Value(json::String(name)), out);
    out += ':';
    json::serialize_to(value, out);
}

template <class List>
void append_listed(const json::Object& object, const List& names, std::string& out) {
    for (const auto name : names) {
        if (const auto* value = object.if_contains(name)) append_member(name, *value, out);
    }
}

// Appends the metadata object; gives where the revision's digits belong, or npos.
std::size_t append_metadata(const json::Object& metadata, const std::string_view* revision,
                            std::string_view managed_fields, std::string& out) {
    std::size_t at = std::string::npos;
    out += '{';
    append_listed(metadata, before_revision, out);
    if (revision) {
        if (out.back() != '{') out += ',';
        out += revision_member;
        at = out.size();
        out += *revision;
        out += '"';
    }
    append_listed(metadata, after_revision, out);
    for (const auto& [key, value] : metadata) {
        const std::string_view name(key.data(), key.size());
        if (name == "resourceVersion" || contains(before_revision, name) || contains(after_revision, name)) continue;
        append_member(name, value, out);
    }
    if (!managed_fields.empty()) {
        if (out.back() != '{') out += ',';
        out += R"("managedFields":)";
        out += managed_fields;
    }
    out += '}';
    return at;
}

std::size_t append_object(const json::Value& value, const std::string_view* revision, std::string_view managed_fields,
                          std::string& out) {
    const auto& object = value.as_object();
    out += '{';
    append_listed(object, std::array<std::string_view, 2>{"apiVersion", "kind"}, out);
    std::size_t at = std::string::npos;
    if (const auto* metadata = object.if_contains("metadata"); metadata && metadata->is_object()) {
        if (out.back() != '{') out += ',';
        out += R"("metadata":)";
        at = append_metadata(metadata->get_object(), revision, managed_fields, out);
    }
    for (const auto& [key, member] : object) {
        const std::string_view name(key.data(), key.size());
        if (name == "apiVersion" || name == "kind" || name == "metadata") continue;
        append_member(name, member, out);
    }
    out += '}';
    return at;
}

// Where the digits stand in stored bytes, and how many there are.
std::pair<std::size_t, std::size_t> revision_digits(std::string_view bytes) {
    const auto member = bytes.find(revision_member);
    if (member == std::string_view::npos) return {std::string::npos, 0};
    const auto at = member + revision_member.size();
    const auto end = bytes.find('"', at);
    return {at, end == std::string_view::npos ? 0 : end - at};
}

}  // namespace

std::string object_text(const json::Value& object, std::string_view revision, std::string_view managed_fields) {
    std::string out;
    append_object(object, revision.empty() ? nullptr : &revision, managed_fields, out);
    return out;
}

store::Value stored_form(const json::Value& object, std::string_view managed_fields) {
    store::Value value;
    const std::string_view nothing;
    value.revision_at = append_object(object, &nothing, managed_fields, value.bytes);
    return value;
}

store::Value last_state(const store::Object& object) {
    const auto bytes = object.value();
    const auto [at, digits] = revision_digits(bytes);
    store::Value value;
    if (at == std::string::npos) {
        value.bytes = bytes;
        return value;
    }
    value.bytes.reserve(bytes.size());
    value.bytes.append(bytes.substr(0, at)).append(bytes.substr(at + digits));
    value.revision_at = at;
    return value;
}

std::string with_revision(const store::Object& object, store::Revision revision) {
    auto value = last_state(object);
    if (value.revision_at != std::string::npos) value.bytes.insert(value.revision_at, std::to_string(revision));
    return std::move(value.bytes);
}

Outcome<json::Value> parse_object(const store::Object& object) {
    auto value = json::parse(object.value());
    if (!value || !value->is_object()) {
        return refuse(internal_error("stored object \"" + std::string(object.name()) + "\" cannot be read" +
                                     (value ? "" : ": " + value.error().text())));
    }
    return std::move(*value);
}

std::string type_prefix(const resource::Kind& kind) {
    return R"({"apiVersion":")" + kind.api_version() + R"(","kind":")" + kind.name + R"(",)";
}

void append_list_item(const store::Object& object, const resource::Kind& kind, std::string_view prefix,
                      std::string& out) {
    const auto bytes = object.value();
    if (kind.built_in && bytes.starts_with(prefix)) {
        out += '{';
        out += bytes.substr(prefix.size());
    } else {
        out += bytes;
    }
}

std::string store_name(const resource::Kind& kind, std::string_view ns, std::string_view name) {
    std::string text;
    if (kind.scope == resource::Scope::namespaced) {
        text += ns;
        text += '/';
    }
    text += name;
    return text;
}

store::Key store_key(const resource::Kind& kind, std::string_view ns, std::string_view name) {
    return {kind.table(), store_name(kind, ns, name)};
}

bool being_deleted(const json::Value& object) { return !json::string_at(object, "metadata.deletionTimestamp").empty(); }

json::Object& metadata_of(json::Value& object) {
    auto& metadata = object.as_object()["metadata"];
    if (!metadata.is_object()) metadata.emplace_object();
    return metadata.get_object();
}

}  // namespace fairlead::apiserver
