// See patch.h. Pointers and operations follow RFC 6901 and 6902 to the letter; the three-way merge gives what kubectl's
// client-side apply gives for kinds without merge keys.
#include "json/patch.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::json {
namespace {

// "copy" can double a document with every operation; as kube-apiserver, all copies together stay below this.
constexpr std::size_t max_copied_bytes = 3 * 1024 * 1024;

// Values that all operations together look at or shift: ten thousand operations on a list of two thousand.
constexpr std::size_t max_work = 20'000'000;

using Pointer = std::vector<std::string>;

Result<Pointer> parse_pointer(std::string_view text, const std::string& field) {
    Pointer steps;
    if (text.empty()) return steps;
    if (text.front() != '/')
        return fail(Errc::invalid, field, fmt::format("\"{}\" must be empty or begin with /", text));
    std::string step;
    for (std::size_t i = 1; i <= text.size(); ++i) {
        if (i == text.size() || text[i] == '/') {
            steps.push_back(std::exchange(step, {}));
        } else if (text[i] != '~') {
            step += text[i];
        } else if (i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
            step += text[++i] == '0' ? '~' : '/';
        } else {
            return fail(Errc::invalid, field, fmt::format("\"{}\" has a ~ that is neither ~0 nor ~1", text));
        }
    }
    return steps;
}

// RFC 6901: digits without leading zeros.
std::optional<std::size_t> parse_index(std::string_view text) {
    if (text.empty() || text.size() > 9 || (text.size() > 1 && text.front() == '0')) return std::nullopt;
    std::size_t index = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    return index;
}

Value* step_into(Value& at, const std::string& step) {
    if (auto* object = at.if_object()) return object->if_contains(step);
    if (auto* array = at.if_array()) {
        const auto index = parse_index(step);
        if (index && *index < array->size()) return &(*array)[*index];
    }
    return nullptr;
}

// The value at the first `count` steps.
Value* walk(Value& root, const Pointer& pointer, std::size_t count) {
    Value* at = &root;
    for (std::size_t i = 0; i < count && at != nullptr; ++i) at = step_into(*at, pointer[i]);
    return at;
}

// Counts the values that it looks at.
bool within_depth(const Value& value, std::size_t left, std::size_t& work) {
    ++work;
    if (const auto* object = value.if_object()) {
        if (left == 0) return false;
        return std::all_of(object->begin(), object->end(),
                           [&](const auto& member) { return within_depth(member.value(), left - 1, work); });
    }
    if (const auto* array = value.if_array()) {
        if (left == 0) return false;
        return std::all_of(array->begin(), array->end(),
                           [&](const Value& item) { return within_depth(item, left - 1, work); });
    }
    return true;
}

// One document under a series of operations.
class Patcher {
public:
    explicit Patcher(Value target) : root_(std::move(target)) {}
    Result<void> apply(const Value& operation, std::size_t number) {
        auto done = apply_one(operation, number);
        if (done && work_ > max_work) {
            return fail(Errc::too_large, field_, fmt::format("the operations shift more than {} values", max_work));
        }
        return done;
    }
    Value take() { return std::move(root_); }

private:
    Result<void> apply_one(const Value& operation, std::size_t number);
    // Holds after every operation, not only at the end: a value that is very deep cannot even be destroyed.
    Result<void> check_depth(const Pointer& path, const Value& value);
    Result<void> add(const Pointer& path, Value value);
    Result<Value> remove(const Pointer& path);
    Result<void> replace(const Pointer& path, Value value);
    Result<void> transfer(bool copies, const Pointer& from, const Pointer& path);

    tl::unexpected<Error> missing() const {
        return fail(Errc::conflict, field_,
                    fmt::format("{} operation does not apply: path \"{}\" is missing", op_, path_));
    }

