// Names of balancers that are made for claimants.
#include "balancer/provision.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead::balancer {
namespace {

TEST(Provision, EveryCopyHasNamesOfItsOwnThatFitEveryCloud) {
    const std::string uid = "018bcfe5-6800-7000-814d-70e7cbbb1a29";
    EXPECT_EQ(provisioned_name(uid), "lb-" + uid);
    EXPECT_EQ(provisioned_name(uid, 1), "lb-" + uid + "-2");
    EXPECT_EQ(cloud_name(uid), "fl-018bcfe568007000814d70e7cbbb");
    std::set<std::string> names;
    for (int copy = 0; copy < 16; ++copy) {
        const auto name = cloud_name(uid, copy);
        EXPECT_TRUE(is_cloud_name(name)) << name;
        EXPECT_LE(name.size(), 32U) << "AWS";
        names.insert(name);
    }
    EXPECT_EQ(names.size(), 16U);
}

TEST(Provision, TheMarkAtTheCloudIsTheOneThatWasTakenOver) {
    resource::LoadBalancer balancer;
    balancer.metadata.uid = "uid-2";
    EXPECT_EQ(mark_of(balancer), "uid-2");
    balancer.metadata.annotations[adopted_uid] = "";
    EXPECT_EQ(mark_of(balancer), "uid-2");
    balancer.metadata.annotations[adopted_uid] = "uid-1";
    EXPECT_EQ(mark_of(balancer), "uid-1");
}

}  // namespace
}  // namespace fairlead::balancer
