// The algebra of field sets and their FieldsV1 form. Pure.
#include "resource/field_set.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "json/quote.h"
#include "resource/field_error.h"
#include "resource/item_key.h"

namespace fairlead::resource {

namespace {

constexpr std::string_view self = ".";

tl::unexpected<Error> malformed(std::string_view element, std::string_view why) {
    return fail(Errc::invalid, "fieldsV1", fmt::format("{} {}", shown(element), why));
}

// Sorted by name, so that equal keys are equal texts.
std::string key_text(const json::Object& object) {
    std::vector<std::string_view> names;
    names.reserve(object.size());
    for (const auto& member : object) names.push_back(member.key());
    std::sort(names.begin(), names.end());
    std::string out = "{";
    for (const auto name : names) {
        if (out.size() > 1) out += ',';
        json::serialize_to(json::Value(json::String(name)), out);
        out += ':';
        out += item_key(object.at(name), {});
    }
    return out += '}';
}

// Walks both sets in step: keeps entries of one side only where told so, `combine` makes the entry that is on both.
template <class Combine>
FieldSet join(const FieldSet& a, const FieldSet& b, bool only_left, bool only_right, const Combine& combine) {
    FieldSet out;
    auto left = a.entries().begin();
    auto right = b.entries().begin();
    while (left != a.entries().end() || right != b.entries().end()) {
        const bool take_left =
            right == b.entries().end() || (left != a.entries().end() && left->element < right->element);
        const bool take_right = !take_left && (left == a.entries().end() || right->element < left->element);
        if (take_left) {
            if (only_left) out.append(*left);
            ++left;
        } else if (take_right) {
            if (only_right) out.append(*right);
            ++right;
        } else {
            out.append(combine(*left++, *right++));
        }
    }
    return out;
}

void collect(const FieldSet& set, const std::string& path, std::vector<std::string>& out) {
    for (const auto& entry : set.entries()) {
        std::string here = path;
        entry.element.append_shown(here);
        if (entry.member) out.push_back(here);
        collect(entry.below, here, out);
    }
}

Result<FieldSet::Entry> parse_entry(std::string_view key, const json::Value& value);

Result<FieldSet> parse_below(const json::Object& object, bool& member) {
    std::vector<FieldSet::Entry> entries;
    entries.reserve(object.size());
    for (const auto& [key, value] : object) {
        const std::string_view name(key.data(), key.size());
        if (name == self) {
            member = true;
            continue;
        }
        auto entry = parse_entry(name, value);
        if (!entry) return fail(std::move(entry.error()));
        entries.push_back(std::move(*entry));
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& x, const auto& y) { return x.element < y.element; });
    FieldSet set;
    for (auto& entry : entries) {
        // Two spellings of one element (k:{"a":1} and k:{"a":1.0}) are one.
        if (auto* same = set.empty() ? nullptr : set.find(entry.element)) {
            same->member = same->member || entry.member;
            same->below = unite(same->below, entry.below);
        } else {
            set.append(std::move(entry));
        }
    }
    return set;
}

Result<FieldSet::Entry> parse_entry(std::string_view key, const json::Value& value) {
    auto element = parse_element(key);
    if (!element) return fail(std::move(element.error()));
    const auto* object = value.if_object();
    if (object == nullptr) return malformed(key, "must hold an object");
    FieldSet::Entry entry{std::move(*element), object->empty(), {}};
    auto below = parse_below(*object, entry.member);
    if (!below) return fail(std::move(below.error()));
    entry.below = std::move(*below);
    return entry;
}

}  // namespace

std::strong_ordering PathElement::operator<=>(const PathElement& other) const {
    if (kind != other.kind) return kind <=> other.kind;
    // Digits without leading zeros: the longer number is the larger one.
    if (kind == Kind::index && text.size() != other.text.size()) return text.size() <=> other.text.size();
    return text.compare(other.text) <=> 0;
}

void PathElement::append_to(std::string& out) const {
    switch (kind) {
        case Kind::field:
            out += "f:";
            break;
        case Kind::key:
            out += "k:";
            break;
        case Kind::value:
            out += "v:";
            break;
        case Kind::index:
            out += "i:";
            break;
    }
    out += text;
}

void PathElement::append_shown(std::string& out) const {
    switch (kind) {
        case Kind::field:
            out += '.';
            out += text;
            return;
        case Kind::key: {
            out += '[';
            const auto key = json::parse(text);
            bool first = true;
            if (key && key->is_object()) {
                for (const auto& member : key->get_object()) {
                    if (!std::exchange(first, false)) out += ',';
                    out += std::string_view(member.key());
                    out += '=';
                    json::serialize_to(member.value(), out);
                }
            }
            out += ']';
            return;
        }
        case Kind::value:
            out += "[=" + text + "]";
            return;
        case Kind::index:
            out += "[" + text + "]";
            return;
    }
}

PathElement field_element(std::string_view name) { return {PathElement::Kind::field, std::string(name)}; }

PathElement value_element(const json::Value& item) { return {PathElement::Kind::value, item_key(item, {})}; }

PathElement key_element(const json::Object& key) { return {PathElement::Kind::key, key_text(key)}; }