    Value root_;
    std::size_t copied_bytes_ = 0;
    std::size_t work_ = 0;
    // Of the operation in hand, for messages.
    std::string field_, op_, path_;
};

Result<void> Patcher::check_depth(const Pointer& path, const Value& value) {
    if (path.size() <= max_depth && within_depth(value, max_depth - path.size(), work_)) return {};
    return fail(Errc::too_large, field_, fmt::format("the patched object is nested deeper than {}", max_depth));
}

Result<void> Patcher::add(const Pointer& path, Value value) {
    if (auto fits = check_depth(path, value); !fits) return fits;
    if (path.empty()) {
        root_ = std::move(value);
        return {};
    }
    Value* parent = walk(root_, path, path.size() - 1);
    if (parent == nullptr) return missing();
    if (auto* object = parent->if_object()) {
        object->insert_or_assign(path.back(), std::move(value));
        return {};
    }
    auto* array = parent->if_array();
    if (array == nullptr) return missing();
    const auto index = path.back() == "-" ? std::optional(array->size()) : parse_index(path.back());
    if (!index || *index > array->size()) {
        return fail(Errc::conflict, field_,
                    fmt::format("\"{}\" is no position in a list of {}", path.back(), array->size()));
    }
    work_ += array->size() - *index;
    array->insert(array->begin() + *index, std::move(value));
    return {};
}

Result<Value> Patcher::remove(const Pointer& path) {
    if (path.empty()) return fail(Errc::invalid, field_, "the whole document cannot be removed");
    Value* parent = walk(root_, path, path.size() - 1);
    Value* at = parent == nullptr ? nullptr : step_into(*parent, path.back());
    if (at == nullptr) return missing();
    Value taken = std::move(*at);
    if (auto* object = parent->if_object()) {
        work_ += object->size();
        object->stable_erase(object->find(path.back()));
    } else {
        auto& array = parent->get_array();
        work_ += array.size();
        array.erase(array.begin() + *parse_index(path.back()));
    }
    return taken;
}

Result<void> Patcher::replace(const Pointer& path, Value value) {
    Value* at = walk(root_, path, path.size());
    if (at == nullptr) return missing();
    if (auto fits = check_depth(path, value); !fits) return fits;
    *at = std::move(value);
    return {};
}

Result<void> Patcher::transfer(bool copies, const Pointer& from, const Pointer& path) {
    const Value* source = walk(root_, from, from.size());
    if (source == nullptr) return missing();
    if (copies) {
        copied_bytes_ += json::serialize(*source).size();
        if (copied_bytes_ > max_copied_bytes) {
            return fail(Errc::too_large, field_, fmt::format("copies add up to more than {} bytes", max_copied_bytes));
        }
        return add(path, *source);
    }
    if (path == from) return {};
    if (path.size() > from.size() && std::equal(from.begin(), from.end(), path.begin())) {
        return fail(Errc::invalid, field_, "a value cannot be moved into itself");
    }
    auto taken = remove(from);
    if (!taken) return fail(std::move(taken.error()));
    return add(path, std::move(*taken));
}

Result<void> Patcher::apply_one(const Value& operation, std::size_t number) {
    field_ = fmt::format("[{}]", number);
    const auto* members = operation.if_object();
    if (members == nullptr) return fail(Errc::invalid, field_, "an operation must be an object");
    const auto text_of = [&](std::string_view name) -> Result<std::string> {
        const auto* value = members->if_contains({name.data(), name.size()});
        if (value == nullptr || !value->is_string()) {
            return fail(Errc::invalid, fmt::format("{}.{}", field_, name), "a string is required");
        }
        return std::string(view(value->get_string()));
    };
    auto op = text_of("op");
    if (!op) return fail(std::move(op.error()));
    auto path = text_of("path");
    if (!path) return fail(std::move(path.error()));
    auto pointer = parse_pointer(*path, field_ + ".path");
    if (!pointer) return fail(std::move(pointer.error()));
    op_ = *op;
    path_ = *path;

    if (op_ == "remove") return remove(*pointer).map([](const Value&) {});
    if (op_ == "move" || op_ == "copy") {
        auto from = text_of("from");
        if (!from) return fail(std::move(from.error()));
        auto source = parse_pointer(*from, field_ + ".from");
        if (!source) return fail(std::move(source.error()));
        return transfer(op_ == "copy", *source, *pointer);
    }
    if (op_ != "add" && op_ != "replace" && op_ != "test") {
        return fail(Errc::invalid, field_ + ".op",
                    fmt::format("\"{}\" is none of add, remove, replace, move, copy, test", op_));
    }
    const auto* value = members->if_contains("value");
    if (value == nullptr) return fail(Errc::invalid, field_ + ".value", fmt::format("required by {}", op_));
    if (op_ == "add") return add(*pointer, *value);
    if (op_ == "replace") return replace(*pointer, *value);
    const Value* at = walk(root_, *pointer, pointer->size());
    if (at == nullptr || !equal(*at, *value)) {
        return fail(Errc::conflict, field_, fmt::format("testing path {} failed", path_));
    }
    return {};
}

// `value` as a merge patch that sets it: a null would mean deletion there.
Value without_nulls(const Value& value) {
    const auto* object = value.if_object();
    if (object == nullptr) return value;
    Object kept;
    for (const auto& member : *object) {
        if (!member.value().is_null()) kept.emplace(member.key(), without_nulls(member.value()));
    }
    return kept;
}

Object three_way(const Object& original, const Object& modified, const Object& current) {
    static const Object nothing;
    Object patch;
    for (const auto& member : modified) {
        const Value* before = original.if_contains(member.key());
        const Value* now = current.if_contains(member.key());
        const Value& wanted = member.value();
        if (wanted.is_null()) {  // as if it were not there
            if (before != nullptr && !before->is_null() && now != nullptr) patch.emplace(member.key(), nullptr);
        } else if (now != nullptr && wanted.is_object() && now->is_object()) {
            const Object& base = before != nullptr && before->is_object() ? before->get_object() : nothing;
            Object inner = three_way(base, wanted.get_object(), now->get_object());
            if (!inner.empty()) patch.emplace(member.key(), std::move(inner));
        } else if (now == nullptr || !equal(wanted, *now)) {
            patch.emplace(member.key(), without_nulls(wanted));
        }
    }
    for (const auto& member : original) {
        if (!modified.contains(member.key()) && current.contains(member.key())) patch.emplace(member.key(), nullptr);
    }
    return patch;
}

}  // namespace

