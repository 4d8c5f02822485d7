// Record sets of one name as far as others have to get along with them: whom a new one would stand beside that it
// cannot. Asked in constant time, however many sets a name has. Private to src/plan.
#pragma once

#include <vector>

#include "dns/endpoint.h"

namespace fairlead::plan {

class Company {
public:
    void clear() {
        cname_ = other_ = nullptr;
        types_.clear();
    }
    // The endpoint must outlive this.
    void add(const dns::Endpoint& endpoint);
    // The first of them that excludes it; null: none does.
    [[nodiscard]] const dns::Endpoint* excludes(const dns::Endpoint& endpoint) const;

private:
    struct OfType {
        const dns::Endpoint *plain = nullptr, *identified = nullptr;
        [[nodiscard]] const dns::Endpoint& any() const { return plain != nullptr ? *plain : *identified; }
    };
    const dns::Endpoint *cname_ = nullptr, *other_ = nullptr;
    std::vector<OfType> types_;  // as many as there are types at a name: few
};

}  // namespace fairlead::plan
