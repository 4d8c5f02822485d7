#include <fmt/core.h>

#include "base/text.h"
#include "provider/provider.h"

namespace fairlead::provider {

Result<std::unique_ptr<Provider>> Providers::make(const ZoneSettings& settings) const {
    const auto found = makers_.find(settings.provider);
    if (found != makers_.end()) return found->second(settings);
    std::vector<std::string> known{"builtin"};
    known.reserve(makers_.size() + 1);
    for (const auto& [name, make] : makers_) known.push_back(name);
    return fail(Errc::unsupported, "spec.provider",
                fmt::format("\"{}\" is no provider of this server: it has {}", settings.provider, join(known, ", ")));
}

}  // namespace fairlead::provider
