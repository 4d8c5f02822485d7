#include "apiserver/watch_places.h"

#include <gtest/gtest.h>

namespace fairlead::apiserver {
namespace {

TEST(WatchPlaces, have_a_limit_per_user_and_one_for_all) {
    Metrics metrics;
    WatchPlaces places(3, 2, metrics);
    auto one = places.take("alice"), two = places.take("alice");
    ASSERT_TRUE(one && two);
    const auto refused = places.take("alice");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("\"alice\" has 2 watches"), std::string::npos) << refused.error().message;
    const auto other = places.take("bob");
    EXPECT_TRUE(other);
    EXPECT_FALSE(places.take("carol")) << "three in all";
    one->reset();
    EXPECT_TRUE(places.take("carol")) << "a place that was given back";
    const auto text = metrics.expose();
    EXPECT_NE(text.find("fairlead_watches_refused_total{limit=\"user\"} 1"), std::string::npos) << text;
    EXPECT_NE(text.find("fairlead_watches_refused_total{limit=\"all\"} 1"), std::string::npos) << text;
}

TEST(WatchPlaces, may_be_given_back_after_their_end) {
    Metrics metrics;
    std::shared_ptr<void> place;
    {
        WatchPlaces places(1, 1, metrics);
        place = *places.take("alice");
    }
    place.reset();
}

}  // namespace
}  // namespace fairlead::apiserver
