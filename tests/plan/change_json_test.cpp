// Changes as JSON, and back.
#include "plan/change_json.h"

#include <gtest/gtest.h>

namespace fairlead::plan {
namespace {

dns::Endpoint endpoint(std::string name, std::string identifier, std::vector<std::string> targets) {
    dns::Endpoint made;
    made.dns_name = std::move(name);
    made.record_type = "A";
    made.set_identifier = std::move(identifier);
    made.targets = std::move(targets);
    made.ttl = 60;
    return made;
}

TEST(ChangeJson, SurvivesTheWayThereAndBackInTheOrderOfPlans) {
    std::vector<Change> changes(3);
    changes[0].action = Action::update;
    changes[0].before = endpoint("a.example.com", "blue", {"192.0.2.1"});
    changes[0].after = endpoint("a.example.com", "blue", {"192.0.2.2"});
    changes[0].differences = {{"targets", "192.0.2.1", "192.0.2.2"}};
    changes[0].reason = "Differs";
    changes[0].message = "m";
    changes[1].action = Action::remove;
    changes[1].before = endpoint("b.example.com", "", {"192.0.2.3"});
    changes[1].reason = "NotWanted";
    changes[2].action = Action::create;
    changes[2].after = endpoint("b.example.com", "green", {"192.0.2.4"});
    changes[2].reason = "Missing";
    json::Object object;
    add_changes(object, changes);
    EXPECT_EQ(object.at("create").get_array().size(), 1U);
    EXPECT_EQ(object.at("update").get_array().size(), 1U);
    EXPECT_EQ(object.at("delete").get_array().size(), 1U);
    const auto back = changes_of_json(object);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, changes);
}

TEST(ChangeJson, SaysWhatIsMissing) {
    const auto back = changes_of_json(json::parse(R"({"create":[{"reason":"Missing"}]})").value());
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().text(), "endpoint: is missing in the server's answer");
}

}  // namespace
}  // namespace fairlead::plan
