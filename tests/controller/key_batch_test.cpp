#include "controller/key_batch.h"

#include <gmock/gmock.h>

namespace fairlead::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KeyBatch, TakesOthersAlongFromTheFirstOn) {
    KeyBatch batch;
    for (const auto* key : {"a", "b", "c", "d"}) batch.add(key);
    EXPECT_THAT(batch.take("c", 3), ElementsAre("c", "d", "a"));
    EXPECT_THAT(batch.take("a", 3), IsEmpty()) << "it was taken along";
    EXPECT_THAT(batch.take("b", 3), ElementsAre("b"));
    EXPECT_EQ(batch.size(), 0U);
}

TEST(KeyBatch, WhatComesLaterIsNotTakenAlong) {
    KeyBatch batch;
    batch.add("a");
    batch.add_later("b");
    EXPECT_THAT(batch.take("a", 9), ElementsAre("a"));
    EXPECT_THAT(batch.take("b", 9), ElementsAre("b"));
    EXPECT_THAT(batch.take("b", 9), IsEmpty());
}

}  // namespace
}  // namespace fairlead::controller
