#include "apiserver/rest.h"

#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "base/text.h"
#include "json/duplicates.h"
#include "json/exact.h"
#include "json/yaml.h"
#include "resource/meta.h"

namespace fairlead::apiserver {

namespace {

constexpr std::size_t max_field_manager_bytes = 128;  // as kube-apiserver
constexpr std::size_t max_shown_body_bytes = 256;     // of a body that is quoted in an error

Outcome<void> check_metadata_types(const json::Value& object) {
    const auto* metadata = json::find(object, "metadata");
    if (!metadata || metadata->is_null()) return {};
    if (!metadata->is_object()) return refuse(bad_request("metadata: must be an object"));
    for (const auto* name : {"name", "generateName", "namespace", "uid", "resourceVersion"}) {
        const auto* member = metadata->get_object().if_contains(name);
        if (member && !member->is_string() && !member->is_null()) {
            return refuse(bad_request(fmt::format("metadata.{}: must be a string", name)));
        }
    }
    const auto* managed = metadata->get_object().if_contains("managedFields");
    if (managed && !managed->is_array() && !managed->is_null()) {
        return refuse(bad_request("metadata.managedFields: must be a list"));
    }
    return {};
}

// It becomes part of an object, so it must survive being written and read.
bool can_be_stored(std::string_view text) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(text.begin(), text.end(), control)) return false;
    return json::parse(json::serialize(json::Value(json::String(text)))).has_value();
}

Outcome<json::Value> parse_body(const Body& body, std::vector<std::string>& duplicates) {
    const auto format = body_format(body.content_type);
    if (!format) return refuse(format.error());
    if (*format == BodyFormat::json) {
        auto value = json::parse(body.bytes, json::max_sent_values, duplicates);
        if (!value) {
            return refuse(bad_request("couldn't get version/kind; json parse error: " + value.error().text()));
        }
        return std::move(*value);
    }
    auto documents = json::parse_yaml(body.bytes);
    if (!documents) return refuse(bad_request("error parsing YAML: " + documents.error().text()));
    if (documents->size() != 1) {
        return refuse(bad_request(fmt::format(
            "error parsing YAML: the body holds {} documents, exactly one is expected", documents->size())));
    }
    return std::move(documents->front().value);
}

}  // namespace

Reply reply_of(const Status& status) {
    Reply reply;
    reply.code = status.code;
    reply.content = Reply::Content::status;
    reply.body = to_json(status);
    if (status.details) reply.retry_after_seconds = status.details->retry_after_seconds;
    return reply;
}

Rest::Rest(const resource::Kinds& kinds, store::Store& store, const Clock& clock, Random& random, RestOptions options)
    : kinds_(kinds),
      store_(store),
      clock_(clock),
      random_(random),
      options_(options),
      namespaces_(kinds.find("", "v1", "namespaces")) {}

std::string Rest::now_text() const { return rfc3339(clock_.now()); }

namespace {
template <class T>
Reply settle(Outcome<T> outcome) {
    return outcome ? std::move(*outcome) : reply_of(outcome.error());
}
}  // namespace

Reply Rest::create(const Target& target, const QueryOptions& options, const Body& body) {
    return settle(create_object(target, options, body));
}

Reply Rest::update(const Target& target, const QueryOptions& options, const Body& body) {
    return settle(update_object(target, options, body));
}

Reply Rest::patch(const Target& target, const QueryOptions& options, const Body& body) {
    return settle(patch_object(target, options, body));
}

Reply Rest::remove(const Target& target, const QueryOptions& options, const Body& body) {
    const auto parsed = delete_options(options, body);
    if (!parsed) return reply_of(parsed.error());
    return settle(is_namespace(*target.kind) ? delete_namespace(target, *parsed) : delete_object(target, *parsed));
}

Reply Rest::remove_collection(const Target& target, const QueryOptions& options, const Body& body) {
    return settle(delete_collection(target, options, body));
}

Reply Rest::list(const Target& target, const QueryOptions& options, const Form& form) {
    return settle(list_objects(target, options, form));
}

std::string_view Rest::options_kind(Writing writing) {
    switch (writing) {
        case Writing::create:
            return "CreateOptions";
        case Writing::update:
            return "UpdateOptions";
        case Writing::patch:
        case Writing::apply:
            return "PatchOptions";
    }
    return "";
}

Outcome<void> Rest::check_write_options(Writing writing, const QueryOptions& options) const {
    resource::FieldErrors errors;
    for (const auto& value : options.dry_run) {
        if (value == "All") continue;
        errors.push_back({resource::Cause::not_supported, "dryRun",
                          fmt::format("Unsupported value: []string{{\"{}\"}}: supported values: \"All\"", value)});
        break;
    }
    const auto& validation = options.field_validation;
    if (!validation.empty() && validation != "Ignore" && validation != "Warn" && validation != "Strict") {
        errors.push_back(
            {resource::Cause::not_supported, "fieldValidation",
             fmt::format("Unsupported value: \"{}\": supported values: \"\", \"Ignore\", \"Warn\", \"Strict\"",
                         validation)});
    }
    if (writing == Writing::apply && options.field_manager.empty()) {
        errors.push_back({resource::Cause::required, "fieldManager", "Required value: is required for apply patch"});
    }
    if (options.field_manager.size() > max_field_manager_bytes) {
        errors.push_back({resource::Cause::too_long, "fieldManager",
                          fmt::format("Too long: may not be longer than {}", max_field_manager_bytes)});
    }
    if (!can_be_stored(options.field_manager)) {
        errors.push_back(
            {resource::Cause::invalid, "fieldManager", "Invalid value: must be UTF-8 text without control characters"});
    }
    if (writing == Writing::patch && options.force) {
        errors.push_back({resource::Cause::forbidden, "force", "Forbidden: may not be specified for non-apply patch"});
    }
    if (!errors.empty()) return refuse(invalid_options(options_kind(writing), errors));
    return {};
}

