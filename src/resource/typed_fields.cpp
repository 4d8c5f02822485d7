// Walks over values and their schema side by side. Depth is bounded by json::max_depth, so the walks recurse. Pure.
#include "resource/typed_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "resource/field_error.h"
#include "resource/member_schema.h"

namespace fairlead::resource {

namespace {

// How a value is taken apart.
enum class Shape { leaf, map, keyed, set };

Shape shape_of(const json::Value& value, const Schema& schema) {
    if (value.is_object()) {
        const bool map = schema.type == Type::object || schema.type == Type::map || schema.type == Type::any;
        return map ? Shape::map : Shape::leaf;
    }
    if (!value.is_array() || schema.type != Type::array || !schema.items) return Shape::leaf;
    const auto& items = value.get_array();
    if (!schema.list_map_keys.empty()) {
        const bool objects = std::all_of(items.begin(), items.end(), [](const auto& item) { return item.is_object(); });
        return objects ? Shape::keyed : Shape::leaf;
    }
    return schema.set_list ? Shape::set : Shape::leaf;
}

// The key member of an item, or its default; null if there is neither.
const json::Value* key_member(const json::Object& item, const std::string& name, const Schema& schema) {
    if (const auto* value = item.if_contains(name); value != nullptr && !value->is_null()) return value;
    const Property* property = schema.find(name);
    return property != nullptr && property->schema.default_value ? &*property->schema.default_value : nullptr;
}

PathElement item_element(const json::Value& item, const Schema& list, Shape shape) {
    if (shape == Shape::set) return value_element(item);
    json::Object key;
    for (const auto& name : list.list_map_keys) {
        const auto* value = key_member(item.get_object(), name, *list.items);
        key.emplace(name, value != nullptr ? *value : json::Value(nullptr));
    }
    return key_element(key);
}

struct Child {
    PathElement element;
    const json::Value* value = nullptr;
    const Schema* schema = nullptr;
};

// Ascending. Names are unique; of list items with the same key the first counts.
template <class Elements>
void sort_elements(Elements& list, Shape shape) {
    const auto before = [](const auto& a, const auto& b) { return a.element < b.element; };
    if (shape == Shape::map) {
        std::sort(list.begin(), list.end(), before);
        return;
    }
    std::stable_sort(list.begin(), list.end(), before);
    list.erase(
        std::unique(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.element == b.element; }),
        list.end());
}

// What stands directly below a value that is no leaf, ascending; of items with the same key the first.
std::vector<Child> children(const json::Value& value, const Schema& schema, Shape shape) {
    std::vector<Child> out;
    if (shape == Shape::map) {
        out.reserve(value.get_object().size());
        for (const auto& member : value.get_object()) {
            out.push_back({field_element(member.key()), &member.value(), &member_schema(schema, member.key())});
        }
    } else if (shape != Shape::leaf) {
        out.reserve(value.get_array().size());
        for (const auto& item : value.get_array()) {
            out.push_back({item_element(item, schema, shape), &item, schema.items.get()});
        }
    }
    sort_elements(out, shape);
    return out;
}

bool is_named(const Schema& schema, const PathElement& element) {
    return schema.type == Type::object && element.kind == PathElement::Kind::field &&
           schema.find(element.text) != nullptr;
}

FieldSet below(const json::Value& value, const Schema& schema) {
    const Shape shape = shape_of(value, schema);
    FieldSet out;
    for (auto& child : children(value, schema, shape)) {
        const Shape inner = shape_of(*child.value, *child.schema);
        FieldSet deeper = below(*child.value, *child.schema);
        const bool blank_map = inner == Shape::map && child.value->get_object().empty();
        const bool member = inner == Shape::leaf || blank_map || !is_named(schema, child.element);
        out.append({std::move(child.element), member, std::move(deeper)});
    }
    return out;
}

// Every node below a value: what is added or removed with it. On the path of every create, hence apart.
FieldSet everything(const json::Value& value, const Schema& schema) {
    const Shape shape = shape_of(value, schema);
    std::vector<FieldSet::Entry> entries;
    if (shape == Shape::map) {
        entries.reserve(value.get_object().size());
        for (const auto& member : value.get_object()) {
            const auto& inner = member_schema(schema, member.key());
            entries.push_back({field_element(member.key()), true, everything(member.value(), inner)});
        }
    } else if (shape != Shape::leaf) {
        entries.reserve(value.get_array().size());
        for (const auto& item : value.get_array()) {
            entries.push_back({item_element(item, schema, shape), true, everything(item, *schema.items)});
        }
    }
    sort_elements(entries, shape);
    return FieldSet(std::move(entries));
}

struct Node {
    bool changed = false, removed = false;  // the node itself
    Comparison below;
};

Node compare_nodes(const json::Value* before, const json::Value* after, const Schema& schema);

// Takes the parts of both values that belong together.
Comparison compare_children(const std::vector<Child>& before, const std::vector<Child>& after) {
    Comparison out;
    auto old = before.begin();
    auto now = after.begin();
    while (old != before.end() || now != after.end()) {
        const bool gone = now == after.end() || (old != before.end() && old->element < now->element);
        const bool fresh = !gone && (old == before.end() || now->element < old->element);
        const Child& child = gone ? *old : *now;
        Node node = compare_nodes(fresh ? nullptr : old->value, gone ? nullptr : now->value, *child.schema);
        if (node.changed || !node.below.changed.empty()) {
            out.changed.append({child.element, node.changed, std::move(node.below.changed)});
        }
        if (node.removed || !node.below.removed.empty()) {
            out.removed.append({child.element, node.removed, std::move(node.below.removed)});
        }
        if (!fresh) ++old;
        if (!gone) ++now;
    }
    return out;
}

Node compare_nodes(const json::Value* before, const json::Value* after, const Schema& schema) {
    const Shape old_shape = before != nullptr ? shape_of(*before, schema) : Shape::leaf;
    const Shape new_shape = after != nullptr ? shape_of(*after, schema) : Shape::leaf;
    Node node;
    if (before == nullptr || after == nullptr) {
        node.changed = before == nullptr;
        node.removed = after == nullptr;
        if (after != nullptr) node.below.changed = everything(*after, schema);
        if (before != nullptr) node.below.removed = everything(*before, schema);
        return node;
    }
    if (old_shape != new_shape) {
        node.changed = true;
    } else if (old_shape == Shape::leaf) {
        node.changed = !json::equal(*before, *after);
    }
    // Equal parts, by far the most, are not taken apart.
    if (old_shape == new_shape && (old_shape == Shape::leaf || json::equal(*before, *after))) return node;
    node.below = compare_children(children(*before, schema, old_shape), children(*after, schema, new_shape));
    return node;
}

json::Value merged(const json::Value& live, const json::Value& config, const Schema& schema);

json::Value merged_object(const json::Object& live, const json::Object& config, const Schema& schema) {
    json::Object out = live;
    for (const auto& member : config) {
        json::Value* present = out.if_contains(member.key());
        if (present == nullptr) {
            out.emplace(member.key(), member.value());
        } else {
            *present = merged(*present, member.value(), member_schema(schema, member.key()));
        }
    }
    return out;
}

// Places that are taken by items of both lists are filled in the order of the configuration; items that only the
// configuration has come right before the next one that both have, or last.
json::Value merged_items(const json::Array& live, const json::Array& config, const Schema& schema, Shape shape) {
    std::map<PathElement, const json::Value*> present;
    for (const auto& item : live) present.emplace(item_element(item, schema, shape), &item);
    std::map<PathElement, const json::Value*> wanted;
    std::vector<std::pair<const json::Value*, const json::Value*>> order;  // of the configuration: live, wanted
    order.reserve(config.size());
    for (const auto& item : config) {
        auto element = item_element(item, schema, shape);
        const auto found = present.find(element);
        if (!wanted.emplace(std::move(element), &item).second) continue;
        order.emplace_back(found == present.end() ? nullptr : found->second, &item);
    }
    json::Array out;
    out.reserve(live.size() + config.size());
    auto next = order.begin();
    const auto take = [&] {
        const auto [old, item] = *next++;
        out.push_back(old == nullptr ? *item : merged(*old, *item, *schema.items));
    };
    for (const auto& item : live) {
        if (!wanted.contains(item_element(item, schema, shape))) {
            out.push_back(item);
            continue;
        }
        while (next != order.end() && next->first == nullptr) take();
        if (next != order.end()) take();
    }
    while (next != order.end()) take();
    return out;
}

json::Value merged(const json::Value& live, const json::Value& config, const Schema& schema) {
    const Shape shape = shape_of(config, schema);
    if (shape != shape_of(live, schema) || shape == Shape::leaf) return config;
    if (shape == Shape::map) return merged_object(live.get_object(), config.get_object(), schema);
    return merged_items(live.get_array(), config.get_array(), schema, shape);
}

const FieldSet& nothing() {
    static const FieldSet set;
    return set;
}

// Whether a child goes; what stays loses its own part.
bool leaves(json::Value& child, const PathElement& element, bool named, const Schema& schema, const FieldSet& given_up,
            const FieldSet& managed) {
    const auto* last = given_up.find(element);
    if (last == nullptr) return false;
    const auto* kept = managed.find(element);
    const bool was_owned = last->member || named;
    const bool is_owned = kept != nullptr && (kept->member || named);
    if (was_owned && !is_owned) return true;
    remove_unmanaged(child, schema, last->below, kept != nullptr ? kept->below : nothing());
    return false;
}

class Checker {
public:
    explicit Checker(std::vector<std::string>& out) : out_(out) {}

