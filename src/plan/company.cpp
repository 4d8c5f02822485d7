#include "plan/company.h"

#include <algorithm>

#include "plan/plan.h"

namespace fairlead::plan {
namespace {
bool is_cname(const dns::Endpoint& endpoint) { return endpoint.record_type == "CNAME"; }
}  // namespace

bool exclude_each_other(const dns::Endpoint& a, const dns::Endpoint& b) {
    if (a.record_type != b.record_type) return is_cname(a) || is_cname(b);
    return a.set_identifier.empty() != b.set_identifier.empty();
}

void Company::add(const dns::Endpoint& endpoint) {
    auto& first = is_cname(endpoint) ? cname_ : other_;
    if (first == nullptr) first = &endpoint;
    auto at = std::find_if(types_.begin(), types_.end(),
                           [&](const OfType& each) { return each.any().record_type == endpoint.record_type; });
    if (at == types_.end()) at = types_.insert(at, OfType());
    auto& slot = endpoint.set_identifier.empty() ? at->plain : at->identified;
    if (slot == nullptr) slot = &endpoint;
}

const dns::Endpoint* Company::excludes(const dns::Endpoint& endpoint) const {
    if (const auto* other = is_cname(endpoint) ? other_ : cname_; other != nullptr) return other;
    for (const auto& each : types_) {
        if (each.any().record_type != endpoint.record_type) continue;
        return endpoint.set_identifier.empty() ? each.identified : each.plain;
    }
    return nullptr;
}

}  // namespace fairlead::plan
