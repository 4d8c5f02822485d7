#include "geo/mmdb_data.h"

#include <fmt/core.h>

namespace fairlead::geo {

namespace {

constexpr std::size_t max_depth = 64;     // GeoLite2 has 4 levels
constexpr std::size_t max_pointers = 16;  // the format forbids a pointer to a pointer; be patient, not endless

enum Number : unsigned { extended = 0, pointer = 1, text_type = 2, map_type = 7, array_type = 11, boolean = 14 };

tl::unexpected<Error> corrupt(std::size_t offset, std::string_view what) {
    return fail(Errc::corrupt, fmt::format("the data at {} {}", offset, what));
}

}  // namespace

Result<MmdbData::Item> MmdbData::item(std::size_t offset) const {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(bytes_[at])); };
    const auto number = [&](std::size_t at, std::size_t count) {
        std::size_t value = 0;
        for (std::size_t i = 0; i < count; ++i) value = value << 8U | byte(at + i);
        return value;
    };
    if (offset >= bytes_.size()) return corrupt(offset, "is outside the file");
    const auto control = byte(offset);
    std::size_t at = offset + 1;
    unsigned type = control >> 5U;
    if (type == pointer) {
        const std::size_t length = (control >> 3U & 3U) + 1;
        if (bytes_.size() - at < length) return corrupt(offset, "is cut off");
        // Offsets that a shorter form can say are left out of the longer ones.
        constexpr std::size_t base[] = {0, 2048, 526'336, 0};
        const std::size_t high = length == 4 ? 0 : static_cast<std::size_t>(control & 7U) << (8 * length);
        return Item{Type::pointer, base[length - 1] + (high | number(at, length)), at + length, at + length};
    }
    if (type == extended) {
        if (at >= bytes_.size()) return corrupt(offset, "is cut off");
        type = byte(at++) + 7U;
    }
    std::size_t size = control & 31U;
    if (size > 28) {
        const std::size_t length = size - 28;
        if (bytes_.size() - at < length) return corrupt(offset, "is cut off");
        constexpr std::size_t base[] = {29, 285, 65'821};
        size = base[length - 1] + number(at, length);
        at += length;
    }
    if (type == map_type || type == array_type) {
        return Item{type == map_type ? Type::map : Type::array, size, at, at};
    }
    const std::size_t content = type == boolean ? 0 : size;
    if (bytes_.size() - at < content) return corrupt(offset, "is cut off");
    return Item{type == text_type ? Type::text : Type::plain, size, at, at + content};
}

Result<MmdbData::Item> MmdbData::follow(std::size_t offset) const {
    auto found = item(offset);
    for (std::size_t i = 0; found && found->type == Type::pointer; ++i) {
        if (i == max_pointers) return corrupt(offset, "points in a circle");
        found = item(found->size);
    }
    return found;
}

// Where the item behind this one begins. Counts what is still to pass over instead of calling itself.
Result<std::size_t> MmdbData::skip(std::size_t offset) const {
    std::size_t left = 1;
    while (left > 0) {
        const auto found = item(offset);
        if (!found) return fail(found.error());
        offset = found->skip;
        --left;
        if (found->type == Type::map) left += 2 * found->size;
        if (found->type == Type::array) left += found->size;
        if (left > bytes_.size()) return corrupt(offset, "promises more than the file has");
    }
    return offset;
}

Result<void> MmdbData::check_depth(std::size_t offset) const {
    std::vector<std::size_t> left{1};
    while (!left.empty()) {
        if (left.back() == 0) {
            left.pop_back();
            continue;
        }
        --left.back();
        const auto found = item(offset);
        if (!found) return fail(found.error());
        offset = found->skip;
        if (found->type != Type::map && found->type != Type::array) continue;
        const auto inside = found->type == Type::map ? 2 * found->size : found->size;
        if (inside > bytes_.size()) return corrupt(offset, "promises more than the file has");
        left.push_back(inside);
        if (left.size() > max_depth) return corrupt(offset, fmt::format("has more than {} levels", max_depth));
    }
    return {};
}

Result<std::optional<std::size_t>> MmdbData::enter(std::size_t offset, const Step& step) const {
    const auto outer = follow(offset);
    if (!outer) return fail(outer.error());
    std::size_t at = outer->behind;
    if (const auto* place = std::get_if<std::size_t>(&step)) {
        if (outer->type != Type::array || *place >= outer->size) return std::nullopt;
        for (std::size_t i = 0; i < *place; ++i) {
            const auto next = skip(at);
            if (!next) return fail(next.error());
            at = *next;
        }
        return at;
    }
    if (outer->type != Type::map) return std::nullopt;
    for (std::size_t i = 0; i < outer->size; ++i) {
        const auto key = follow(at);
        if (!key) return fail(key.error());
        const auto value = skip(at);
        if (!value) return fail(value.error());
        if (key->type != Type::text) return corrupt(at, "is a key that is no text");
        if (bytes_.substr(key->behind, key->size) == std::get<std::string_view>(step)) return *value;
        const auto next = skip(*value);
        if (!next) return fail(next.error());
        at = *next;
    }
    return std::nullopt;
}

Result<std::optional<std::string_view>> MmdbData::text(std::size_t offset, const std::vector<Step>& path) const {
    for (const auto& step : path) {
        const auto inner = enter(offset, step);
        if (!inner) return fail(inner.error());
        if (!*inner) return std::nullopt;
        offset = **inner;
    }
    const auto found = follow(offset);
    if (!found) return fail(found.error());
    if (found->type != Type::text) return std::nullopt;
    return bytes_.substr(found->behind, found->size);
}

}  // namespace fairlead::geo
