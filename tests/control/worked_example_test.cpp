// docs/controllers.md is true: its code is the code that is built here, and that code does what the page says.
#include "control/worked_example.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/files.h"
#include "base/text.h"
#include "control/controlled.h"
#include "paths/paths.h"

namespace fairlead::example {
namespace {

using control::Controlled;

std::string read(const std::filesystem::path& file) {
    const auto text = read_file(paths::sources() / file);
    EXPECT_TRUE(text) << file;
    return text.value_or("");
}

// The fenced C++ blocks of the page.
std::vector<std::string> blocks() {
    const auto page = read("docs/controllers.md");
    std::vector<std::string> out;
    bool inside = false;
    for (const auto line : split(page, '\n')) {
        if (line.starts_with("```")) {
            inside = line == "```cpp";
            if (inside) out.emplace_back();
        } else if (inside) {
            out.back().append(line).append("\n");
        }
    }
    return out;
}

TEST(WorkedExample, PageShowsTheCodeThatIsBuilt) {
    const auto code = blocks();
    ASSERT_GE(code.size(), 2U);
    EXPECT_EQ(code[0], read("tests/control/worked_example.h"));
    EXPECT_EQ(code[1], read("tests/control/worked_example.cpp"));
}

struct WinnerRow {
    const char* name;
    std::vector<Claim> claims;
    const char* winner;
};

TEST(WorkedExample, TheOldestWins) {
    const WinnerRow rows[] = {
        {"nobody", {}, ""},
        {"alone", {{"n/a", "2026-01-01T00:00:00Z"}}, "n/a"},
        {"older", {{"n/a", "2026-01-02T00:00:00Z"}, {"n/b", "2026-01-01T00:00:00Z"}}, "n/b"},
        {"equal", {{"n/b", "2026-01-01T00:00:00Z"}, {"m/z", "2026-01-01T00:00:00Z"}}, "m/z"},
    };
    for (const auto& row : rows) EXPECT_EQ(winner(row.claims), row.winner) << row.name;
}

class HostClaimsTest : public testing::Test {
protected:
    void SetUp() override {
        world.manager.add("host-claims", [](auto& context) { return std::make_unique<HostClaims>(context); });
    }
    void make(std::string_view name, std::string_view host) {
        const auto made = world.post(
            routes,
            fmt::format(
                R"({{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{{"name":"{}"}},"spec":{{"host":"{}","to":{{"kind":"Service","name":"web"}}}}}})",
                name, host));
        ASSERT_EQ(made.code, 201) << made.body;
        world.clock.advance(std::chrono::seconds(1));
    }
    std::string claimed(std::string_view name) {
        const auto route = world.get(fmt::format("{}/{}", routes, name));
        const auto* list = json::find(route.value, "status.conditions");
        if (!list || list->as_array().empty()) return "nothing";
        const auto& condition = list->as_array()[0];
        return fmt::format("{}: {}", json::string_at(condition, "status"), json::string_at(condition, "message"));
    }
    static constexpr const char* routes = "/apis/route.openshift.io/v1/namespaces/default/routes";
    Controlled world;
};

TEST_F(HostClaimsTest, TheNextInLineGetsIt) {
    make("first", "shop.example.com");
    make("second", "shop.example.com");
    make("other", "blog.example.com");
    world.settle();
    EXPECT_EQ(claimed("first"), "True: no older route claims this host");
    EXPECT_EQ(claimed("second"), "False: the older route default/first has this host");
    EXPECT_EQ(claimed("other"), "True: no older route claims this host");
    const auto events = world.get("/api/v1/namespaces/default/events");
    ASSERT_EQ(events.items().size(), 1U);
    EXPECT_EQ(json::string_at(events.items()[0], "reason"), "HostTaken");

    const auto revision = world.store->revision();
    world.pass(std::chrono::minutes(1), std::chrono::seconds(10));
    EXPECT_EQ(world.store->revision(), revision) << "what is right is left alone";

    world.remove(fmt::format("{}/first", routes));
    world.settle();
    EXPECT_EQ(claimed("second"), "True: no older route claims this host");
}

}  // namespace
}  // namespace fairlead::example
