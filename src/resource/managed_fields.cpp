// The bookkeeping of fieldmanager of kube-apiserver over the algebra of field_set.h. Pure.
#include "resource/managed_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "json/quote.h"
#include "resource/typed_fields.h"

namespace fairlead::resource {

namespace {

using Operation = ManagedEntry::Operation;

// Nobody owns what identifies an object or what only the server writes.
constexpr std::array<std::string_view, 11> unowned_metadata = {"name",
                                                               "namespace",
                                                               "uid",
                                                               "selfLink",
                                                               "creationTimestamp",
                                                               "generation",
                                                               "managedFields",
                                                               "resourceVersion",
                                                               "deletionTimestamp",
                                                               "clusterName",
                                                               "deletionGracePeriodSeconds"};

constexpr std::array<std::string_view, 2> unowned = {"apiVersion", "kind"};

std::string_view operation_name(Operation operation) {
    switch (operation) {
        case Operation::apply:
            return "Apply";
        case Operation::update:
            return "Update";
    }
    return "";
}

void keep_only(FieldSet& set, std::string_view name) {
    FieldSet kept;
    if (auto* entry = set.find(field_element(name))) kept.append(std::move(*entry));
    set = std::move(kept);
}

// The part of a set that a writer of this subresource can own.
void strip(FieldSet& set, const Kind& kind, std::string_view subresource) {
    set.shorten(max_tracked_steps);
    if (subresource == "status") return keep_only(set, "status");
    set.erase_fields(unowned);
    if (kind.status_subresource) set.erase(field_element("status"));
    auto* metadata = set.find(field_element("metadata"));
    if (metadata == nullptr) return;
    metadata->member = false;
    metadata->below.erase_fields(unowned_metadata);
    if (metadata->empty()) set.erase(field_element("metadata"));
}

Comparison compare_for(const Kind& kind, std::string_view subresource, const json::Value* before,
                       const json::Value& after) {
    auto comparison = compare(before, after, kind.schema);
    strip(comparison.changed, kind, subresource);
    strip(comparison.removed, kind, subresource);
    return comparison;
}

void drop_empty(ManagedFields& entries) {
    std::erase_if(entries, [](const ManagedEntry& entry) { return entry.fields.empty(); });
}

ManagedEntry entry_of(const Kind& kind, const FieldWriter& writer, Operation operation) {
    return {writer.manager.empty() ? "unknown" : writer.manager,
            operation,
            kind.api_version(),
            writer.time,
            writer.subresource,
            {}};
}

ManagedEntry* find_same(ManagedFields& entries, const ManagedEntry& wanted) {
    const auto at =
        std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.same_manager(wanted); });
    return at == entries.end() ? nullptr : &*at;
}

bool older(const ManagedEntry& a, const ManagedEntry& b) {
    return std::tie(a.operation, a.time, a.manager, a.api_version, a.subresource) <
           std::tie(b.operation, b.time, b.manager, b.api_version, b.subresource);
}

// Beyond the limit the oldest updates become one entry, with the time of the youngest among them.
void cap_updaters(ManagedFields& entries) {
    const auto updates = [&] {
        return static_cast<std::size_t>(std::count_if(
            entries.begin(), entries.end(), [](const auto& entry) { return entry.operation == Operation::update; }));
    };
    if (updates() <= max_update_managers) return;
    std::sort(entries.begin(), entries.end(), older);
    while (updates() > max_update_managers) {
        const auto first = std::find_if(entries.begin(), entries.end(),
                                        [](const auto& entry) { return entry.operation == Operation::update; });
        const auto second = first + 1;
        second->manager = ancient_manager;
        second->subresource.clear();
        second->fields = unite(first->fields, second->fields);
        entries.erase(first);
        // Another bucket may be there from before.
        for (auto other = entries.begin(); other != entries.end(); ++other) {
            const auto bucket = std::find_if(other + 1, entries.end(), [&](const auto& e) {
                return other->manager == ancient_manager && e.same_manager(*other);
            });
            if (bucket == entries.end()) continue;
            bucket->fields = unite(bucket->fields, other->fields);
            entries.erase(other);
            break;
        }
    }
}

std::string shown_manager(const ManagedEntry& entry) {
    std::string text = json::serialize(json::Value(json::String(entry.manager)));
    if (!entry.subresource.empty()) text += fmt::format(" with subresource \"{}\"", entry.subresource);
    if (entry.operation == Operation::update) text += " using " + entry.api_version;
    return text;
}

