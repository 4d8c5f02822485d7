#include "lrp/entry.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::lrp {

namespace {

constexpr std::size_t max_shown_bytes = 80;

std::optional<std::int64_t> whole(const json::Value& value) {
    if (value.is_int64()) return value.get_int64();
    if (value.is_uint64()) return std::numeric_limits<std::int64_t>::max();  // more than any of our limits
    return std::nullopt;
}

}  // namespace

void Problems::tell(std::string_view place, std::string_view text) {
    if (list_.size() == max_problems) {
        ++more_;
        return;
    }
    list_.push_back(fmt::format("{}{}: {}", provider_, place, text));
}

std::vector<std::string> Problems::take() {
    if (more_ > 0) list_.push_back(fmt::format("{}: and {} more problems", provider_, more_));
    return std::move(list_);
}

std::string shown(const json::Value& value) {
    auto text = json::serialize(value);
    if (text.size() > max_shown_bytes) text = valid_utf8(text.substr(0, max_shown_bytes)) + "...";
    return text;
}

const json::Value* Entry::find(std::string_view field) const {
    const auto* value = object_.if_contains(field);
    return value == nullptr || value->is_null() ? nullptr : value;
}

std::string Entry::place(std::string_view field) const { return fmt::format("[{}].{}", number_, field); }

void Entry::refuse(std::string_view field, std::string_view text) {
    tell(field, text);
    refused_ = true;
}

bool Entry::flag(std::string_view field) {
    const auto* value = find(field);
    if (value == nullptr) return false;
    if (value->is_bool()) return value->get_bool();
    refuse(field, fmt::format("{} is not true or false", shown(*value)));
    return false;
}

std::string Entry::text(std::string_view field) {
    const auto* value = find(field);
    if (value == nullptr) return {};
    if (value->is_string()) return std::string(json::view(value->get_string()));
    refuse(field, fmt::format("{} is not a string", shown(*value)));
    return {};
}

std::optional<std::int64_t> Entry::number(std::string_view field, std::int64_t lowest, std::int64_t highest) {
    const auto* value = find(field);
    if (value == nullptr) return std::nullopt;
    const auto number = whole(*value);
    if (number && *number >= lowest && *number <= highest) return number;
    refuse(field, fmt::format("{} is not a whole number in {}..{}", shown(*value), lowest, highest));
    return std::nullopt;
}

std::uint16_t Entry::container_port(std::string_view field, std::span<const std::uint16_t> opened) {
    if (!has(field)) {
        refuse(field, "is missing: it says which port of the container is meant");
        return 0;
    }
    const auto port = static_cast<std::uint16_t>(number(field, 1, 65535).value_or(0));
    if (port == 0 || std::find(opened.begin(), opened.end(), port) != opened.end()) return port;
    std::vector<std::string> list;
    for (const auto each : opened) list.push_back(std::to_string(each));
    refuse(field, fmt::format("{} leads nowhere: the container opens {}", port,
                              list.empty() ? "no port" : "only " + join(list, ", ")));
    return 0;
}

}  // namespace fairlead::lrp