    void check(const json::Value& value, const Schema& schema, const std::string& path) {
        const Shape shape = shape_of(value, schema);
        if (shape == Shape::map) {
            for (const auto& member : value.get_object()) {
                const std::string here = path + "." + std::string(member.key());
                const bool declared = schema.type != Type::object || schema.keep_unknown || schema.find(member.key());
                if (declared) {
                    check(member.value(), member_schema(schema, member.key()), here);
                } else {
                    say(here + ": field not declared in schema");
                }
            }
        } else if (value.is_array() && schema.type == Type::array && schema.items) {
            check_items(value.get_array(), schema, shape, path);
        }
    }

private:
    void say(std::string text) {
        if (out_.size() < max_field_errors) out_.push_back(std::move(text));
    }

    void check_items(const json::Array& items, const Schema& schema, Shape shape, const std::string& path) {
        std::map<PathElement, std::size_t> seen;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (shape == Shape::keyed && !has_key(items[i].get_object(), i, schema, path)) continue;
            std::string here = path;
            if (shape == Shape::leaf) {
                here += "[" + std::to_string(i) + "]";
            } else {
                const auto element = item_element(items[i], schema, shape);
                element.append_shown(here);
                if (!seen.emplace(element, i).second) {
                    say(fmt::format("{}: duplicate entries for key {}", path, here.substr(path.size())));
                }
            }
            check(items[i], *schema.items, here);
        }
    }

