// Columns and the list of kinds.
#include "resource/kind.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "sample.h"

namespace fairlead::resource::test {
namespace {

TEST(Columns, ShowWhatIsThere) {
    const json::Value object = parsed(
        R"({"metadata":{"name":"a","creationTimestamp":"2026-03-01T12:00:00Z"},"spec":{"n":3,"l":["x","y",1],"o":{"a":1}},)"
        R"("status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Other","status":"False"}]}})");
    const WallTime now = *from_rfc3339("2026-03-01T12:00:45Z");
    const auto cell = [&](const Column& column) { return json::serialize(column.cell(object, now)); };
    EXPECT_EQ(cell(name_column()), R"("a")");
    EXPECT_EQ(name_column().format, "name");
    EXPECT_EQ(cell(age_column()), R"("45s")");
    EXPECT_EQ(cell(path_column("N", "spec.n", "")), "3");
    EXPECT_EQ(cell(path_column("L", "spec.l", "")), R"("x,y,1")");
    EXPECT_EQ(cell(path_column("O", "spec.o", "")), R"("{\"a\":1}")");
    EXPECT_EQ(cell(path_column("M", "spec.missing", "")), "null");
    EXPECT_EQ(cell(condition_column("R", "Ready", "")), R"("True")");
    EXPECT_EQ(cell(condition_column("R", "Absent", "", 1)), R"("")");
    EXPECT_EQ(json::serialize(age_column().cell(parsed("{}"), now)), R"("<unknown>")");
}

TEST(Kinds, AreOrderedAndFound) {
    Kind core;
    core.version = "v1";
    core.name = "Thing";
    core.plural = "things";
    const Kinds kinds({sample_kind(), core});
    EXPECT_EQ(kinds.all()[0].name, "Thing");
    ASSERT_NE(kinds.find("", "v1", "things"), nullptr);
    EXPECT_EQ(kinds.find("", "v2", "things"), nullptr);
    EXPECT_EQ(kinds.find("example.fairlead.dev", "v1", "samples")->qualified_resource(),
              "samples.example.fairlead.dev");
    EXPECT_EQ(kinds.find_kind("example.fairlead.dev/v1", "Sample")->qualified_kind(), "Sample.example.fairlead.dev");
    EXPECT_EQ(kinds.find_kind("v1", "Thing")->api_version(), "v1");
    EXPECT_EQ(kinds.find_kind("v1", "Sample"), nullptr);
    EXPECT_EQ(kinds.find_kind("", ""), nullptr);
}

}  // namespace
}  // namespace fairlead::resource::test
