#include "plan/names.h"

#include <array>

#include "base/text.h"
#include "dns/name.h"

namespace fairlead::plan {
namespace {

// Bytes that stand for themselves in a name: what nearly all names consist of.
constexpr std::array<bool, 256> plain_bytes = [] {
    std::array<bool, 256> plain{};
    for (unsigned c = 'a'; c <= 'z'; ++c) plain.at(c) = true;
    for (unsigned c = '0'; c <= '9'; ++c) plain.at(c) = true;
    plain['-'] = plain['_'] = plain['*'] = true;
    return plain;
}();

// Whether the name is in its normal form already and can be one: plain labels of 1 to 63 bytes.
bool is_normal(std::string_view name) {
    std::size_t label = 0;
    for (const char c : name) {
        if (c == '.') {
            if (label == 0 || label > dns::max_label_bytes) return false;
            label = 0;
            continue;
        }
        if (!plain_bytes[static_cast<unsigned char>(c)]) return false;
        ++label;
    }
    return label > 0 && label <= dns::max_label_bytes && name.size() <= dns::max_name_bytes - 2;
}

std::string_view without_last_dot(std::string_view name) {
    if (name.size() > 1 && name.back() == '.') name.remove_suffix(1);
    return name;
}

}  // namespace

NormalNames::Normal NormalNames::operator()(std::string_view name) {
    const auto bare = without_last_dot(name);
    if (is_normal(bare)) return {bare, true};
    const auto parsed = dns::Name::parse(name);
    made_.push_back(parsed ? parsed->host() : lower(bare));
    return {made_.back(), parsed.has_value()};
}

std::string normal_name(std::string_view name) { return std::string(NormalNames()(name).text); }

}  // namespace fairlead::plan