    bool has_key(const json::Object& item, std::size_t index, const Schema& schema, const std::string& path) {
        for (const auto& name : schema.list_map_keys) {
            if (key_member(item, name, *schema.items) != nullptr) continue;
            say(fmt::format(
                "{}: element {}: associative list with keys has an element that omits key field \"{}\" (and "
                "doesn't have default value)",
                path, index, name));
            return false;
        }
        return true;
    }

    std::vector<std::string>& out_;
};

}  // namespace

FieldSet fields_of(const json::Value& config, const Schema& schema) { return below(config, schema); }

Comparison compare(const json::Value* before, const json::Value& after, const Schema& schema) {
    return compare_nodes(before, &after, schema).below;
}

json::Value merge_config(const json::Value& live, const json::Value& config, const Schema& schema) {
    return merged(live, config, schema);
}

void remove_unmanaged(json::Value& object, const Schema& schema, const FieldSet& given_up, const FieldSet& managed) {
    const Shape shape = shape_of(object, schema);
    if (given_up.empty() || shape == Shape::leaf) return;
    // Built anew: erasing one by one would move all that follow each time.
    if (shape == Shape::map) {
        json::Object kept;
        kept.reserve(object.get_object().size());
        for (auto& member : object.get_object()) {
            const auto element = field_element(member.key());
            if (!leaves(member.value(), element, is_named(schema, element), member_schema(schema, member.key()),
                        given_up, managed)) {
                kept.emplace(member.key(), std::move(member.value()));
            }
        }
        object = std::move(kept);
        return;
    }
    json::Array kept;
    kept.reserve(object.get_array().size());
    for (auto& item : object.get_array()) {
        if (!leaves(item, item_element(item, schema, shape), false, *schema.items, given_up, managed)) {
            kept.push_back(std::move(item));
        }
    }
    object = std::move(kept);
}

std::vector<std::string> untypable(const json::Value& config, const Schema& schema) {
    std::vector<std::string> out;
    Checker(out).check(config, schema, "");
    return out;
}

}  // namespace fairlead::resource