void merge_patch(Value& target, const Value& patch) {
    const auto* changes = patch.if_object();
    if (changes == nullptr) {
        target = patch;
        return;
    }
    if (!target.is_object()) target.emplace_object();
    auto& object = target.get_object();
    for (const auto& member : *changes) {
        if (!member.value().is_null()) {
            merge_patch(object[member.key()], member.value());
        } else if (const auto it = object.find(member.key()); it != object.end()) {
            object.stable_erase(it);
        }
    }
}

Result<Value> json_patch(Value target, const Value& patch) {
    const auto* operations = patch.if_array();
    if (operations == nullptr) return fail(Errc::invalid, "a JSON patch must be a list of operations");
    if (operations->size() > max_patch_operations) {
        return fail(Errc::too_large, fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                                                 max_patch_operations, operations->size()));
    }
    Patcher patcher(std::move(target));
    for (std::size_t i = 0; i < operations->size(); ++i) {
        if (auto done = patcher.apply((*operations)[i], i); !done) return fail(std::move(done.error()));
    }
    return patcher.take();
}

Value three_way_patch(const Value& original, const Value& modified, const Value& current) {
    static const Object nothing;
    if (!modified.is_object() || !current.is_object()) return equal(modified, current) ? Value(Object()) : modified;
    return three_way(original.is_object() ? original.get_object() : nothing, modified.get_object(),
                     current.get_object());
}

}  // namespace fairlead::json
