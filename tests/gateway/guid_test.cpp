#include "gateway/guid.h"

#include <gtest/gtest.h>

namespace fairlead::gateway {
namespace {

TEST(Guid, IsThatOfTheMultiClusterGatewayController) {
    EXPECT_EQ(short_guid("testgw-testns"), "0ecjaw");
    EXPECT_EQ(short_guid("test-cluster-1"), "20qri0");
    EXPECT_EQ(short_guid("c1"), "2piivc");
}

}  // namespace
}  // namespace fairlead::gateway
