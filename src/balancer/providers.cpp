#include <fmt/core.h>

#include "balancer/provider.h"

namespace fairlead::balancer {

Result<std::unique_ptr<Provider>> Providers::make(const ProviderSettings& settings) const {
    const auto found = makers_.find(settings.type);
    if (found != makers_.end()) return found->second(settings);
    std::string known;
    for (const auto& [type, make] : makers_) known += (known.empty() ? "" : ", ") + type;
    return fail(Errc::unsupported, "type", fmt::format("'{}' is not one of {}", settings.type, known));
}

}  // namespace fairlead::balancer
