#include "plan/change.h"

#include <gtest/gtest.h>

namespace fairlead::plan {
namespace {

TEST(Change, KeepsLabelsInOrderAndReplacesThem) {
    dns::Endpoint endpoint;
    set_label(endpoint, "resource", "service/default/web");
    set_label(endpoint, "owner", "blue");
    set_label(endpoint, "owner", "green");
    EXPECT_EQ(endpoint.labels, (dns::Labels{{"owner", "green"}, {"resource", "service/default/web"}}));
    EXPECT_EQ((*endpoint.labels.begin()).key, "owner");
    EXPECT_EQ(label_of(endpoint, "owner"), "green");
    EXPECT_EQ(label_of(endpoint, "other"), "");
}

}  // namespace
}  // namespace fairlead::plan
