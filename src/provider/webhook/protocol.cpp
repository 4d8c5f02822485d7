#include "provider/webhook/protocol.h"

#include <fmt/core.h>

#include "json/value.h"
#include "plan/endpoint_json.h"

namespace fairlead::provider::webhook {
namespace {

Result<json::Value> parse_body(std::string_view body) {
    if (body.size() > max_body_bytes) {
        return fail(Errc::too_large,
                    fmt::format("a body has at most {} bytes, this one has {}", max_body_bytes, body.size()));
    }
    return json::parse(body, max_body_values);
}

void put(json::Object& object, std::string_view name, const std::vector<dns::Endpoint>& endpoints) {
    if (!endpoints.empty()) object[name] = plan::endpoints_json(endpoints);
}

// Go's decoder takes "Create" for "create": versions before 0.14 wrote it so.
Result<std::vector<dns::Endpoint>> take(const json::Object& object, std::string_view name, std::string_view old_name) {
    const auto* value = object.if_contains(name);
    if (value == nullptr) value = object.if_contains(old_name);
    if (value == nullptr) return std::vector<dns::Endpoint>();
    return plan::endpoints_of_json(*value, name);
}

Result<std::vector<std::string>> take_texts(const json::Object& object, std::string_view name) {
    std::vector<std::string> texts;
    const auto* value = object.if_contains(name);
    if (value == nullptr || value->is_null()) return texts;
    if (!value->is_array()) return fail(Errc::invalid, std::string(name), "must be a list of names");
    texts.reserve(value->get_array().size());
    for (const auto& item : value->get_array()) {
        if (!item.is_string()) return fail(Errc::invalid, std::string(name), "must be a list of names");
        if (!item.get_string().empty()) texts.emplace_back(json::view(item.get_string()));
    }
    return texts;
}

}  // namespace

std::string changes_text(const Changes& changes) {
    json::Object object;
    put(object, "create", changes.create);
    put(object, "updateOld", changes.update_old);
    put(object, "updateNew", changes.update_new);
    put(object, "delete", changes.remove);
    return json::serialize(object);
}

Result<Changes> parse_changes(std::string_view body) {
    const auto value = parse_body(body);
    if (!value) return fail(value.error());
    if (!value->is_object())
        return fail(Errc::invalid, "the body must be an object of create, updateOld, updateNew, delete");
    const auto& object = value->get_object();
    Changes changes;
    struct Part {
        std::string_view name, old_name;
        std::vector<dns::Endpoint>* out;
    };
    for (const auto& part :
         {Part{"create", "Create", &changes.create}, Part{"updateOld", "UpdateOld", &changes.update_old},
          Part{"updateNew", "UpdateNew", &changes.update_new}, Part{"delete", "Delete", &changes.remove}}) {
        auto endpoints = take(object, part.name, part.old_name);
        if (!endpoints) return fail(std::move(endpoints.error()));
        *part.out = std::move(*endpoints);
    }
    if (changes.update_old.size() != changes.update_new.size()) {
        return fail(Errc::invalid, "updateNew",
                    fmt::format("has {} endpoints and updateOld {}: they go in pairs", changes.update_new.size(),
                                changes.update_old.size()));
    }
    return changes;
}

void add_group(Changes& changes, const plan::ChangeGroup& group) {
    for (const auto* part : {&group.changes, &group.ownership}) {
        for (const auto& change : *part) {
            switch (change.action) {
                case plan::Action::create:
                    changes.create.push_back(*change.after);
                    break;
                case plan::Action::update:
                    changes.update_old.push_back(*change.before);
                    changes.update_new.push_back(*change.after);
                    break;
                case plan::Action::remove:
                    changes.remove.push_back(*change.before);
                    break;
            }
        }
    }
}

std::string filter_text(const plan::DomainFilter& filter) {
    json::Object object;
    if (!filter.regex_include().empty() || !filter.regex_exclude().empty()) {
        if (!filter.regex_include().empty()) object["regexInclude"] = filter.regex_include();
        if (!filter.regex_exclude().empty()) object["regexExclude"] = filter.regex_exclude();
        return json::serialize(object);
    }
    if (!filter.include().empty()) object["include"] = json::Array(filter.include().begin(), filter.include().end());
    if (!filter.exclude().empty()) object["exclude"] = json::Array(filter.exclude().begin(), filter.exclude().end());
    return json::serialize(object);
}

Result<plan::DomainFilter> parse_filter(std::string_view body) {
    const auto value = parse_body(body);
    if (!value) return fail(value.error());
    if (value->is_null()) return plan::DomainFilter();
    if (!value->is_object()) return fail(Errc::invalid, "the domain filter must be an object");
    const auto& object = value->get_object();
    const std::string regex_include(json::string_at(*value, "regexInclude"));
    const std::string regex_exclude(json::string_at(*value, "regexExclude"));
    if (!regex_include.empty() || !regex_exclude.empty()) {
        return plan::DomainFilter::of_patterns(regex_include, regex_exclude);
    }
    auto include = take_texts(object, "include");
    if (!include) return fail(std::move(include.error()));
    auto exclude = take_texts(object, "exclude");
    if (!exclude) return fail(std::move(exclude.error()));
    return plan::DomainFilter::of_lists(std::move(*include), std::move(*exclude));
}

std::string endpoints_text(const std::vector<dns::Endpoint>& endpoints) {
    return json::serialize(plan::endpoints_json(endpoints));
}

Result<std::vector<dns::Endpoint>> parse_endpoints(std::string_view body) {
    const auto value = parse_body(body);
    if (!value) return fail(value.error());
    return plan::endpoints_of_json(*value, "");
}

}  // namespace fairlead::provider::webhook
