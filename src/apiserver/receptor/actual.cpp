// Actual LRPs: what clients are shown, what executors write, one by one or many at once, over the kind ActualLRP.
#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "apiserver/receptor/groups.h"
#include "apiserver/receptor/receptor.h"
#include "apiserver/receptor/record_stream.h"
#include "apiserver/receptor/shape.h"
#include "json/quote.h"
#include "resource/kinds/lrp.h"
#include "resource/kinds/rules.h"

namespace fairlead::apiserver::receptor {

namespace {

using resource::text_of;

constexpr std::string_view evacuating_suffix = ".evacuating";
constexpr std::string_view bad_index = "index not a number";

const json::Object* spec_of(const json::Value* object) {
    const auto* spec = object != nullptr ? json::find(*object, "spec") : nullptr;
    return spec != nullptr ? spec->if_object() : nullptr;
}

// What a list shows of one stored record: of two that belong together, one; or both, to who routes to them.
struct Shown {
    std::string guid, domain;  // empty: any
    View view = View::whole;
    bool twins = false;

    bool operator()(const store::Snapshot& all, const store::Object& object, std::string& out) const {
        const auto value = parse_object(object);
        const auto* spec = value ? spec_of(&*value) : nullptr;
        if (spec == nullptr || (!guid.empty() && text_of(*spec, "process_guid") != guid)) return false;
        if (!domain.empty() && text_of(*spec, "domain") != domain) return false;
        if (!twins && !goes_first(all, object, *spec)) return false;
        append_actual(*spec, view, out);
        return true;
    }

private:
    static bool goes_first(const store::Snapshot& all, const store::Object& object, const json::Object& spec) {
        const auto twin = twin_of(object.name());
        const auto other = all.get(twin.name);
        const auto other_value = other ? json::parse(other->value()) : Result<json::Value>(json::Value());
        const auto* other_spec = other && other_value ? spec_of(&*other_value) : nullptr;
        const bool ordinary = twin.evacuating ? shows_ordinary(other_spec, &spec) : shows_ordinary(&spec, other_spec);
        return ordinary != twin.evacuating;
    }
};

std::function<bool(const json::Value&)> is_of(std::string guid, std::string instance) {
    return [guid = std::move(guid), instance = std::move(instance)](const json::Value& present) {
        return json::string_at(present, "spec.process_guid") == guid &&
               (instance.empty() || json::string_at(present, "spec.instance_guid") == instance);
    };
}

}  // namespace

bool shows_ordinary(const json::Object* ordinary, const json::Object* evacuating) {
    if (ordinary == nullptr) return false;
    const auto state = text_of(*ordinary, "state");
    return evacuating == nullptr || state == "RUNNING" || state == "CRASHED";
}

Twin twin_of(std::string_view name) {
    if (name.ends_with(evacuating_suffix)) {
        return {std::string(name.substr(0, name.size() - evacuating_suffix.size())), true};
    }
    return {std::string(name) + std::string(evacuating_suffix), false};
}

Answer Receptor::list_actual(const Operation& operation) {
    const auto snapshot = store_.snapshot(actual_.table());
    if (!snapshot) return problem_of(from_error(snapshot.error()));
    const bool all = operation.action == Action::list_actual;
    const auto prefix = namespace_ + "/" + (all ? std::string() : resource::name_for(operation.guid) + ".");
    return array_of(
        *snapshot, prefix,
        Shown{all ? std::string() : operation.guid, operation.domain, operation.view, operation.view == View::routing});
}

Answer Receptor::get_actual(const Operation& operation) {
    const auto index = parse_index(operation.index);
    if (!index) return invalid_request(bad_index);
    const auto snapshot = store_.snapshot(actual_.table());
    if (!snapshot) return problem_of(from_error(snapshot.error()));
    const Shown shown{operation.guid, "", operation.view};
    for (const bool evacuating : {false, true}) {
        const auto name = resource::actual_lrp_name(operation.guid, *index, evacuating);
        const auto object = snapshot->get(store_name(actual_, namespace_, name));
        std::string body;
        if (object && shown(*snapshot, *object, body)) return json(200, std::move(body));
    }
    return json(404, "null");
}

Answer Receptor::remove_actual(const Operation& operation, const Caller& caller) {
    const auto index = parse_index(operation.index);
    if (!index) return invalid_request(bad_index);
    // The record that clients see, unless they ask for the other one.
    bool evacuating = operation.evacuating;
    if (!evacuating) {
        const auto snapshot = store_.snapshot(actual_.table());
        if (!snapshot) return problem_of(from_error(snapshot.error()));
        const auto ordinary =
            snapshot->get(store_name(actual_, namespace_, resource::actual_lrp_name(operation.guid, *index, false)));
        std::string ignored;
        evacuating = !ordinary || !Shown{operation.guid, "", View::routing}(*snapshot, *ordinary, ignored);
    }
    const BatchWrite write{resource::actual_lrp_name(operation.guid, *index, evacuating), std::nullopt,
                           is_of(operation.guid, "")};
    const auto replies = rest_.write_many(actual_, namespace_, {write}, query(caller));
    if (replies.front().code < 300) return {.code = 204};
    return replies.front().code == 404 ? actual_not_found(operation.guid, operation.index)
                                       : problem_of(replies.front());
}

std::optional<std::string> Receptor::domain_of(const std::string& guid, KnownDomains& known) const {
    const auto [at, fresh] = known.try_emplace(guid);
    if (!fresh) return at->second;
    const auto desired = find(desired_, resource::desired_lrp_name(guid), guid);
    const auto object = desired && *desired ? json::parse((*desired)->value()) : Result<json::Value>(json::Value());
    if (desired && *desired && object) at->second = json::string_at(*object, "spec.domain");
    return at->second;
}

// What an executor need not say: the domain is the process's, and a state began when it was first told.
Result<void> Receptor::complete_actual(json::Object& spec, const std::string& name, KnownDomains& known) const {
    const std::string guid(text_of(spec, "process_guid"));
    const auto found = find(actual_, name, guid);
    const auto present = found && *found ? json::parse((*found)->value()) : Result<json::Value>(json::Value());
    const auto* before = found && *found && present ? spec_of(&*present) : nullptr;
    if (!spec.contains("since")) {
        const bool same = before != nullptr && text_of(*before, "state") == text_of(spec, "state") &&
                          text_of(*before, "instance_guid") == text_of(spec, "instance_guid");
        const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(clock_.now().time_since_epoch()).count();
        spec["since"] = same ? resource::int_of(*before, "since").value_or(now) : static_cast<std::int64_t>(now);
    }
    const auto of_process = domain_of(guid, known);
    const std::string sent(text_of(spec, "domain"));
    if (of_process && !sent.empty() && sent != *of_process) {
        return fail(Errc::invalid, "domain",
                    fmt::format("'{}' is not that of process '{}', which is '{}'", sent, guid, *of_process));
    }
    if (!sent.empty()) return {};
    if (!of_process && before == nullptr) {
        return fail(Errc::invalid, "domain",
                    fmt::format("is missing, and process '{}' is unknown: no desired LRP says it", guid));
    }
    spec["domain"] = of_process ? *of_process : std::string(text_of(*before, "domain"));
    return {};
}

Result<BatchWrite> Receptor::place_of(const json::Object& spec) {
    const std::string guid(text_of(spec, "process_guid"));
    const auto index = resource::int_of(spec, "index");
    if (guid.empty()) return fail(Errc::invalid, "process_guid", "is missing");
    if (!index || *index < 0 || *index > std::numeric_limits<std::int32_t>::max()) {
        return fail(Errc::invalid, "index", index ? fmt::format("{} is outside 0..2147483647", *index) : "is missing");
    }
    const auto* evacuating = spec.if_contains("evacuating");
    const bool leaving = evacuating != nullptr && evacuating->is_bool() && evacuating->get_bool();
    BatchWrite write;
    write.name = resource::actual_lrp_name(guid, *index, leaving);
    write.applies = is_of(guid, "");
    return write;
}

tl::expected<BatchWrite, Answer> Receptor::actual_write(json::Object spec, KnownDomains& known) const {
    auto write = place_of(spec);
    if (!write) return tl::unexpected(invalid_field(write.error()));
    if (auto complete = complete_actual(spec, write->name, known); !complete) {
        return tl::unexpected(invalid_field(complete.error()));
    }
    write->object = json::Object{{"apiVersion", actual_.api_version()},
                                 {"kind", actual_.name},
                                 {"metadata", json::Object{{"name", write->name}}},
                                 {"spec", std::move(spec)}};
    return std::move(*write);
}

Answer Receptor::put_actual(const Operation& operation, std::string_view body, const Caller& caller) {
    const auto index = parse_index(operation.index);
    if (!index) return invalid_request(bad_index);
    const auto value = parse_body(body);
    if (!value) return invalid_json(value.error().text());
    auto spec = read_actual(*value);
    if (!spec) return invalid_json(spec.error().text());
    const bool same_process = !spec->contains("process_guid") || text_of(*spec, "process_guid") == operation.guid;
    if (!same_process) return invalid_lrp("Invalid field: process_guid (is another than in the path)");
    if (resource::int_of(*spec, "index").value_or(*index) != *index) {
        return invalid_lrp("Invalid field: index (is another than in the path)");
    }
    (*spec)["process_guid"] = operation.guid;
    (*spec)["index"] = *index;
    const auto* sent = spec->if_contains("evacuating");
    if (!operation.evacuating_text.empty() && sent != nullptr && sent->is_bool() &&
        sent->get_bool() != operation.evacuating) {
        return invalid_lrp("Invalid field: evacuating (is another than in the query)");
    }
    if (operation.evacuating) (*spec)["evacuating"] = true;
    KnownDomains known;
    auto write = actual_write(std::move(*spec), known);
    if (!write) return std::move(write.error());
    if (auto missing = ensure_namespace()) return std::move(*missing);
    const auto replies = rest_.write_many(actual_, namespace_, {*write}, query(caller));
    const auto& reply = replies.front();
    if (reply.code >= 300) return problem_of(reply);
    return {.code = reply.code == 201 ? 201 : 204};
}

// An item of many, refused in the words in which it would be refused alone.
tl::expected<BatchWrite, Answer> Receptor::actual_item(const json::Value& sent, bool removes,
                                                       KnownDomains& known) const {
    auto spec = read_actual(sent);
    if (!spec) return tl::unexpected(invalid_json(spec.error().text()));
    if (!removes) return actual_write(std::move(*spec), known);
    auto write = place_of(*spec);
    if (!write) return tl::unexpected(invalid_field(write.error()));
    write->applies = is_of(std::string(text_of(*spec, "process_guid")), std::string(text_of(*spec, "instance_guid")));
    return std::move(*write);
}

// Why a removal found nothing: a late one of an instance that has a successor is told so.
Answer Receptor::nothing_to_remove(const json::Value& sent, const std::string& name) const {
    const std::string guid(json::string_at(sent, "process_guid"));
    const auto index = std::to_string(json::int_at(sent, "index").value_or(0));
    const auto found = find(actual_, name, guid);
    if (!found || !*found || json::string_at(sent, "instance_guid").empty()) return actual_not_found(guid, index);
    const auto present = json::parse((*found)->value());
    return another_instance(guid, index, present ? json::string_at(*present, "spec.instance_guid") : "");
}

Answer Receptor::write_many_actual(std::string_view body, const Caller& caller) {
    const auto value = parse_body(body);
    if (!value) return invalid_json(value.error().text());
    struct Item {
        const json::Value* sent;
        bool removes;
        std::optional<std::size_t> write;  // its number among those that are tried
        std::string error;                 // else why not
    };
    std::vector<Item> items;
    std::vector<BatchWrite> writes;
    KnownDomains known;
    for (const auto* list : {"upsert", "remove"}) {
        const auto* sent = value->get_object().if_contains(list);
        if (sent == nullptr || sent->is_null()) continue;
        if (!sent->is_array()) return invalid_json(fmt::format("{}: must be a list", list));
        const bool removes = std::string_view(list) == "remove";
        for (const auto& one : sent->get_array()) {
            Item item{&one, removes, std::nullopt, {}};
            auto write = actual_item(one, removes, known);
            if (write) {
                item.write = writes.size();
                writes.push_back(std::move(*write));
            } else {
                item.error = std::move(write.error().body);
            }
            items.push_back(std::move(item));
        }
    }
    if (auto missing = ensure_namespace()) return std::move(*missing);
    const auto replies = rest_.write_many(actual_, namespace_, writes, query(caller));
    std::string out = R"({"results":[)";
    for (const auto& item : items) {
        int code = item.write ? replies[*item.write].code : 400;
        std::string error = item.error;
        if (item.write && code >= 300) {
            auto problem = problem_of(replies[*item.write]);
            if (item.removes && code == 404) {
                problem = nothing_to_remove(*item.sent, writes[*item.write].name);
            }
            code = problem.code;
            error = std::move(problem.body);
        } else if (code < 300) {
            code = code == 201 ? 201 : 204;
        }
        if (out.back() == '}') out += ',';
        out += R"({"process_guid":)";
        json::append_quoted(json::string_at(*item.sent, "process_guid"), out);
        out += fmt::format(R"(,"index":{},"evacuating":{},"code":{})", json::int_at(*item.sent, "index").value_or(-1),
                           json::bool_at(*item.sent, "evacuating"), code);
        if (!error.empty()) out += R"(,"error":)" + error;
        out += '}';
    }
    return json(200, out + "]}");
}

}  // namespace fairlead::apiserver::receptor