Outcome<void> check_strictly(std::string_view what, const std::vector<std::string>& paths, const QueryOptions& options,
                             std::vector<std::string>& warnings) {
    if (paths.empty() || options.field_validation == "Ignore") return {};
    std::vector<std::string> texts;
    texts.reserve(paths.size());
    for (const auto& path : paths) texts.push_back(fmt::format("{} field \"{}\"", what, path));
    if (options.field_validation == "Strict") {
        return refuse(bad_request("strict decoding error: " + join(texts, ", ")));
    }
    for (auto& text : texts) warnings.push_back(std::move(text));
    return {};
}

Outcome<json::Value> Rest::decode(const Target& target, const Body& body, const QueryOptions& options,
                                  std::vector<std::string>& warnings) const {
    std::vector<std::string> duplicates;
    auto object = parse_body(body, duplicates);
    if (!object) return refuse(object.error());
    if (auto ok = check_strictly("duplicate", duplicates, options, warnings); !ok) return refuse(ok.error());
    if (!object->is_object()) return refuse(bad_request("the body must be an object"));
    for (const auto* member : {"kind", "apiVersion"}) {
        if (!json::string_at(*object, member).empty()) continue;
        if (!target.kind->built_in) {
            return refuse(bad_request(fmt::format("Object '{}' is missing in '{}'",
                                                  std::string_view(member) == "kind" ? "Kind" : "apiVersion",
                                                  body.bytes.substr(0, max_shown_body_bytes))));
        }
        object->get_object()[member] =
            std::string_view(member) == "kind" ? target.kind->name : target.kind->api_version();
    }
    const bool as_json = body_format(body.content_type) == BodyFormat::json;
    if (target.kind->keep_text && as_json) target.kind->keep_text(*object, body.bytes);
    return object;
}

Outcome<void> Rest::check_identity(const Target& target, json::Value& object) const {
    const auto& kind = *target.kind;
    if (!object.is_object()) return refuse(bad_request("the body must be an object"));
    if (auto types = check_metadata_types(object); !types) return types;
    const auto api_version = json::string_at(object, "apiVersion");
    if (api_version != kind.api_version()) {
        return refuse(
            bad_request(fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                                    api_version, kind.api_version())));
    }
    const auto kind_name = json::string_at(object, "kind");
    if (kind_name != kind.name) {
        const resource::FieldErrors errors{
            {resource::Cause::invalid, "kind", fmt::format("Invalid value: \"{}\": must be {}", kind_name, kind.name)}};
        return refuse(invalid(kind, json::string_at(object, "metadata.name"), errors));
    }
    json::drop_nulls(object);
    const std::string ns(json::string_at(object, "metadata.namespace"));
    if (kind.scope == resource::Scope::cluster) {
        if (!ns.empty()) {
            const resource::FieldErrors errors{
                {resource::Cause::forbidden, "metadata.namespace", "Forbidden: not allowed on this type"}};
            return refuse(invalid(kind, json::string_at(object, "metadata.name"), errors));
        }
        return {};
    }
    if (!ns.empty() && ns != target.namespace_) {
        return refuse(
            bad_request("the namespace of the provided object does not match the namespace sent on the request"));
    }
    metadata_of(object)["namespace"] = target.namespace_;
    return {};
}

Outcome<void> Rest::prune_unknown(const Kind& kind, json::Value& object, const QueryOptions& options,
                                  std::vector<std::string>& warnings) const {
    return check_strictly("unknown", resource::prune(object, kind.schema), options, warnings);
}

Outcome<void> Rest::admit(const Kind& kind, json::Value& object, const json::Value* old, StatusOf status,
                          const QueryOptions& options, std::vector<std::string>& warnings) const {
    if (auto pruned = prune_unknown(kind, object, options, warnings); !pruned) return pruned;
    resource::apply_defaults(object, kind.schema);
    const std::string name(json::string_at(object, "metadata.name"));
    resource::FieldErrors errors;
    resource::Violations violations("", errors);
    if (status == StatusOf::server && object.get_object().contains("status")) {
        // First as it was sent, so that the kind can refuse what only the server may set; then without the status, so
        // that only what the kind itself puts there is kept.
        if (kind.admit) {
            auto submitted = object;
            kind.admit(submitted, old, violations);
        }
        json::erase_at(object, "status");
        resource::apply_defaults(object, kind.schema);
    }
    if (kind.admit && errors.empty()) kind.admit(object, old, violations);
    if (!errors.empty()) return refuse(invalid(kind, name, errors));
    errors = resource::validate_metadata(object, kind);
    for (auto& error : resource::validate(object, old, kind.schema)) {
        if (std::find(errors.begin(), errors.end(), error) == errors.end()) errors.push_back(std::move(error));
    }
    if (!errors.empty()) return refuse(invalid(kind, name, errors));
    return {};
}

Outcome<store::ObjectRef> Rest::existing(const Target& target) const {
    auto found = store_.get(store_key(*target.kind, target.namespace_, target.name));
    if (!found) return refuse(from_error(found.error()));
    if (!*found) return refuse(not_found(*target.kind, target.name));
    return std::move(*found);
}

Outcome<void> Rest::guarded(const Kind& kind, const json::Value& object, const store::ObjectRef& current,
                            const QueryOptions& options) const {
    if (!options_.guard || !options_.guard->concerns(kind)) return {};
    if (!current) return options_.guard->check(kind, object, nullptr, options.caller.user);
    const auto old = parse_object(*current);
    if (!old) return refuse(old.error());
    return options_.guard->check(kind, object, &*old, options.caller.user);
}

}  // namespace fairlead::apiserver
