// Strategic merge patch, as k8s.io/apimachinery/pkg/util/strategicpatch does it, driven by our schemas. Pure.
//
// Directives: "$patch": replace | delete | merge in an object or in an item of a keyed list; "$retainKeys": [names];
// "$setElementOrder/<list>": [order]; "$deleteFromPrimitiveList/<list>": [values].
#include "resource/strategic_merge.h"

#include <fmt/core.h>

#include "resource/describe.h"
#include "resource/field_error.h"
#include "resource/item_key.h"
#include "resource/member_schema.h"
#include "resource/path.h"

namespace fairlead::resource {

namespace {

constexpr std::string_view patch_directive = "$patch";
constexpr std::string_view retain_directive = "$retainKeys";
constexpr std::string_view order_directive = "$setElementOrder/";
constexpr std::string_view delete_directive = "$deleteFromPrimitiveList/";
constexpr std::size_t max_same_key = 100;

tl::unexpected<Error> malformed(const Path& path, std::string message) {
    return fail(Errc::invalid, path.text(), std::move(message));
}

bool is_directive(std::string_view name) {
    return name == patch_directive || name == retain_directive || name.starts_with(order_directive) ||
           name.starts_with(delete_directive);
}

std::string_view patch_action(const json::Value& patch) {
    const json::Object* object = patch.if_object();
    const json::Value* action = object != nullptr ? object->if_contains(patch_directive) : nullptr;
    return action != nullptr && action->is_string() ? json::view(action->get_string()) : std::string_view{};
}

// A patch that lands where nothing was still holds directives and nulls that must not be stored.
json::Value cleaned(const json::Value& patch) {
    if (const json::Array* array = patch.if_array()) {
        json::Array out;
        for (const json::Value& item : *array) {
            const std::string_view action = patch_action(item);
            const bool directive_only = item.is_object() && item.get_object().size() == 1 && !action.empty();
            if (action != "delete" && !directive_only) out.push_back(cleaned(item));
        }
        return out;
    }
    const json::Object* object = patch.if_object();
    if (object == nullptr) return patch;
    json::Object out;
    for (const auto& member : *object) {
        if (is_directive(member.key()) || member.value().is_null()) continue;
        if (patch_action(member.value()) == "delete") continue;
        out.emplace(member.key(), cleaned(member.value()));
    }
    return out;
}

class Merger {
public:
    Result<void> merge(json::Value& target, const json::Value& patch, const Schema& schema, const Path& path) {
        if (patch.is_object()) return merge_object(target, patch.get_object(), schema, path);
        if (patch.is_array() && target.is_array()) {
            return merge_array(target.get_array(), patch.get_array(), schema, path);
        }
        target = cleaned(patch);
        return {};
    }

private:
    Result<void> merge_object(json::Value& target, const json::Object& patch, const Schema& schema, const Path& path) {
        if (const json::Value* action = patch.if_contains(patch_directive)) {
            if (*action == "replace" || *action == "delete") {
                target = *action == "replace" ? cleaned(json::Value(patch)) : json::Value(json::Object());
                return {};
            }
            if (*action != "merge") return malformed(path, fmt::format("unknown $patch directive {}", shown(*action)));
        }
        if (!target.is_object()) target = json::Object();
        json::Object& object = target.get_object();
        if (auto retained = retain(object, patch, path); !retained) return retained;
        for (const auto& member : patch) {
            const std::string_view name = member.key();
            if (is_directive(name)) continue;
            if (auto merged = merge_member(object, name, member.value(), schema, path); !merged) return merged;
        }
        for (const auto& member : patch) {
            const std::string_view name = member.key();
            Result<void> done;
            if (name.starts_with(delete_directive)) {
                done = delete_values(object, name.substr(delete_directive.size()), member.value(), path);
            } else if (name.starts_with(order_directive)) {
                done = set_order(object, name.substr(order_directive.size()), member.value(), schema, path);
            }
            if (!done) return done;
        }
        return {};
    }

    Result<void> merge_member(json::Object& object, std::string_view name, const json::Value& patch,
                              const Schema& schema, const Path& path) {
        if (patch.is_null() || (patch.is_object() && patch_action(patch) == "delete")) {
            object.stable_erase(name);
            return {};
        }
        json::Value* present = object.if_contains(name);
        if (present == nullptr) {
            object.emplace(name, cleaned(patch));
            return {};
        }
        return merge(*present, patch, member_schema(schema, name), path.member(name));
    }

    // Only the named members, of those that the object had, stay.
    static Result<void> retain(json::Object& object, const json::Object& patch, const Path& path) {
        const json::Value* keys = patch.if_contains(retain_directive);
        if (keys == nullptr) return {};
        if (!keys->is_array()) return malformed(path.member(retain_directive), "must be a list of member names");
        const ItemIndex names(keys->get_array(), {});
        const auto listed = [&](std::string_view name) {
            return names.find(item_key(json::Value(name), {})) != nullptr;
        };
        for (const auto& member : patch) {
            if (!is_directive(member.key()) && !member.value().is_null() && !listed(member.key())) {
                return malformed(path.member(retain_directive),
                                 fmt::format("must name all members of the patch, and \"{}\" is missing",
                                             std::string_view(member.key())));
            }
        }
        json::Object kept;
        for (auto& member : object) {
            if (listed(member.key())) kept.emplace(member.key(), std::move(member.value()));
        }
        object = std::move(kept);
        return {};
    }

