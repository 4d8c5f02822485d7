#include <gtest/gtest.h>

#include "provider/provider.h"

namespace fairlead::provider {
namespace {

TEST(Providers, SaysWhichThereAre) {
    Providers providers;
    providers.add("zonefile", [](const ZoneSettings&) -> Result<std::unique_ptr<Provider>> {
        return fail(Errc::invalid, "never asked");
    });
    ZoneSettings settings;
    settings.provider = "route66";
    const auto made = providers.make(settings);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text(),
              "spec.provider: \"route66\" is no provider of this server: it has builtin, zonefile");
}

}  // namespace
}  // namespace fairlead::provider
