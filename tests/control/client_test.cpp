// Writes that are sent together: as those of many users at once.
#include "control/client.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "controlled.h"

namespace fairlead::control {
namespace {

struct Sending : Controlled {
    Request write(Verb verb, const std::string& name, std::string_view value) {
        Request request;
        request.verb = verb;
        request.object = {kinds.find("traffic.example.io", "v1", "routes"), "default", name};
        request.body = *json::parse(fmt::format(
            R"({{"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{{"name":"{}","namespace":"default"}},"spec":{{"host":"{}"}}}})",
            name, value));
        return request;
    }
    apiserver::LocalClient many{kinds, fenced, clock, random, 8};
};

class Together : public testing::TestWithParam<bool> {};

TEST_P(Together, AnswersAreInTheOrderOfTheRequests) {
    Sending world;
    Transport& transport = GetParam() ? world.many : world.client;
    Client client(transport, "test", &world.fence, world.clock);
    std::vector<Request> requests;
    for (int i = 0; i < 40; ++i) {
        // One in five changes what is not there.
        requests.push_back(
            world.write(i % 5 == 0 ? Verb::update : Verb::create, fmt::format("c{}", i), std::to_string(i)));
    }
    const auto answers = client.write_all(std::move(requests));
    ASSERT_EQ(answers.size(), 40U);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (i % 5 == 0) {
            ASSERT_FALSE(answers[i]) << i;
            EXPECT_EQ(answers[i].error().code, Errc::not_found) << i;
        } else {
            ASSERT_TRUE(answers[i]) << answers[i].error().text();
            EXPECT_EQ(json::string_at(*answers[i], "spec.host"), std::to_string(i));
        }
    }
}

TEST_P(Together, NothingIsWrittenWithoutTheLease) {
    Sending world;
    Transport& transport = GetParam() ? world.many : world.client;
    world.fence.require();
    std::vector<Request> requests;
    for (int i = 0; i < 10; ++i) requests.push_back(world.write(Verb::create, fmt::format("c{}", i), "x"));
    const auto before = world.store->revision();
    // Asked before, and in the store itself.
    for (const Fence* fence : {static_cast<const Fence*>(&world.fence), static_cast<const Fence*>(nullptr)}) {
        Client client(transport, "test", fence, world.clock);
        for (const auto& answer : client.write_all(requests)) {
            ASSERT_FALSE(answer);
            EXPECT_EQ(answer.error().code, Errc::unavailable);
        }
    }
    EXPECT_EQ(world.store->revision(), before);
}

INSTANTIATE_TEST_SUITE_P(Client, Together, testing::Bool(),
                         [](const auto& which) { return which.param ? "AtOnce" : "OneAfterTheOther"; });

}  // namespace
}  // namespace fairlead::control
