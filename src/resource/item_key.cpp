// Keys of list items as text. Pure.
#include "resource/item_key.h"

#include <algorithm>

#include "resource/describe.h"

namespace fairlead::resource {

namespace {

void append(const json::Value& value, std::string& out) {
    if (const auto whole = as_integer(value)) {
        out += std::to_string(*whole);
    } else {
        json::serialize_to(value, out);  // strings are quoted, so "1" is not 1
    }
}

}  // namespace

std::string item_key(const json::Value& item, const std::vector<std::string>& keys) {
    std::string out;
    if (keys.empty()) {
        append(item, out);
        return out;
    }
    const json::Object* object = item.if_object();
    for (const std::string& key : keys) {
        const json::Value* value = object != nullptr ? object->if_contains(key) : nullptr;
        if (value != nullptr) append(*value, out);
        out += '\n';  // never inside a serialized value
    }
    return out;
}

ItemIndex::ItemIndex(const json::Array& items, const std::vector<std::string>& keys) {
    for (std::size_t i = 0; i < items.size(); ++i) add(item_key(items[i], keys), i);
}

const std::vector<std::size_t>* ItemIndex::find(const std::string& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &found->second.places;
}

std::optional<std::size_t> ItemIndex::take(const std::string& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    auto& [places, taken] = found->second;
    return taken < places.size() ? std::optional(places[taken++]) : std::nullopt;
}

std::vector<std::size_t> ItemIndex::repeated() const {
    std::vector<std::size_t> out;
    for (const auto& [key, entry] : places_) out.insert(out.end(), entry.places.begin() + 1, entry.places.end());
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace fairlead::resource
