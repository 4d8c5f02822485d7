#include "dns/labels.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace fairlead::dns {
namespace {

constexpr std::size_t head = sizeof(std::uint32_t);
constexpr std::size_t low_bits = 0x7f;

std::size_t width(std::size_t size) {
    std::size_t bytes = 1;
    for (; size > low_bits; size >>= 7U) ++bytes;
    return bytes;
}

char* put_size(char* at, std::size_t size) {
    for (; size > low_bits; size >>= 7U) *at++ = static_cast<char>((size & low_bits) | (low_bits + 1));
    *at++ = static_cast<char>(size);
    return at;
}

std::size_t take_size(const char*& at) {
    std::size_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(*at++);
        size |= (byte & low_bits) << shift;
        if (byte <= low_bits) return size;
    }
}

char* put_text(char* at, std::string_view text) {
    std::copy(text.begin(), text.end(), at);
    return at + text.size();
}

}  // namespace

Labels::Labels(const Labels& other) {
    if (other.empty()) return;
    const auto size = head + other.bytes().size();
    block_.reset(new char[size]);  // NOLINT(modernize-make-unique): which would write it twice
    std::memcpy(block_.get(), other.block_.get(), size);
}

Labels& Labels::operator=(const Labels& other) {
    if (this != &other) *this = Labels(other);
    return *this;
}

std::string_view Labels::bytes() const {
    if (block_ == nullptr) return {};
    std::uint32_t size = 0;
    std::memcpy(&size, block_.get(), head);
    return {block_.get() + head, size};
}

Labels::Iterator Labels::begin() const { return Iterator(bytes().data()); }

Labels::Iterator Labels::end() const {
    const auto all = bytes();
    return Iterator(all.data() + all.size());
}

Label Labels::Iterator::operator*() const {
    const char* at = at_;
    const auto key = take_size(at);
    const auto value = take_size(at);
    return {{at, key}, {at + key, value}};
}

Labels::Iterator& Labels::Iterator::operator++() {
    const auto label = **this;
    at_ = label.value.data() + label.value.size();
    return *this;
}

Labels Labels::of_sorted(std::span<const Label> labels) {
    Labels made;
    if (labels.empty()) return made;
    std::size_t size = 0;
    for (const auto& [key, value] : labels) {
        size += width(key.size()) + width(value.size()) + key.size() + value.size();
    }
    made.block_.reset(new char[head + size]);  // NOLINT(modernize-make-unique): which would write it twice
    const auto stored = static_cast<std::uint32_t>(size);
    std::memcpy(made.block_.get(), &stored, head);
    char* at = made.block_.get() + head;
    for (const auto& [key, value] : labels) {
        at = put_size(at, key.size());
        at = put_size(at, value.size());
        at = put_text(at, key);
        at = put_text(at, value);
    }
    return made;
}

Labels Labels::of(std::span<const Label> labels) {
    const auto unordered = [](const Label& a, const Label& b) { return a.key >= b.key; };
    if (std::adjacent_find(labels.begin(), labels.end(), unordered) == labels.end()) return of_sorted(labels);
    std::vector<Label> sorted(labels.begin(), labels.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const Label& a, const Label& b) { return a.key < b.key; });
    std::vector<Label> each;
    each.reserve(sorted.size());
    for (const auto& label : sorted) {
        if (!each.empty() && each.back().key == label.key) each.pop_back();
        each.push_back(label);
    }
    return of_sorted(each);
}

std::string_view Labels::get(std::string_view key) const {
    for (const auto& label : *this) {
        if (label.key == key) return label.value;
    }
    return {};
}

void Labels::set(std::string_view key, std::string_view value) {
    std::vector<Label> labels(begin(), end());
    labels.push_back({key, value});
    *this = of(labels);
}

void Labels::erase(std::string_view key) {
    std::vector<Label> labels(begin(), end());
    if (std::erase_if(labels, [&](const Label& label) { return label.key == key; }) > 0) *this = of_sorted(labels);
}

}  // namespace fairlead::dns
