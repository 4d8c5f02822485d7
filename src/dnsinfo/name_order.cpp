#include "dnsinfo/name_order.h"

#include <algorithm>

namespace fairlead::dnsinfo {

namespace {

// Between labels stands 0 0, below every byte of a label; a 0 within a label is written 0 1.
constexpr std::string_view separator{"\0\0", 2};
constexpr std::string_view zero{"\0\1", 2};

void append_label(std::string_view label, std::string& out) {
    for (const char c : label) {
        if (c == '\0') {
            out += zero;
        } else {
            out += c;
        }
    }
    out += separator;
}

}  // namespace

bool NameOrder::add(const dns::Name& name) {
    std::vector<std::string_view> labels;
    const std::string_view wire = name.wire();
    for (std::size_t at = 0; wire[at] != '\0'; at += static_cast<unsigned char>(wire[at]) + 1U) {
        labels.push_back(wire.substr(at + 1, static_cast<unsigned char>(wire[at])));
    }
    const auto before = keys_.size();
    for (auto label = labels.rbegin(); label != labels.rend(); ++label) append_label(*label, keys_);
    if (keys_.size() >= max_bytes) return false;
    entries_.push_back({static_cast<std::uint32_t>(before), static_cast<std::uint16_t>(keys_.size() - before)});
    return true;
}

void NameOrder::sort() {
    std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) { return key(a) < key(b); });
}

dns::Name NameOrder::at(std::size_t i) const {
    const auto text = key(entries_[i]);
    std::string wire(1, '\0');
    std::string label;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\0') {
            label += text[at];
        } else if (text[++at] != '\0') {
            label += '\0';
        } else {
            wire.insert(0, std::string(1, static_cast<char>(label.size())) + label);
            label.clear();
        }
    }
    return dns::Name::from_wire(wire).value_or(dns::Name());
}

}  // namespace fairlead::dnsinfo
