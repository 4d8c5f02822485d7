#include "gce/names.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::gce {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Lower case, with a dash for each byte that may not be there, one after the other.
std::string simplified(std::string_view text) {
    std::string out;
    for (const char c : lower(text)) {
        const bool good = is_letter(c) || is_digit(c);
        if (!good && (out.empty() || out.back() == '-')) continue;
        out += good ? c : '-';
    }
    if (out.empty() || !is_letter(out.front())) out.insert(0, "lb-");
    return out;
}

std::string label(std::string_view text) {
    std::string out = lower(text.substr(0, max_name_bytes));
    for (auto& c : out) {
        if (!is_letter(c) && !is_digit(c) && c != '_') c = '-';
    }
    return out;
}

}  // namespace

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= max_name_bytes && is_letter(text.front()) && text.back() != '-' &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

std::string short_hash(std::string_view text) { return sha256_hex(text).substr(0, 12); }

std::string part_name(std::string_view balancer, std::string_view suffix) {
    if (is_name(balancer) && balancer.size() + suffix.size() <= max_name_bytes)
        return std::string(balancer).append(suffix);
    const auto hash = "-" + short_hash(balancer);
    auto head = simplified(balancer).substr(0, max_name_bytes - hash.size() - suffix.size());
    while (head.ends_with('-')) head.pop_back();
    return head + hash + std::string(suffix);
}

bool is_part(std::string_view name, std::string_view balancer) {
    for (const std::string_view suffix : {"", "-none", "-https"}) {
        if (name == part_name(balancer, suffix)) return true;
    }
    // "-s-0123456789ab"
    constexpr std::size_t hashed = 15;
    if (name.size() <= hashed) return false;
    const auto suffix = name.substr(name.size() - hashed);
    return suffix[0] == '-' && suffix[2] == '-' && name == part_name(balancer, suffix);
}

std::string description_of(const Mark& mark) {
    json::Object inner;
    inner["installation"] = mark.installation;
    inner["balancer"] = mark.balancer;
    inner["uid"] = mark.uid;
    json::Object outer;
    outer["fairlead"] = std::move(inner);
    return json::serialize(outer);
}

std::optional<Mark> mark_of(const json::Value& thing) {
    const auto text = json::string_at(thing, "description");
    if (!text.starts_with('{')) return std::nullopt;  // what people write is no reason to parse
    const auto said = json::parse(text);
    if (!said || json::find(*said, "fairlead.installation") == nullptr) return std::nullopt;
    return Mark{std::string(json::string_at(*said, "fairlead.installation")),
                std::string(json::string_at(*said, "fairlead.balancer")),
                std::string(json::string_at(*said, "fairlead.uid"))};
}

std::map<std::string, std::string> labels_of(const Mark& mark) {
    return {{"fairlead-balancer", label(mark.balancer)},
            {"fairlead-installation", label(mark.installation)},
            {"fairlead-uid", label(mark.uid)}};
}

}  // namespace fairlead::gce
