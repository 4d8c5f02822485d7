// One entry of a provider's list, read field by field; what is wrong with it is told with provider, number of the
// entry, field, value and rule. Pure; inside this layer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace fairlead::lrp {

inline constexpr std::size_t max_problems = 20;  // of one provider; of a broken generator the first ones say it all

// What is wrong with one provider's routes.
class Problems {
public:
    explicit Problems(std::string_view provider) : provider_(provider) {}
    // `place` as in "[1].port".
    void tell(std::string_view place, std::string_view text);
    // With how many were left out.
    [[nodiscard]] std::vector<std::string> take();

private:
    std::string_view provider_;
    std::vector<std::string> list_;
    std::size_t more_ = 0;
};

// As it stands in the text, shortened.
std::string shown(const json::Value& value);

class Entry {
public:
    Entry(const json::Object& object, std::size_t number, Problems& problems)
        : object_(object), number_(number), problems_(problems) {}

    // Null if it is missing, or null itself.
    [[nodiscard]] const json::Value* find(std::string_view field) const;
    [[nodiscard]] bool has(std::string_view field) const { return find(field) != nullptr; }
    // Says what is wrong and that it still leads somewhere.
    void tell(std::string_view field, std::string_view text) { problems_.tell(place(field), text); }
    // Says what is wrong and that the entry leads nowhere.
    void refuse(std::string_view field, std::string_view text);
    [[nodiscard]] bool refused() const { return refused_; }

    // Each refuses the entry when the field has something else.
    bool flag(std::string_view field);         // false if missing
    std::string text(std::string_view field);  // "" if missing
    std::optional<std::int64_t> number(std::string_view field, std::int64_t lowest, std::int64_t highest);
    // A port of the container, which must open it.
    std::uint16_t container_port(std::string_view field, std::span<const std::uint16_t> opened);

private:
    [[nodiscard]] std::string place(std::string_view field) const;

    const json::Object& object_;
    std::size_t number_;
    Problems& problems_;
    bool refused_ = false;
};

}  // namespace fairlead::lrp
