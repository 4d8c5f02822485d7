#include "plan/names.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "base/text.h"
#include "dns/name.h"

namespace fairlead::plan {
namespace {

// Sixteen bytes that are looked at together: names are many and short.
using Bytes = unsigned char __attribute__((vector_size(16)));

// Bytes that stand for themselves in a name, what nearly all names consist of: a-z 0-9 - _ * and dots. Others give a
// byte of ones.
Bytes strange(const Bytes& bytes) {
    const auto plain =
        ((bytes - 'a') < 26) | ((bytes - '0') < 10) | (bytes == '-') | (bytes == '_') | (bytes == '*') | (bytes == '.');
    return reinterpret_cast<Bytes>(~plain);
}

// Whether the text is its own normal form. It may still be no name: that is asked where it matters.
bool is_normal(std::string_view name) {
    Bytes found{};
    const auto look = [&found](const char* from, std::size_t count) {
        Bytes bytes = '.' - Bytes{};
        std::memcpy(&bytes, from, count);
        found |= strange(bytes);
    };
    if (name.size() < sizeof(Bytes)) {
        look(name.data(), name.size());
    } else {
        for (std::size_t at = 0; at + sizeof(Bytes) < name.size(); at += sizeof(Bytes)) {
            look(name.data() + at, sizeof(Bytes));
        }
        look(name.data() + name.size() - sizeof(Bytes), sizeof(Bytes));  // some of them twice
    }
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), &found, sizeof(found));
    return (words[0] | words[1]) == 0;
}

std::string_view without_last_dot(std::string_view name) {
    if (name.size() > 1 && name.back() == '.') name.remove_suffix(1);
    return name;
}

}  // namespace

NormalNames::Normal NormalNames::operator()(std::string_view name) {
    const auto bare = without_last_dot(name);
    if (is_normal(bare)) return {bare};
    const auto parsed = dns::Name::parse(name);
    made_.push_back(parsed ? parsed->host() : lower(bare));
    return {made_.back()};
}

std::string normal_name(std::string_view name) { return std::string(NormalNames()(name).text); }

}  // namespace fairlead::plan
