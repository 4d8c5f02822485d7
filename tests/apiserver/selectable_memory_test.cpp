#include "apiserver/selectable_memory.h"

#include "world.h"

namespace fairlead::apiserver {
namespace {

store::ObjectRef version(std::string_view name, std::string_view phase, store::Revision revision) {
    const auto text = R"({"metadata":{"labels":{"tier":"edge"}},"status":{"phase":")" + std::string(phase) + R"("}})";
    return store::ObjectRef::make(name, text, std::string_view::npos, 1, revision);
}

TEST(SelectableMemory, ReadsEachVersionOnce) {
    const auto kind = example_route_kind();
    SelectableMemory memory;
    const auto first = version("default/a", "new", 5);
    const auto next = version("default/a", "old", 6);
    const auto other = version("default/b", "none", 6);  // of the same commit
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(memory.of(kind, *first)->labels.at("tier"), "edge");
        EXPECT_EQ(memory.of(kind, *first), memory.of(kind, *version("default/a", "new", 5)));
        EXPECT_NE(memory.of(kind, *first), memory.of(kind, *next));
        EXPECT_NE(memory.of(kind, *next), memory.of(kind, *other));
    }
    EXPECT_EQ(memory.parsed(), 3U);
    // Another kind may have an object of that name, written by the same commit.
    const auto another = example_route_kind();
    EXPECT_NE(memory.of(another, *first), memory.of(kind, *first));
    EXPECT_EQ(memory.parsed(), 4U);
}

TEST(SelectableMemory, ForgetsTheOldest) {
    const auto kind = example_route_kind();
    SelectableMemory memory(4'000);
    for (store::Revision revision = 1; revision <= 100; ++revision) (void)memory.of(kind, *version("a", "p", revision));
    EXPECT_EQ(memory.parsed(), 100U);
    (void)memory.of(kind, *version("a", "p", 100));
    EXPECT_EQ(memory.parsed(), 100U) << "the last one is known";
    (void)memory.of(kind, *version("a", "p", 1));
    EXPECT_EQ(memory.parsed(), 101U) << "the first one is not";
}

TEST(SelectableMemory, WhatCannotBeReadIsNothing) {
    const auto kind = example_route_kind();
    SelectableMemory memory;
    const auto broken = store::ObjectRef::make("a", "{", std::string_view::npos, 1, 1);
    EXPECT_EQ(memory.of(kind, *broken), nullptr);
}

TEST(SelectableMemory, WhatIsTooLargeIsReadEachTime) {
    const auto kind = example_route_kind();
    SelectableMemory memory(10);
    EXPECT_NE(memory.of(kind, *version("a", "p", 1)), nullptr);
    EXPECT_NE(memory.of(kind, *version("a", "p", 1)), nullptr);
    EXPECT_EQ(memory.parsed(), 2U);
}

}  // namespace
}  // namespace fairlead::apiserver
