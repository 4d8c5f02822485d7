#include "gateway/hostname.h"

#include "base/text.h"

namespace fairlead::gateway {
namespace {

// Lower case, without a final dot; a bare "*" is any host, as no name at all is.
std::string plain(std::string_view host) {
    auto text = lower(host);
    if (text.size() > 1 && text.back() == '.') text.pop_back();
    return text == "*" ? std::string() : text;
}

bool is_wildcard(std::string_view host) { return host.starts_with("*."); }

// Of names in their plain form.
bool within(std::string_view host, std::string_view by) {
    if (by.empty() || host == by) return true;
    if (host.empty() || !is_wildcard(by)) return false;
    // ".example.com" with something in front: of *.a.example.com, what is in front starts with the asterisk.
    const auto suffix = by.substr(1);
    return host.size() > suffix.size() && host.ends_with(suffix);
}

}  // namespace

bool covers(std::string_view host, std::string_view by) { return within(plain(host), plain(by)); }

std::optional<std::string> intersection(std::string_view a, std::string_view b) {
    auto left = plain(a);
    auto right = plain(b);
    if (within(left, right)) return left;
    if (within(right, left)) return right;
    return std::nullopt;
}

}  // namespace fairlead::gateway
