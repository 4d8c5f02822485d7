// A set of fields of an object, as managedFields records them (FieldsV1): a tree whose nodes are members of objects,
// items of lists that are maps or sets, or indexes. The algebra of server-side apply is made of these. Plain values, no
// I/O; used by managed_fields.h on any thread.
//
// As JSON: {"f:spec":{".":{},"f:ports":{"k:{\"port\":80}":{".":{},"f:name":{}}}}}; "." says that the node itself is in
// the set and not only what stands below it, {} is a node that is in the set and has nothing below.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace fairlead::resource {

// One step of a path.
struct PathElement {
    enum class Kind { field, key, value, index };  // in the order of output
    Kind kind = Kind::field;
    // field: the name. key: JSON object of the key members, names ascending. value: JSON. index: digits.
    std::string text;

    bool operator==(const PathElement&) const = default;
    std::strong_ordering operator<=>(const PathElement& other) const;
    // "f:name", "k:{...}", "v:...", "i:3".
    void append_to(std::string& out) const;
    // As conflicts show it: ".name", "[port=80,protocol=\"TCP\"]", "[=\"a\"]", "[3]".
    void append_shown(std::string& out) const;
};

PathElement field_element(std::string_view name);
// Of an item of a set; of an item of a list that is a map, by the members that make its key. Values that are equal as
// JSON give one element.
PathElement value_element(const json::Value& item);
PathElement key_element(const json::Object& key);
Result<PathElement> parse_element(std::string_view text);

class FieldSet {
public:
    struct Entry;

    FieldSet() = default;
    // Ascending, none empty, no element twice.
    explicit FieldSet(std::vector<Entry> entries);

    [[nodiscard]] bool empty() const { return entries_.empty(); }
    // Ascending.
    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
    // Null if neither the element nor anything below it is in the set.
    [[nodiscard]] const Entry* find(const PathElement& element) const;
    [[nodiscard]] Entry* find(const PathElement& element);
    // Entries must come in ascending order; what holds nothing is left out.
    void append(Entry entry);
    void erase(const PathElement& element);
    // Takes out the fields with these names and all that stands below them.
    void erase_fields(std::span<const std::string_view> names);
    // Paths longer than `steps` end there.
    void shorten(std::size_t steps);
    void insert(const std::vector<PathElement>& path);
    [[nodiscard]] bool has(const std::vector<PathElement>& path) const;

    // How many paths are in the set, and each of them as text (".spec.host"), in order.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::vector<std::string> paths() const;

    bool operator==(const FieldSet& other) const;

private:
    std::vector<Entry> entries_;
};

struct FieldSet::Entry {
    PathElement element;
    bool member = false;  // the node itself is in the set
    FieldSet below;
    bool operator==(const Entry&) const = default;
    [[nodiscard]] bool empty() const { return !member && below.empty(); }
};

// Paths are compared one by one: what is said about a node says nothing about what stands below it.
FieldSet unite(const FieldSet& a, const FieldSet& b);
FieldSet subtract(const FieldSet& a, const FieldSet& b);
FieldSet intersect(const FieldSet& a, const FieldSet& b);

// As JSON inside of metadata.managedFields a path is five levels deeper than the field itself, and json::max_depth
// holds for the whole object: what lies deeper than this belongs to whoever owns the node at this depth.
inline constexpr std::size_t max_tracked_steps = json::max_depth - 16;

Result<FieldSet> parse_field_set(const json::Value& fields_v1);
json::Value to_value(const FieldSet& set);
// The text of to_value(), appended.
void append_text(const FieldSet& set, std::string& out);

}  // namespace fairlead::resource