// What the others own of what would change.
std::vector<FieldConflict> conflicts_with(const ManagedFields& entries, const ManagedEntry& own,
                                          const FieldSet& changed) {
    std::vector<FieldConflict> out;
    for (const auto& entry : entries) {
        if (entry.same_manager(own)) continue;
        for (auto& path : intersect(entry.fields, changed).paths()) {
            out.push_back({shown_manager(entry), std::move(path)});
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.manager < b.manager; });
    return out;
}

Result<ManagedEntry> decode_entry(const json::Value& value) {
    const auto wrong = [](std::string_view field, std::string_view rule) {
        return fail(Errc::invalid, std::string(field), std::string(rule));
    };
    if (!value.is_object()) return wrong("", "must be an object");
    ManagedEntry entry;
    const auto operation = json::string_at(value, "operation");
    if (operation != "Apply" && operation != "Update") return wrong("operation", "must be `Apply` or `Update`");
    entry.operation = operation == "Apply" ? Operation::apply : Operation::update;
    if (json::string_at(value, "fieldsType") != "FieldsV1") return wrong("fieldsType", "must be `FieldsV1`");
    entry.manager = json::string_at(value, "manager");
    entry.api_version = json::string_at(value, "apiVersion");
    entry.time = json::string_at(value, "time");
    entry.subresource = json::string_at(value, "subresource");
    const auto* fields = json::find(value, "fieldsV1");
    if (fields == nullptr) return entry;
    auto set = parse_field_set(*fields);
    if (!set) return fail(std::move(set.error()));
    entry.fields = std::move(*set);
    return entry;
}

}  // namespace

bool ManagedEntry::same_manager(const ManagedEntry& other) const {
    // An applier stays the same when it moves to another version of the API; updates of two versions are two managers.
    return operation == other.operation && manager == other.manager && subresource == other.subresource &&
           (operation == Operation::apply || api_version == other.api_version);
}

Result<ManagedFields> decode_managed_fields(const json::Value& list) {
    const auto* array = list.if_array();
    if (array == nullptr) return fail(Errc::invalid, "metadata.managedFields", "must be a list");
    ManagedFields out;
    out.reserve(array->size());
    for (const auto& item : *array) {
        auto entry = decode_entry(item);
        if (!entry) return fail(std::move(entry.error()));
        if (auto* same = find_same(out, *entry)) {
            same->fields = unite(same->fields, entry->fields);
            same->time = std::max(same->time, entry->time);
        } else {
            out.push_back(std::move(*entry));
        }
    }
    drop_empty(out);
    return out;
}

json::Value encode_managed_fields(ManagedFields entries) {
    std::sort(entries.begin(), entries.end(), older);
    json::Array out;
    out.reserve(entries.size());
    for (const auto& entry : entries) {
        json::Object item;
        item.reserve(7);
        item.emplace("manager", entry.manager);
        item.emplace("operation", operation_name(entry.operation));
        item.emplace("apiVersion", entry.api_version);
        if (!entry.time.empty()) item.emplace("time", entry.time);
        item.emplace("fieldsType", "FieldsV1");
        item.emplace("fieldsV1", to_value(entry.fields));
        if (!entry.subresource.empty()) item.emplace("subresource", entry.subresource);
        out.push_back(std::move(item));
    }
    return out;
}

std::string managed_fields_text(ManagedFields entries) {
    std::sort(entries.begin(), entries.end(), older);
    std::string out = "[";
    const auto member = [&](std::string_view name, std::string_view value) {
        out += fmt::format("\"{}\":", name);
        json::append_quoted(value, out);
        out += ',';
    };
    for (const auto& entry : entries) {
        if (out.size() > 1) out += ',';
        out += '{';
        member("manager", entry.manager);
        member("operation", operation_name(entry.operation));
        member("apiVersion", entry.api_version);
        if (!entry.time.empty()) member("time", entry.time);
        member("fieldsType", "FieldsV1");
        out += R"("fieldsV1":)";
        append_text(entry.fields, out);
        if (!entry.subresource.empty()) {
            out += R"(,"subresource":)";
            json::append_quoted(entry.subresource, out);
        }
        out += '}';
    }
    return out += ']';
}

bool is_reset(const json::Value& managed_fields) {
    const auto* list = managed_fields.if_array();
    return list != nullptr && list->size() == 1 && list->front().is_object() && list->front().get_object().empty();
}

ManagedFields managed_fields_of(const json::Value& object) {
    const auto* list = json::find(object, "metadata.managedFields");
    if (list == nullptr) return {};
    auto entries = decode_managed_fields(*list);
    return entries ? std::move(*entries) : ManagedFields();
}