    static Result<void> delete_values(json::Object& object, std::string_view name, const json::Value& values,
                                      const Path& path) {
        if (!values.is_array()) return malformed(path.member(name), "$deleteFromPrimitiveList must be a list");
        json::Value* list = object.if_contains(name);
        if (list == nullptr || !list->is_array()) return {};
        const ItemIndex gone(values.get_array(), {});
        json::Array kept;
        for (json::Value& item : list->get_array()) {
            if (gone.find(item_key(item, {})) == nullptr) kept.push_back(std::move(item));
        }
        *list = std::move(kept);
        return {};
    }

    Result<void> merge_array(json::Array& target, const json::Array& patch, const Schema& schema, const Path& path) {
        if (!schema.list_map_keys.empty()) return merge_keyed(target, patch, schema, path);
        if (!schema.set_list) {
            target = cleaned(json::Value(patch)).get_array();
            return {};
        }
        ItemIndex known(target, {});
        for (const json::Value& item : patch) {
            std::string key = item_key(item, {});
            if (known.find(key) != nullptr) continue;
            known.add(std::move(key), target.size());
            target.push_back(item);
        }
        return {};
    }

    Result<void> merge_keyed(json::Array& target, const json::Array& patch, const Schema& schema, const Path& path) {
        // {"$patch":"replace"} as an item of its own: the other items are the whole new list.
        for (const json::Value& item : patch) {
            if (patch_action(item) == "replace" && item.get_object().size() == 1) {
                target = cleaned(json::Value(patch)).get_array();
                return {};
            }
        }
        const std::vector<std::string> key{schema.list_map_keys.front()};
        ItemIndex index(target, key);
        std::vector<bool> deleted(target.size());
        for (std::size_t i = 0; i < patch.size(); ++i) {
            const json::Value& item = patch[i];
            const Path here = path.item(i);
            if (!item.is_object()) return malformed(here, "items of this list must be objects");
            if (!item.get_object().contains(key.front())) {
                return malformed(here,
                                 fmt::format("{} does not contain declared merge key: {}", shown(item), key.front()));
            }
            const auto* places = index.find(item_key(item, key));
            if (patch_action(item) == "delete") {
                if (places == nullptr) continue;
                for (const std::size_t place : *places) deleted[place] = true;
            } else if (const auto place = find_place(target, places, deleted, item, schema)) {
                if (auto merged = merge(target[*place], item, *schema.items, here); !merged) return merged;
            } else {
                index.add(item_key(item, key), target.size());
                deleted.push_back(false);
                target.push_back(cleaned(item));
            }
        }
        json::Array kept;
        for (std::size_t i = 0; i < target.size(); ++i) {
            if (!deleted[i]) kept.push_back(std::move(target[i]));
        }
        target = std::move(kept);
        return {};
    }

    // The item with the same merge key; if several share it (a port for TCP and for UDP), the one that the other keys
    // of the patch name.
    static std::optional<std::size_t> find_place(const json::Array& target, const std::vector<std::size_t>* places,
                                                 const std::vector<bool>& deleted, const json::Value& item,
                                                 const Schema& schema) {
        if (places == nullptr) return std::nullopt;
        std::optional<std::size_t> found;
        std::size_t count = 0;
        for (const std::size_t place : *places) {
            if (deleted[place]) continue;
            if (same_keys(target[place], item, schema.list_map_keys)) return place;
            found = place;
            // Items that share the merge key are few in anything real, and looking on would cost each with each.
            if (++count == max_same_key) break;
        }
        return count == 1 && !contradict(target[*found], item, schema) ? found : std::nullopt;
    }

    // Do both name one of the other keys, with different values? What only one of them names tells nothing.
    static bool contradict(const json::Value& target, const json::Value& item, const Schema& schema) {
        const json::Object* present = target.if_object();
        return std::any_of(schema.list_map_keys.begin() + 1, schema.list_map_keys.end(), [&](const std::string& key) {
            const json::Value* ours = present != nullptr ? present->if_contains(key) : nullptr;
            const json::Value* theirs = item.get_object().if_contains(key);
            return ours != nullptr && theirs != nullptr && !json::equal(*ours, *theirs);
        });
    }

    // Items that the order names come in that order; the others keep their places behind the item they followed.
    static Result<void> set_order(json::Object& object, std::string_view name, const json::Value& order,
                                  const Schema& schema, const Path& path) {
        if (!order.is_array()) return malformed(path.member(name), "$setElementOrder must be a list");
        json::Value* list = object.if_contains(name);
        if (list == nullptr || !list->is_array()) return {};
        const Schema& list_schema = member_schema(schema, name);
        const bool keyed = !list_schema.list_map_keys.empty();
        const std::vector<std::string> keys =
            keyed ? std::vector<std::string>{list_schema.list_map_keys.front()} : std::vector<std::string>{};
        const ItemIndex wanted(order.get_array(), keys);
        // Each item gets the place of the nearest ordered item before it; a stable sort does the rest.
        std::vector<std::pair<std::size_t, json::Value>> placed;
        std::size_t last = 0;
        for (json::Value& item : list->get_array()) {
            if (const auto* places = wanted.find(item_key(item, keys))) last = places->front() + 1;
            placed.emplace_back(last, std::move(item));
        }
        std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        json::Array out;
        for (auto& [place, item] : placed) out.push_back(std::move(item));
        *list = std::move(out);
        return {};
    }
};

}  // namespace

Result<json::Value> strategic_merge(json::Value target, const json::Value& patch, const Schema& schema) {
    if (!patch.is_object()) return fail(Errc::invalid, "a strategic merge patch must be an object");
    if (auto merged = Merger().merge(target, patch, schema, Path{}); !merged) return fail(std::move(merged.error()));
    return target;
}

}  // namespace fairlead::resource
