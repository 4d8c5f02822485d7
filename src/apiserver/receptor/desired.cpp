// Desired LRPs: made, shown, changed and removed, over the kind DesiredLRP.
#include "apiserver/object_bytes.h"
#include "apiserver/receptor/receptor.h"
#include "apiserver/receptor/record_stream.h"
#include "apiserver/receptor/shape.h"
#include "resource/kinds/desired_lrp.h"
#include "resource/kinds/rules.h"

namespace fairlead::apiserver::receptor {

namespace {

constexpr int max_attempts = 16;  // each lost one means that somebody else's write to the LRP succeeded

const json::Object* spec_of(const json::Value& object) {
    const auto* spec = json::find(object, "spec");
    return spec != nullptr ? spec->if_object() : nullptr;
}

}  // namespace

Answer Receptor::create_desired(std::string_view body, const Caller& caller) {
    auto spec = read_desired(body);
    if (!spec) return invalid_json(spec.error().text());
    if (const auto broken = broken_desired_rules(*spec); !broken.empty()) return invalid_lrp(broken);
    const std::string guid(resource::text_of(*spec, "process_guid"));
    const json::Value object = json::Object{{"apiVersion", desired_.api_version()},
                                            {"kind", desired_.name},
                                            {"metadata", json::Object{{"name", resource::desired_lrp_name(guid)}}},
                                            {"spec", std::move(*spec)}};
    const auto reply = create(desired_, object, caller);
    if (reply.code == 201) return {.code = 201};
    if (reply.code == 409) return desired_exists(guid);
    return problem_of(reply);
}

Answer Receptor::list_desired(const Operation& operation) {
    const auto snapshot = store_.snapshot(desired_.table());
    if (!snapshot) return problem_of(from_error(snapshot.error()));
    const auto render = [domain = operation.domain, view = operation.view](
                            const store::Snapshot&, const store::Object& object, std::string& out) {
        const auto value = parse_object(object);
        const auto* spec = value ? spec_of(*value) : nullptr;
        if (spec == nullptr || (!domain.empty() && json::string_at(*value, "spec.domain") != domain)) return false;
        append_desired(*spec, view, out);
        return true;
    };
    return array_of(*snapshot, namespace_ + "/", render);
}

Answer Receptor::get_desired(const Operation& operation) {
    const auto found = find(desired_, resource::desired_lrp_name(operation.guid), operation.guid);
    if (!found) return problem_of(found.error());
    if (!*found) return desired_not_found(operation.guid);
    const auto object = parse_object(**found);
    if (!object) return problem_of(object.error());
    std::string body;
    append_desired(*spec_of(*object), operation.view, body);
    return json(200, std::move(body));
}

Answer Receptor::update_desired(const std::string& guid, std::string_view body, const Caller& caller) {
    const auto update = read_update(body);
    if (!update) return invalid_json(update.error().text());
    if (update->instances && *update->instances < 0) return invalid_lrp("Invalid field: instances");
    if (update->annotation && update->annotation->size() > resource::max_lrp_annotation_bytes) {
        return invalid_lrp("Invalid field: annotation");
    }
    const auto name = resource::desired_lrp_name(guid);
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        const auto found = find(desired_, name, guid);
        if (!found) return problem_of(found.error());
        if (!*found) return desired_not_found(guid);
        auto object = parse_object(**found);
        if (!object) return problem_of(object.error());
        receptor::update_desired(object->at("spec").get_object(), *update);
        // It names the revision that was read, so that nobody's write in between is lost.
        const auto text = json::serialize(*object);
        const auto reply = rest_.update(target(desired_, name), query(caller), {text, "application/json"});
        if (reply.code < 300) return {.code = 204};
        if (reply.code == 404) return desired_not_found(guid);
        if (reply.code != 409) return problem_of(reply);
    }
    return desired_conflict(guid);
}

Answer Receptor::remove_desired(const std::string& guid, const Caller& caller) {
    const auto name = resource::desired_lrp_name(guid);
    const auto found = find(desired_, name, guid);
    if (!found) return problem_of(found.error());
    if (!*found) return desired_not_found(guid);
    const auto reply = rest_.remove(target(desired_, name), query(caller), {});
    if (reply.code < 300) return {.code = 204};
    return reply.code == 404 ? desired_not_found(guid) : problem_of(reply);
}

}  // namespace fairlead::apiserver::receptor
