// Which names a planner may touch: lists or a pair of patterns, with external-dns's meaning. A value; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::plan {

inline constexpr std::size_t max_pattern_bytes = 1024;  // names have 253 at most; matching may call itself per byte

class DomainFilter {
public:
    DomainFilter() = default;  // everything
    // "x.y" matches itself and below, ".x.y" only below; an empty include list matches all; exclusion wins. Errors:
    // invalid; the field is "include" or "exclude".
    static Result<DomainFilter> of_lists(std::vector<std::string> include, std::vector<std::string> exclude);
    // ECMAScript patterns that are looked for anywhere in the name; an empty one is none. Exclusion is asked first, and
    // alone accepts the rest. Errors: invalid; the field is "regexInclude" or "regexExclude".
    static Result<DomainFilter> of_patterns(std::string include, std::string exclude);

    [[nodiscard]] bool matches(std::string_view name) const;
    // The same for a name that is in lower case and A-labels already, without a dot at its end.
    [[nodiscard]] bool matches_normal(std::string_view name) const;
    [[nodiscard]] bool empty() const { return include_.empty() && exclude_.empty() && patterns_ == nullptr; }
    [[nodiscard]] const std::vector<std::string>& include() const { return include_; }
    [[nodiscard]] const std::vector<std::string>& exclude() const { return exclude_; }
    [[nodiscard]] const std::string& regex_include() const { return regex_include_; }
    [[nodiscard]] const std::string& regex_exclude() const { return regex_exclude_; }
    friend bool operator==(const DomainFilter& a, const DomainFilter& b) {
        return a.include_ == b.include_ && a.exclude_ == b.exclude_ && a.regex_include_ == b.regex_include_ &&
               a.regex_exclude_ == b.regex_exclude_;
    }

private:
    struct Patterns;
    std::vector<std::string> include_, exclude_;  // lower case, A-labels, without a dot at the end; in order, each once
    std::string regex_include_, regex_exclude_;
    std::shared_ptr<const Patterns> patterns_;  // the two texts, compiled
};

}  // namespace fairlead::plan
