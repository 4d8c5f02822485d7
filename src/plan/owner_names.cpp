#include "plan/owner_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dns/name.h"

namespace fairlead::plan {
namespace {

constexpr std::size_t max_text_bytes = dns::max_name_bytes - 2;  // without the length of the first label and the root
constexpr std::size_t digest_digits = 16;

struct TypedName {
    std::string_view type, lower;
};
constexpr std::array<TypedName, 9> typed_names = {{{"A", "a"},
                                                   {"AAAA", "aaaa"},
                                                   {"CNAME", "cname"},
                                                   {"NS", "ns"},
                                                   {"MX", "mx"},
                                                   {"SRV", "srv"},
                                                   {"PTR", "ptr"},
                                                   {"TXT", "txt"},
                                                   {"NAPTR", "naptr"}}};

std::string filled(std::string_view affix, std::string_view type) {
    std::string out(affix);
    const auto lower_type = lower(type);
    for (auto at = out.find(type_template); at != std::string::npos; at = out.find(type_template, at)) {
        out.replace(at, type_template.size(), lower_type);
        at += lower_type.size();
    }
    return out;
}

bool templated(const Affix& affix) {
    return affix.prefix.find(type_template) != std::string::npos ||
           affix.suffix.find(type_template) != std::string::npos;
}

// "a-foo" -> A of "foo"; whatever else is a name without type.
PlaceReading by_first_label(std::string_view name) {
    const auto dash = name.find('-');
    if (dash != std::string_view::npos) {
        for (const auto& typed : typed_names) {
            if (name.substr(0, dash) == typed.lower && dash + 1 < name.size()) {
                return {name.substr(dash + 1), typed.type};
            }
        }
    }
    return {name, {}};
}

std::optional<PlaceReading> read_prefixed(std::string_view prefix, std::string_view place) {
    if (prefix.find(type_template) != std::string_view::npos) {
        for (const auto& typed : typed_names) {
            const auto with_type = filled(prefix, typed.type);
            if (place.size() > with_type.size() && place.starts_with(with_type)) {
                return PlaceReading{place.substr(with_type.size()), typed.type};
            }
        }
        const auto bare = filled(prefix, "");
        if (place.size() <= bare.size() || !place.starts_with(bare)) return std::nullopt;
        return by_first_label(place.substr(bare.size()));
    }
    if (place.size() <= prefix.size() || !place.starts_with(prefix)) return std::nullopt;
    return by_first_label(place.substr(prefix.size()));
}

// A suffix may hold dots: it then reaches over as many labels more.
std::size_t head_size(std::string_view suffix, std::string_view place) {
    auto dots = std::count(suffix.begin(), suffix.end(), '.');
    std::size_t at = 0;
    while (true) {
        const auto dot = place.find('.', at);
        if (dot == std::string_view::npos) return place.size();
        if (dots-- == 0) return dot;
        at = dot + 1;
    }
}

std::optional<PlaceReading> read_suffixed(std::string_view suffix, std::string_view place,
                                          std::deque<std::string>& made) {
    const auto head = place.substr(0, head_size(suffix, place));
    const auto rest = place.substr(head.size());
    const auto cut = [&](std::string_view end) -> std::optional<std::string_view> {
        if (head.size() <= end.size() || !head.ends_with(end)) return std::nullopt;
        return made.emplace_back(std::string(head.substr(0, head.size() - end.size())).append(rest));
    };
    if (suffix.find(type_template) != std::string_view::npos) {
        for (const auto& typed : typed_names) {
            if (const auto name = cut(filled(suffix, typed.type))) return PlaceReading{*name, typed.type};
        }
    }
    const auto name = cut(filled(suffix, ""));
    return name ? std::optional(by_first_label(*name)) : std::nullopt;
}

}  // namespace

bool has_typed_name(std::string_view type) {
    return std::any_of(typed_names.begin(), typed_names.end(), [&](const auto& typed) { return typed.type == type; });
}

bool is_wildcard(std::string_view name) { return name == "*" || name.starts_with("*."); }

std::string_view first_label(std::string_view name) { return name.substr(0, std::min(name.find('.'), name.size())); }

std::string with_first_label(std::string_view name, std::string_view label) {
    return std::string(label).append(name.substr(std::min(name.find('.'), name.size())));
}

std::string affixed_name(const Affix& affix, std::string_view wildcard_replacement, std::string_view name,
                         std::string_view type) {
    const auto dot = std::min(name.find('.'), name.size());
    std::string label(name.substr(0, dot));
    if (label == "*" && !wildcard_replacement.empty()) label = wildcard_replacement;
    if (!type.empty() && !templated(affix)) label.insert(0, lower(type) + "-");
    return filled(affix.prefix, type).append(label).append(filled(affix.suffix, type)).append(name.substr(dot));
}

std::optional<PlaceReading> read_place(const Affix& affix, std::string_view place, std::deque<std::string>& made) {
    if (!affix.suffix.empty()) return read_suffixed(affix.suffix, place, made);
    return read_prefixed(affix.prefix, place);
}

bool fits(std::string_view name, std::string_view zone) {
    if (name.empty() || name.size() > max_text_bytes) return false;
    if (!zone.empty() && name != zone) {
        if (name.size() <= zone.size() || !name.ends_with(zone)) return false;
        if (name[name.size() - zone.size() - 1] != '.') return false;
    }
    while (!name.empty()) {
        const auto label = first_label(name);
        if (label.empty() || label.size() > dns::max_label_bytes) return false;
        name.remove_prefix(std::min(label.size() + 1, name.size()));
    }
    return true;
}

std::optional<std::string> shared_name(std::string_view prefix, std::string_view wildcard, std::string_view name,
                                       std::string_view zone) {
    auto place = std::string(prefix).append(is_wildcard(name) ? with_first_label(name, wildcard) : std::string(name));
    if (fits(place, zone)) return place;
    const auto digest = "h-" + sha256_hex(name).substr(0, digest_digits);
    auto rest = name;
    while (!rest.empty()) {
        rest.remove_prefix(std::min(rest.find('.'), rest.size()));
        place = std::string(prefix).append(digest).append(rest);
        if (fits(place, zone)) return place;
        if (!rest.empty()) rest.remove_prefix(1);
    }
    return std::nullopt;
}

}  // namespace fairlead::plan
