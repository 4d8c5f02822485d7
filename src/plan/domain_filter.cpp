#include "plan/domain_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "base/text.h"
#include "dns/name.h"
#include "plan/names.h"

namespace fairlead::plan {

struct DomainFilter::Patterns {
    std::optional<std::regex> include, exclude;
};

namespace {

// Entries in the form in which names are compared. Those that are empty say nothing, as in external-dns.
Result<std::vector<std::string>> normal_entries(std::vector<std::string> entries, const char* field) {
    std::vector<std::string> normal;
    normal.reserve(entries.size());
    for (const auto& entry : entries) {
        const auto text = trim(entry);
        if (text.empty()) continue;
        const bool below = text.front() == '.' && text.size() > 1;
        const auto name = dns::Name::parse(below ? text.substr(1) : text);
        if (!name) return fail(Errc::invalid, field, name.error().message);
        if (name->is_root()) continue;  // all names are at or below the root
        normal.push_back((below ? "." : "") + name->host());
    }
    std::sort(normal.begin(), normal.end());
    normal.erase(std::unique(normal.begin(), normal.end()), normal.end());
    return normal;
}

bool has(const std::vector<std::string>& sorted, std::string_view text) {
    return std::binary_search(sorted.begin(), sorted.end(), text, std::less<>());
}

// Whether an entry names the name or something above it: one search per label, however long the list is.
bool listed(const std::vector<std::string>& sorted, std::string_view name) {
    if (has(sorted, name)) return true;
    for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
        if (has(sorted, name.substr(dot)) || has(sorted, name.substr(dot + 1))) return true;
    }
    return false;
}

Result<std::optional<std::regex>> compiled(const std::string& pattern, const char* field) {
    if (pattern.empty()) return std::nullopt;
    if (pattern.size() > max_pattern_bytes) {
        return fail(Errc::invalid, field,
                    fmt::format("the pattern has {} bytes, at most {} are read", pattern.size(), max_pattern_bytes));
    }
    try {
        return std::regex(pattern, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error& error) {
        return fail(Errc::invalid, field, fmt::format("\"{}\" is no regular expression: {}", pattern, error.what()));
    }
}

// A pattern that takes too long or too much stack is taken as one that does not match.
bool found(const std::regex& pattern, std::string_view name) {
    try {
        return std::regex_search(name.begin(), name.end(), pattern);
    } catch (const std::regex_error&) {
        return false;
    }
}

}  // namespace

Result<DomainFilter> DomainFilter::of_lists(std::vector<std::string> include, std::vector<std::string> exclude) {
    auto in = normal_entries(std::move(include), "include");
    if (!in) return fail(std::move(in.error()));
    auto out = normal_entries(std::move(exclude), "exclude");
    if (!out) return fail(std::move(out.error()));
    DomainFilter filter;
    filter.include_ = std::move(*in);
    filter.exclude_ = std::move(*out);
    return filter;
}

Result<DomainFilter> DomainFilter::of_patterns(std::string include, std::string exclude) {
    auto in = compiled(include, "regexInclude");
    if (!in) return fail(std::move(in.error()));
    auto out = compiled(exclude, "regexExclude");
    if (!out) return fail(std::move(out.error()));
    DomainFilter filter;
    if (*in || *out) filter.patterns_ = std::make_shared<const Patterns>(Patterns{std::move(*in), std::move(*out)});
    filter.regex_include_ = std::move(include);
    filter.regex_exclude_ = std::move(exclude);
    return filter;
}

bool DomainFilter::matches(std::string_view name) const { return matches_normal(normal_name(name)); }

bool DomainFilter::matches_normal(std::string_view name) const {
    if (patterns_ != nullptr) {
        if (patterns_->exclude && found(*patterns_->exclude, name)) return false;
        return !patterns_->include || found(*patterns_->include, name);
    }
    if (!exclude_.empty() && listed(exclude_, name)) return false;
    return include_.empty() || listed(include_, name);
}

}  // namespace fairlead::plan