Result<PathElement> parse_element(std::string_view text) {
    if (text.size() < 2 || text[1] != ':') return malformed(text, "must begin with f:, k:, v: or i:");
    const auto rest = text.substr(2);
    switch (text[0]) {
        case 'f':
            return field_element(rest);
        case 'k': {
            const auto key = json::parse(rest);
            if (!key || !key->is_object() || key->get_object().empty()) {
                return malformed(text, "must be k: and a JSON object of the key's members");
            }
            for (const auto& member : key->get_object()) {
                if (member.value().is_structured()) return malformed(text, "has a key that is no scalar");
            }
            return key_element(key->get_object());
        }
        case 'v': {
            const auto value = json::parse(rest);
            if (!value) return malformed(text, "must be v: and a JSON value");
            return value_element(*value);
        }
        case 'i': {
            const auto index = parse_int(rest);
            if (!index || *index < 0 || std::to_string(*index) != rest) {
                return malformed(text, "must be i: and an index");
            }
            return PathElement{PathElement::Kind::index, std::string(rest)};
        }
        default:
            return malformed(text, "must begin with f:, k:, v: or i:");
    }
}

FieldSet::FieldSet(std::vector<Entry> entries) : entries_(std::move(entries)) {}

FieldSet::Entry* FieldSet::find(const PathElement& element) {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), element,
                                     [](const Entry& entry, const PathElement& e) { return entry.element < e; });
    return at != entries_.end() && at->element == element ? &*at : nullptr;
}

const FieldSet::Entry* FieldSet::find(const PathElement& element) const {
    return const_cast<FieldSet*>(this)->find(element);  // NOLINT: the other one does not write
}

void FieldSet::append(Entry entry) {
    if (!entry.empty()) entries_.push_back(std::move(entry));
}

void FieldSet::erase(const PathElement& element) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.element == element; });
}

void FieldSet::erase_fields(std::span<const std::string_view> names) {
    std::erase_if(entries_, [&](const Entry& entry) {
        return entry.element.kind == PathElement::Kind::field &&
               std::find(names.begin(), names.end(), entry.element.text) != names.end();
    });
}

void FieldSet::shorten(std::size_t steps) {
    for (auto& entry : entries_) {
        if (entry.below.empty()) continue;
        if (steps > 1) {
            entry.below.shorten(steps - 1);
        } else {
            entry.below = FieldSet();
            entry.member = true;
        }
    }
}

void FieldSet::insert(const std::vector<PathElement>& path) {
    FieldSet* set = this;
    for (std::size_t i = 0; i < path.size(); ++i) {
        auto at = std::lower_bound(set->entries_.begin(), set->entries_.end(), path[i],
                                   [](const Entry& entry, const PathElement& e) { return entry.element < e; });
        if (at == set->entries_.end() || at->element != path[i]) {
            at = set->entries_.insert(at, Entry{path[i], false, {}});
        }
        if (i + 1 == path.size()) at->member = true;
        set = &at->below;
    }
}

bool FieldSet::has(const std::vector<PathElement>& path) const {
    const FieldSet* set = this;
    const Entry* entry = nullptr;
    for (const auto& element : path) {
        entry = set->find(element);
        if (entry == nullptr) return false;
        set = &entry->below;
    }
    return entry != nullptr && entry->member;
}

std::size_t FieldSet::size() const {
    std::size_t count = 0;
    for (const auto& entry : entries_) count += (entry.member ? 1 : 0) + entry.below.size();
    return count;
}

std::vector<std::string> FieldSet::paths() const {
    std::vector<std::string> out;
    collect(*this, "", out);
    return out;
}

bool FieldSet::operator==(const FieldSet& other) const { return entries_ == other.entries_; }

FieldSet unite(const FieldSet& a, const FieldSet& b) {
    return join(a, b, true, true, [](const auto& x, const auto& y) {
        return FieldSet::Entry{x.element, x.member || y.member, unite(x.below, y.below)};
    });
}

FieldSet subtract(const FieldSet& a, const FieldSet& b) {
    return join(a, b, true, false, [](const auto& x, const auto& y) {
        return FieldSet::Entry{x.element, x.member && !y.member, subtract(x.below, y.below)};
    });
}

FieldSet intersect(const FieldSet& a, const FieldSet& b) {
    return join(a, b, false, false, [](const auto& x, const auto& y) {
        return FieldSet::Entry{x.element, x.member && y.member, intersect(x.below, y.below)};
    });
}

Result<FieldSet> parse_field_set(const json::Value& fields_v1) {
    const auto* object = fields_v1.if_object();
    if (object == nullptr) return fail(Errc::invalid, "fieldsV1", "must be an object");
    bool root = false;  // the object as a whole belongs to nobody
    return parse_below(*object, root);
}

namespace {

json::Value entry_value(const FieldSet& below, bool with_self) {
    json::Object out;
    out.reserve(below.entries().size() + (with_self ? 1 : 0));
    if (with_self) out.emplace(self, json::Object());
    std::string key;
    for (const auto& entry : below.entries()) {
        key.clear();
        entry.element.append_to(key);
        out.emplace(key, entry_value(entry.below, entry.member && !entry.below.empty()));
    }
    return out;
}

}  // namespace

json::Value to_value(const FieldSet& set) { return entry_value(set, false); }

void append_text(const FieldSet& set, std::string& out) {
    out += '{';
    bool first = true;
    std::string key;
    for (const auto& entry : set.entries()) {
        if (!std::exchange(first, false)) out += ',';
        key.clear();
        entry.element.append_to(key);
        json::append_quoted(key, out);
        out += ':';
        const auto at = out.size();
        append_text(entry.below, out);
        if (entry.member && !entry.below.empty()) out.insert(at + 1, R"(".":{},)");
    }
    out += '}';
}

}  // namespace fairlead::resource
