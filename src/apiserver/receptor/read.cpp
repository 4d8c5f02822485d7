// From the Receptor's JSON to our kinds: types only, as a decoder would. What a field may say is rules.cpp's.
#include <fmt/core.h>

#include <cmath>

#include "apiserver/receptor/shape.h"
#include "json/exact.h"
#include "resource/kinds/lrp.h"

namespace fairlead::apiserver::receptor {

namespace {

enum class Is { text, number, flag, object, routes, list_of_numbers, list_of_objects };

constexpr std::string_view old_provider = "cf-router";  // whose routes were before there were providers

struct Member {
    std::string_view name;
    Is is;
};

constexpr Member desired_members[] = {{"process_guid", Is::text},    {"domain", Is::text},
                                      {"rootfs", Is::text},          {"instances", Is::number},
                                      {"env", Is::list_of_objects},  {"setup", Is::object},
                                      {"action", Is::object},        {"monitor", Is::object},
                                      {"start_timeout", Is::number}, {"disk_mb", Is::number},
                                      {"memory_mb", Is::number},     {"cpu_weight", Is::number},
                                      {"privileged", Is::flag},      {"ports", Is::list_of_numbers},
                                      {"routes", Is::routes},        {"log_guid", Is::text},
                                      {"log_source", Is::text},      {"metrics_guid", Is::text},
                                      {"annotation", Is::text},      {"egress_rules", Is::list_of_objects}};

constexpr Member actual_members[] = {
    {"process_guid", Is::text},  {"instance_guid", Is::text}, {"cell_id", Is::text},          {"domain", Is::text},
    {"index", Is::number},       {"address", Is::text},       {"ports", Is::list_of_objects}, {"state", Is::text},
    {"crash_count", Is::number}, {"crash_reason", Is::text},  {"placement_error", Is::text},  {"since", Is::number},
    {"evacuating", Is::flag}};

bool whole_number(const json::Value& value) {
    return value.is_int64() || value.is_uint64() ||
           (value.is_double() && std::trunc(value.get_double()) == value.get_double());
}

template <class Each>
bool list_of(const json::Value& value, Each&& each) {
    const auto* list = value.if_array();
    return list != nullptr && std::all_of(list->begin(), list->end(), each);
}

// What is wrong with it; "" = nothing.
std::string_view wrong_type(const json::Value& value, Is is) {
    switch (is) {
        case Is::text:
            return value.is_string() ? "" : "must be a string";
        case Is::number:
            return whole_number(value) ? "" : "must be a whole number";
        case Is::flag:
            return value.is_bool() ? "" : "must be true or false";
        case Is::object:
            return value.is_object() ? "" : "must be an object";
        case Is::routes:
            return value.is_object() || value.is_array() ? "" : "must be an object, or a list of names";
        case Is::list_of_numbers:
            return list_of(value, whole_number) ? "" : "must be a list of whole numbers";
        case Is::list_of_objects:
            return list_of(value, [](const json::Value& item) { return item.is_object(); })
                       ? ""
                       : "must be a list of objects";
    }
    return "";
}

// 4e3 is as good as 4000, and shown as that: rules and messages know whole numbers.
json::Value as_whole(const json::Value& number) {
    constexpr double too_large = 9'223'372'036'854'775'808.0;  // 2^63
    if (!number.is_double() || std::abs(number.get_double()) >= too_large) return number;
    return static_cast<std::int64_t>(number.get_double());
}

json::Value as_written(const json::Value& value, Is is) {
    if (is == Is::number) return as_whole(value);
    if (is != Is::list_of_numbers) return value;
    json::Array numbers;
    for (const auto& each : value.get_array()) numbers.push_back(as_whole(each));
    return numbers;
}

template <std::size_t N>
Result<json::Object> read_members(const json::Value& from, const Member (&members)[N]) {
    const auto* object = from.if_object();
    if (object == nullptr) return fail(Errc::invalid, "the body must be a JSON object");
    json::Object spec;
    for (const auto& member : members) {
        const auto* value = object->if_contains(member.name);
        if (value == nullptr || value->is_null()) continue;  // null is as good as absent, as for Go
        if (const auto wrong = wrong_type(*value, member.is); !wrong.empty()) {
            return fail(Errc::invalid, std::string(member.name), std::string(wrong));
        }
        spec.emplace(member.name, as_written(*value, member.is));
    }
    return spec;
}

// The map of routes as it is written in a body; a list of names is made one.
std::string text_of_routes(std::string_view body) {
    const auto text = json::text_at(body, "routes");
    if (!text.starts_with('[')) return std::string(text);
    const auto list = json::compact(text);
    return list == "[]" ? "{}" : fmt::format("{{\"{}\":{}}}", old_provider, list);
}

}  // namespace

Result<json::Value> parse_body(std::string_view body) {
    auto value = json::parse(body, json::max_sent_values);
    if (!value) return fail(value.error().code, "the body", value.error().text());
    if (!value->is_object()) return fail(Errc::invalid, "the body must be a JSON object");
    return value;
}

Result<json::Object> read_desired(std::string_view body) {
    const auto value = parse_body(body);
    if (!value) return fail(value.error());
    auto spec = read_members(*value, desired_members);
    if (!spec) return fail(spec.error());
    spec->emplace("instances", 0);  // unless it is there: Go's zero, not our default of one
    if (auto* routes = spec->if_contains("routes")) {
        if (routes->is_array()) {
            auto list = std::move(*routes);
            routes->emplace_object();
            if (!list.get_array().empty()) routes->get_object().emplace(old_provider, std::move(list));
        }
        resource::keep_route_texts(*spec, text_of_routes(body));
    }
    return spec;
}

Result<DesiredUpdate> read_update(std::string_view body) {
    const auto value = parse_body(body);
    if (!value) return fail(value.error());
    DesiredUpdate update;
    const auto* instances = value->get_object().if_contains("instances");
    const auto* annotation = value->get_object().if_contains("annotation");
    const auto* routes = value->get_object().if_contains("routes");
    const auto checked = [](const json::Value* member, std::string_view name, Is is) -> Result<bool> {
        if (member == nullptr || member->is_null()) return false;
        if (const auto wrong = wrong_type(*member, is); !wrong.empty()) {
            return fail(Errc::invalid, std::string(name), std::string(wrong));
        }
        return true;
    };
    const auto has_instances = checked(instances, "instances", Is::number);
    if (!has_instances) return fail(has_instances.error());
    const auto has_annotation = checked(annotation, "annotation", Is::text);
    if (!has_annotation) return fail(has_annotation.error());
    const auto has_routes = checked(routes, "routes", Is::routes);
    if (!has_routes) return fail(has_routes.error());
    if (*has_instances) update.instances = json::int_at(*value, "instances").value_or(-1);
    if (*has_annotation) update.annotation = json::string_at(*value, "annotation");
    if (*has_routes) update.routes = text_of_routes(body);
    return update;
}

void update_desired(json::Object& spec, const DesiredUpdate& update) {
    if (update.instances) spec["instances"] = *update.instances;
    if (update.annotation) spec["annotation"] = *update.annotation;
    if (!update.routes) return;
    spec.erase("routes");
    spec.erase("routes_text");
    auto routes = json::parse(*update.routes);
    if (!routes || json::text_members(*update.routes).empty()) return;
    spec["routes"] = std::move(*routes);
    resource::keep_route_texts(spec, *update.routes);
}

Result<json::Object> read_actual(const json::Value& lrp) { return read_members(lrp, actual_members); }

}  // namespace fairlead::apiserver::receptor
