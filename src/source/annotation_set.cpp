#include "source/annotation_set.h"

#include <fmt/core.h>

#include <array>

#include "base/text.h"

namespace fairlead::source {

namespace {

// external-dns 0.22 made the second its default; objects carry either.
constexpr std::array<std::string_view, 2> prefixes{"external-dns.alpha.kubernetes.io/", "external-dns.kubernetes.io/"};
constexpr std::size_t max_shown = 80;

}  // namespace

std::string shown(std::string_view value) {
    return valid_utf8(value.size() <= max_shown ? value : fmt::format("{}...", value.substr(0, max_shown)));
}

std::string AnnotationSet::Found::field() const { return fmt::format("metadata.annotations[{}]", key); }

AnnotationSet::AnnotationSet(const std::map<std::string, std::string>& annotations) : prefix_(prefixes.back()) {
    for (const auto prefix : prefixes) {
        for (auto at = annotations.lower_bound(std::string(prefix)); at != annotations.end(); ++at) {
            if (!at->first.starts_with(prefix)) break;
            prefix_ = prefix;
            const auto name = at->first.substr(prefix.size());
            const auto [found, added] = by_name_.try_emplace(name, Found{at->first, at->second});
            if (added || found->second.value == at->second) continue;
            contradictions_.push_back({fmt::format("metadata.annotations[{}]", at->first),
                                       fmt::format("\"{}\" contradicts {}, which is \"{}\"", shown(at->second),
                                                   found->second.key, shown(found->second.value))});
        }
    }
}

const AnnotationSet::Found* AnnotationSet::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
}

const AnnotationSet::Found* AnnotationSet::filled(std::string_view name) const {
    const auto* found = find(name);
    return found != nullptr && !found->value.empty() ? found : nullptr;
}

std::string AnnotationSet::field_of(std::string_view name) const {
    const auto* found = find(name);
    return found != nullptr ? found->field() : fmt::format("metadata.annotations[{}{}]", prefix_, name);
}

}  // namespace fairlead::source
