// docs/adding-a-kind.md is true: its code is the code that is built here, and that code does what the page says.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "resource/kinds_support.h"
#include "resource/openapi.h"
#include "resource/selector.h"

namespace fairlead::resource {

Kind maintenance_kind();  // kinds_example_maintenance.cpp

namespace {

// The fenced blocks of the page that are marked with `language`.
std::vector<std::string> blocks(std::string_view language) {
    const auto page = read_text(source_root() / "docs" / "adding-a-kind.md");
    std::vector<std::string> out;
    bool inside = false;
    bool wanted = false;
    for (const auto line : split(page, '\n')) {
        if (line.starts_with("```")) {
            wanted = !inside && line.substr(3) == language;
            inside = !inside;
            if (wanted) out.emplace_back();
        } else if (wanted) {
            out.back().append(line).append("\n");
        }
    }
    return out;
}

json::Value manifest() {
    const auto yaml = blocks("yaml");
    EXPECT_EQ(yaml.size(), 1U);
    auto documents = json::parse_yaml(yaml.front());
    EXPECT_TRUE(documents) << (documents ? "" : documents.error().text());
    return documents->front().value;
}

TEST(AddingAKind, PageShowsTheCodeThatIsBuilt) {
    const auto code = blocks("cpp");
    ASSERT_EQ(code.size(), 1U);
    EXPECT_EQ(code.front(), read_text(source_root() / "tests" / "resource" / "kinds_example_maintenance.cpp"));
}

TEST(AddingAKind, OneLineOfTheListHasTheFormThatThePageShows) {
    const auto list = read_text(source_root() / "src" / "resource" / "kinds" / "all.inc");
    EXPECT_NE(list.find("\nKIND(router)\n"), std::string::npos);
    EXPECT_EQ(blocks("").front(), "KIND(maintenance)\n");
}

TEST(AddingAKind, ManifestIsGoodAndGetsItsDefault) {
    const auto kind = maintenance_kind();
    auto object = manifest();
    EXPECT_TRUE(unknown_fields(object, kind.schema).empty());
    apply_defaults(object, kind.schema);
    const auto errors = validate(object, nullptr, kind.schema);
    EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
    EXPECT_EQ(json::int_at(object, "spec.atOnce"), 1);
    EXPECT_EQ(kind.columns.size(), 6U);
    EXPECT_EQ(kind.columns[1].cell(object, {}), json::Value("2026-03-01T22:00:00Z"));
}

TEST(AddingAKind, RefusalsReadAsThePageSays) {
    const auto kind = maintenance_kind();
    const auto good = manifest();
    const auto first_error = [&](std::string_view path, const char* value, const json::Value* old) {
        auto object = good;
        json::set_at(object, path, value);
        const auto errors = validate(object, old, kind.schema);
        return errors.size() == 1 ? fmt::format("{}: {}\n", errors.front().field, errors.front().message)
                                  : text_of_errors(errors);
    };
    const auto shown = blocks("");
    ASSERT_EQ(shown.size(), 3U);
    EXPECT_EQ(first_error("spec.end", "2026-03-01T21:00:00Z", nullptr), shown[1]);
    EXPECT_EQ(first_error("spec.start", "2026-03-01T22:30:00Z", &good), shown[2]);
}

TEST(AddingAKind, EverythingElseFollowsFromTheDescription) {
    const Kinds kinds({maintenance_kind()});
    ASSERT_NE(kinds.find_kind("fairlead.dev/v1", "Maintenance"), nullptr);
    EXPECT_NE(json::serialize(openapi_v2(kinds, "v1")).find("MaintenanceSpec"), std::string::npos);
    EXPECT_NE(api_reference(kinds).find("How many of them may be out at the same time."), std::string::npos);
    const auto selector = Selector::parse_fields("status.phase=Planned", kinds.all().front());
    EXPECT_TRUE(selector) << selector.error().text();
    auto object = manifest();
    json::set_at(object, "spec.typo", true);
    EXPECT_EQ(prune(object, kinds.all().front().schema), std::vector<std::string>{"spec.typo"});
}

}  // namespace
}  // namespace fairlead::resource