void set_managed_fields(json::Value& object, ManagedFields entries) {
    if (entries.empty()) {
        json::erase_at(object, "metadata.managedFields");
    } else {
        json::set_at(object, "metadata.managedFields", encode_managed_fields(std::move(entries)));
    }
}

ManagedFields track_update(const Kind& kind, const json::Value* before, const json::Value& after, ManagedFields entries,
                           const FieldWriter& writer) {
    if (before != nullptr && entries.empty()) return entries;
    auto comparison = compare_for(kind, writer.subresource, before, after);
    if (comparison.same()) return entries;
    for (auto& entry : entries) {
        entry.fields = subtract(subtract(entry.fields, comparison.changed), comparison.removed);
    }
    auto own = entry_of(kind, writer, Operation::update);
    own.fields = std::move(comparison.changed);
    if (auto* same = find_same(entries, own); same != nullptr && !own.fields.empty()) {
        same->fields = unite(same->fields, own.fields);
        same->time = own.time;
    } else if (same == nullptr) {
        entries.push_back(std::move(own));
    }
    drop_empty(entries);
    cap_updaters(entries);
    return entries;
}

tl::expected<Applied, std::vector<FieldConflict>> apply_config(const Kind& kind, const json::Value* live,
                                                               const json::Value& config, const FieldWriter& writer,
                                                               const ApplyOptions& options) {
    ManagedFields entries;
    if (live != nullptr) {
        entries = managed_fields_of(*live);
        // Somebody must own what was there before anybody kept count, or the first applier would own nothing less.
        if (entries.empty()) {
            const FieldWriter first{std::string(first_apply_manager), "", writer.time};
            entries = track_update(kind, nullptr, *live, {}, first);
        }
    }
    auto own = entry_of(kind, writer, Operation::apply);
    own.fields = fields_of(config, kind.schema);
    strip(own.fields, kind, writer.subresource);
    FieldSet last;
    if (auto* same = find_same(entries, own)) {
        last = std::move(same->fields);
        const bool owns_the_same = last == own.fields && same->api_version == own.api_version;
        if (owns_the_same) own.time = same->time;
        *same = own;
    } else {
        entries.push_back(own);
    }
    Applied result;
    result.object = live != nullptr ? merge_config(*live, config, kind.schema) : config;
    json::erase_at(result.object, "metadata.managedFields");
    if (live == nullptr) {
        result.managed = std::move(entries);
        drop_empty(result.managed);
        return result;
    }
    FieldSet managed;
    // Belongs to nobody, and stays.
    managed.insert({field_element("metadata"), field_element("name")});
    for (const auto& entry : entries) managed = unite(managed, entry.fields);
    remove_unmanaged(result.object, kind.schema, last, managed);
    const auto comparison = compare_for(kind, writer.subresource, live, result.object);
    if (!options.force) {
        auto conflicts = conflicts_with(entries, own, subtract(comparison.changed, options.allowed));
        if (!conflicts.empty()) return tl::unexpected(std::move(conflicts));
    }
    for (auto& entry : entries) {
        if (entry.same_manager(own)) {
            if (!comparison.same()) entry.time = writer.time;
        } else {
            entry.fields = subtract(entry.fields, comparison.changed);
        }
        entry.fields = subtract(entry.fields, comparison.removed);
    }
    drop_empty(entries);
    // What differs in the order of items alone is no difference.
    if (comparison.same()) {
        result.object = *live;
        json::erase_at(result.object, "metadata.managedFields");
    }
    result.managed = std::move(entries);
    return result;
}

FieldSet last_applied_fields(const Kind& kind, const json::Value& live) {
    const auto* annotations = json::find(live, "metadata.annotations");
    const auto* text = annotations != nullptr && annotations->is_object()
                           ? annotations->get_object().if_contains(last_applied_annotation)
                           : nullptr;
    if (text == nullptr || !text->is_string()) return {};
    const auto config = json::parse(json::view(text->get_string()));
    if (!config || !config->is_object()) return {};
    const auto comparison = compare(&*config, live, kind.schema);
    return subtract(subtract(fields_of(*config, kind.schema), comparison.changed), comparison.removed);
}

bool same_ownership(const ManagedFields& a, const ManagedFields& b) {
    const auto contains = [](const ManagedFields& list, const ManagedEntry& wanted) {
        return std::any_of(list.begin(), list.end(), [&](const auto& entry) {
            return entry.same_manager(wanted) && entry.fields == wanted.fields &&
                   entry.api_version == wanted.api_version;
        });
    };
    return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& e) { return contains(b, e); });
}

}  // namespace fairlead::resource
