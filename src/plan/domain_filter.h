// Which names a planner may touch: lists or a pair of patterns, with external-dns's meaning. A value; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::plan {

class DomainFilter {
public:
    DomainFilter() = default;  // everything
    // "x.y" matches itself and below, ".x.y" only below; an empty include list matches all; exclusion wins.
    static Result<DomainFilter> of_lists(std::vector<std::string> include, std::vector<std::string> exclude);

    [[nodiscard]] bool matches(std::string_view name) const;
    [[nodiscard]] bool empty() const { return include_.empty() && exclude_.empty(); }
    [[nodiscard]] const std::vector<std::string>& include() const { return include_; }
    [[nodiscard]] const std::vector<std::string>& exclude() const { return exclude_; }
    bool operator==(const DomainFilter&) const = default;

private:
    std::vector<std::string> include_, exclude_;  // lower case, A-labels, without a dot at the end
};

}  // namespace fairlead::plan
