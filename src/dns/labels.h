// Marks of an endpoint: texts by key, each key once. One block of memory however many they are, and a pointer where
// there are none, as lists hold millions of endpoints. A value; any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>

namespace fairlead::dns {

// A view of one; of those that are in Labels it is valid until these change.
struct Label {
    std::string_view key, value;
    auto operator<=>(const Label&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

class Labels {
public:
    Labels() = default;
    Labels(std::initializer_list<Label> labels) : Labels(of({labels.begin(), labels.size()})) {}
    Labels(const Labels& other);
    Labels(Labels&&) noexcept = default;
    Labels& operator=(const Labels& other);
    Labels& operator=(Labels&&) noexcept = default;
    ~Labels() = default;
    // In any order; of those with one key the last counts. In one go: as many calls of set() would take the square.
    static Labels of(std::span<const Label> labels);

    [[nodiscard]] bool empty() const { return block_ == nullptr; }
    // "" if there is none.
    [[nodiscard]] std::string_view get(std::string_view key) const;
    void set(std::string_view key, std::string_view value);
    void erase(std::string_view key);
    void clear() { block_.reset(); }

    // By key.
    class Iterator {
    public:
        using value_type = Label;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;
        using pointer = const Label*;
        using reference = Label;
        Label operator*() const;
        Iterator& operator++();
        bool operator==(const Iterator&) const = default;

    private:
        friend class Labels;
        explicit Iterator(const char* at) : at_(at) {}
        const char* at_;
    };
    [[nodiscard]] Iterator begin() const;
    [[nodiscard]] Iterator end() const;

    friend bool operator==(const Labels& a, const Labels& b) { return a.bytes() == b.bytes(); }

private:
    // How many bytes follow (four), then of each label the two sizes (seven bits a byte, the lowest first, the last
    // without the eighth bit) and the two texts. Null: none.
    std::unique_ptr<char[]> block_;
    [[nodiscard]] std::string_view bytes() const;
    static Labels of_sorted(std::span<const Label> labels);
};

}  // namespace fairlead::dns
