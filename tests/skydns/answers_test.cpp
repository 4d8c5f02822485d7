// SkyDNS's rules as tables: services in, record sets out.
#include "skydns/answers.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "skydns/directory.h"

namespace fairlead::skydns {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "admin.sky.local/0#aa 10.0.0.1:80 p20 w5 t7"
Service service(std::string_view line) {
    const auto words = split(line, ' ');
    Service made;
    const auto slash = words[0].find('/');
    const auto hash = words[0].find('#');
    made.host = words[0].substr(0, slash);
    made.index = static_cast<std::int32_t>(*parse_int(words[0].substr(slash + 1, hash - slash - 1)));
    made.mark = words[0].substr(hash + 1);
    const auto colon = words[1].rfind(':');
    made.address = words[1].substr(0, colon);
    made.port = static_cast<std::uint16_t>(*parse_int(words[1].substr(colon + 1)));
    for (std::size_t i = 2; i < words.size(); ++i) {
        const auto number = static_cast<std::uint32_t>(*parse_int(words[i].substr(1)));
        if (words[i][0] == 'p') made.priority = static_cast<std::uint16_t>(number);
        if (words[i][0] == 'w') made.weight = number;
        if (words[i][0] == 't') made.ttl = number;
    }
    return made;
}

std::vector<Service> services(const std::vector<std::string>& lines) {
    std::vector<Service> made;
    made.reserve(lines.size());
    for (const auto& line : lines) made.push_back(service(line));
    return made;
}

std::vector<std::string> shown(const std::vector<RecordSet>& sets) {
    std::vector<std::string> lines;
    for (const auto& set : sets)
        lines.push_back(fmt::format("{} {} {} {}", set.name, set.ttl, set.type, join(set.targets, "; ")));
    return lines;
}

struct AnswerCase {
    std::string test;
    std::vector<std::string> services, want;
};

class Answers : public testing::TestWithParam<AnswerCase> {};

TEST_P(Answers, AreSkyDns) { EXPECT_EQ(shown(answers("a.sky", services(GetParam().services))), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    Rules, Answers,
    testing::Values(
        AnswerCase{"nothing", {}, {}},
        AnswerCase{"one", {"a.sky/0#m 10.0.0.1:80"}, {"a.sky 30 SRV 10 100 80 m.0.a.sky.", "a.sky 30 A 10.0.0.1"}},
        AnswerCase{"priority_as_is",
                   {"a.sky/0#m 10.0.0.1:59002 p20"},
                   {"a.sky 30 SRV 20 100 59002 m.0.a.sky.", "a.sky 30 A 10.0.0.1"}},
        AnswerCase{"equal_weights_round_down",
                   {"a.sky/0#m 10.0.0.1:80", "a.sky/1#m 10.0.0.2:80", "a.sky/2#m 10.0.0.3:80"},
                   {"a.sky 30 SRV 10 33 80 m.0.a.sky.; 10 33 80 m.1.a.sky.; 10 33 80 m.2.a.sky.",
                    "a.sky 30 A 10.0.0.1; 10.0.0.2; 10.0.0.3"}},
        AnswerCase{"weights_by_priority",
                   {"a.sky/0#m 10.0.0.1:80 w30", "a.sky/1#m 10.0.0.2:80 w10", "a.sky/2#m 10.0.0.3:80 p20 w7"},
                   {"a.sky 30 SRV 10 75 80 m.0.a.sky.; 10 25 80 m.1.a.sky.; 20 100 80 m.2.a.sky.",
                    "a.sky 30 A 10.0.0.1; 10.0.0.2; 10.0.0.3"}},
        AnswerCase{"weight_at_least_one",
                   {"a.sky/0#m 10.0.0.1:80 w1", "a.sky/1#m 10.0.0.2:80 w65535"},
                   {"a.sky 30 SRV 10 1 80 m.0.a.sky.; 10 99 80 m.1.a.sky.", "a.sky 30 A 10.0.0.1; 10.0.0.2"}},
        AnswerCase{"addresses_once_and_by_family",
                   {"a.sky/0#m 10.0.0.1:80", "a.sky/0#n 10.0.0.1:81", "a.sky/1#m 2001:db8::1:80"},
                   {"a.sky 30 SRV 10 33 80 m.0.a.sky.; 10 33 81 n.0.a.sky.; 10 33 80 m.1.a.sky.", "a.sky 30 A 10.0.0.1",
                    "a.sky 30 AAAA 2001:db8::1"}},
        AnswerCase{"smallest_ttl",
                   {"a.sky/0#m 10.0.0.1:80 t600", "a.sky/1#m 10.0.0.2:80 t5"},
                   {"a.sky 5 SRV 10 50 80 m.0.a.sky.; 10 50 80 m.1.a.sky.", "a.sky 5 A 10.0.0.1; 10.0.0.2"}},
        AnswerCase{"a_name_is_its_own_target",
                   {"a.sky/0#m cell7.example.com:80"},
                   {"a.sky 30 SRV 10 100 80 cell7.example.com."}}),
    [](const auto& row) { return row.param.test; });

TEST(AnswersBelow, IndicesAndServicesAnswerThemselves) {
    const auto sets = answers_below(
        "a.sky", services({"a.sky/1#m 10.0.0.2:80", "a.sky/0#n 10.0.0.3:81 p5", "a.sky/0#m 10.0.0.1:80"}));
    EXPECT_THAT(shown(sets),
                ElementsAre("0.a.sky 30 SRV 5 100 81 n.0.a.sky.; 10 100 80 m.0.a.sky.",
                            "0.a.sky 30 A 10.0.0.1; 10.0.0.3", "n.0.a.sky 30 SRV 5 100 81 n.0.a.sky.",
                            "n.0.a.sky 30 A 10.0.0.3", "m.0.a.sky 30 SRV 10 100 80 m.0.a.sky.",
                            "m.0.a.sky 30 A 10.0.0.1", "1.a.sky 30 SRV 10 100 80 m.1.a.sky.", "1.a.sky 30 A 10.0.0.2",
                            "m.1.a.sky 30 SRV 10 100 80 m.1.a.sky.", "m.1.a.sky 30 A 10.0.0.2"));
}

TEST(AnswersLimit, TheMostPreferredOfTooMany) {
    std::vector<Service> many;
    for (int i = 0; i < 2'000; ++i) {
        auto one = service(fmt::format("a.sky/{}#0123456789 10.0.{}.{}:80", i, i / 250, i % 250));
        one.priority = i < 1'900 ? 20 : 10;
        many.push_back(std::move(one));
    }
    const auto sets = answers("a.sky", many);
    ASSERT_EQ(sets.size(), 2U);
    EXPECT_EQ(sets[0].targets.size(), max_answered);
    EXPECT_EQ(sets[0].targets.front(), "10 1 80 0123456789.1900.a.sky.");
    EXPECT_EQ(sets[0].targets[100], "20 1 80 0123456789.0.a.sky.") << "then the next priority";
    EXPECT_EQ(sets[1].targets.size(), max_answered);
    for (auto& one : many) one.host = std::string(60, 'x') + "." + std::string(60, 'y') + "." + std::string(60, 'z');
    EXPECT_LT(answers(many[0].host, many)[0].targets.size(), 300U) << "a set must fit into a message";
}

const lrp::ProcessKey first{"default", "first"}, second{"default", "second"}, elsewhere{"other", "first"};

std::vector<std::string> names(const std::vector<Service>& list) {
    std::vector<std::string> out;
    for (const auto& each : list) out.push_back(each.name());
    return out;
}

TEST(DirectoryOfServices, FindsSubtreesOfOneScope) {
    Directory directory;
    directory.put(first, services({"a.s.sky/0#m 10.0.0.1:80", "b.s.sky/0#m 10.0.0.1:81"}));
    directory.put(second, services({"a.s.sky/0#n 10.0.0.2:80", "as.sky/0#n 10.0.0.2:80"}));
    directory.put(elsewhere, services({"a.s.sky/0#o 10.0.0.3:80"}));
    EXPECT_THAT(names(directory.at("default", "a.s.sky")), ElementsAre("m.0.a.s.sky", "n.0.a.s.sky"));
    EXPECT_THAT(names(directory.below("default", "s.sky", 100)),
                ElementsAre("m.0.a.s.sky", "n.0.a.s.sky", "m.0.b.s.sky"));
    EXPECT_EQ(directory.below("default", "sky", 100).size(), 4U);
    EXPECT_EQ(directory.below("default", "sky", 3).size(), 3U);
    EXPECT_THAT(directory.below("default", "ky", 100), IsEmpty()) << "labels, not letters";
    EXPECT_THAT(directory.processes("default", "s.sky", 9), ElementsAre(first, second));
    EXPECT_THAT(directory.hosts("default"), ElementsAre("as.sky", "a.s.sky", "b.s.sky"));
    EXPECT_EQ(directory.size(), 5U);
}

TEST(DirectoryOfServices, TellsWhatAChangeIs) {
    Directory directory;
    EXPECT_EQ(directory.put(first, services({"a.sky/0#m 10.0.0.1:80", "b.sky/0#m 10.0.0.1:81"})).come.size(), 2U);
    const auto same = directory.put(first, services({"a.sky/0#m 10.0.0.1:80", "b.sky/0#m 10.0.0.1:81"}));
    EXPECT_TRUE(same.come.empty() && same.gone.empty() && same.hosts.empty());
    const auto moved = directory.put(first, services({"a.sky/0#m 10.0.0.9:80", "b.sky/0#m 10.0.0.1:81"}));
    EXPECT_EQ(moved.hosts, std::set<std::string>{"a.sky"});
    EXPECT_EQ(moved.come.front().address, "10.0.0.9");
    EXPECT_EQ(moved.gone.front().address, "10.0.0.1");
    const auto gone = directory.put(first, {});
    EXPECT_EQ(gone.gone.size(), 2U);
    EXPECT_THAT(directory.hosts("default"), IsEmpty());
    EXPECT_EQ(directory.size(), 0U);
}

lrp::Desired process(std::vector<lrp::SkyRoute> routes) {
    lrp::Desired made;
    made.key = {"default", "my-app"};
    made.routes.sky = std::move(routes);
    return made;
}

TEST(ServicesOfAProcess, AreItsInstancesAtEachPort) {
    const auto endpoints = [](std::uint16_t port) -> std::vector<lrp::Endpoint> {
        if (port != 5000) return {};
        return {{"i-0", 0, "10.10.1.2", 59002, 0}, {"i-1", 1, "10.10.1.3", 59012, 0}};
    };
    lrp::SkyRoute admin{5000, "admin-api.service.skydns.local", 20, {}, {}};
    lrp::SkyRoute unmapped{4000, "admin-api.service.skydns.local", 20, {}, {}};
    lrp::SkyRoute heavy{5000, "admin-api.service.skydns.local", 10, 7, 600};
    const auto made = services_of(process({admin, unmapped, heavy}), endpoints);
    ASSERT_EQ(made.size(), 4U);
    EXPECT_EQ(made[0].address, "10.10.1.2");
    EXPECT_EQ(made[0].port, 59002);
    EXPECT_EQ(made[0].priority, 20);
    EXPECT_EQ(made[0].weight, 100U);
    EXPECT_EQ(made[0].ttl, default_ttl);
    EXPECT_EQ(made[3].index, 1);
    EXPECT_EQ(made[3].weight, 7U);
    EXPECT_EQ(made[3].ttl, 600U);
    EXPECT_NE(made[0].mark, made[2].mark) << "two routes with one host and port are two services";
    EXPECT_EQ(made[0].mark, made[1].mark);
    auto other = process({admin});
    other.key.guid = "your-app";
    EXPECT_NE(services_of(other, endpoints)[0].mark, made[0].mark);
    const auto restarted = services_of(process({admin}), [](std::uint16_t) -> std::vector<lrp::Endpoint> {
        return {{"i-9", 0, "10.10.1.9", 59099, 0}};
    });
    EXPECT_EQ(restarted[0].name(), made[0].name()) << "started anew elsewhere";
    const auto evacuated = services_of(process({admin}), [](std::uint16_t) -> std::vector<lrp::Endpoint> {
        return {
            {"i-9", 0, "10.10.1.9", 59099, 0}, {"i-0", 0, "10.10.1.2", 59002, 0}, {"i-1", 1, "10.10.1.3", 59012, 0}};
    });
    EXPECT_EQ(evacuated[0].name(), made[0].name()) << "who takes over";
    EXPECT_NE(evacuated[1].name(), made[0].name()) << "who is there still";
    EXPECT_EQ(evacuated[2].name(), made[1].name());
    const auto by_tls_alone = services_of(process({admin}), [](std::uint16_t) -> std::vector<lrp::Endpoint> {
        return {{"i-9", 0, "10.10.1.9", 0, 61443}};
    });
    EXPECT_EQ(by_tls_alone[0].port, 61443);
}

TEST(ServicesOfAProcess, NeedRoomForTheirLabels) {
    const auto label = std::string(57, 'x');
    const auto host = fmt::format("{0}.{0}.{0}.{0}", label);  // 231 letters, 233 bytes on the wire
    EXPECT_TRUE(has_room_below(host));
    EXPECT_FALSE(has_room_below("x" + host));
    EXPECT_FALSE(has_room_below("*.sky"));
    EXPECT_TRUE(services_of(process({{80, "x" + host, 10, {}, {}}}), [](std::uint16_t) -> std::vector<lrp::Endpoint> {
                    return {{"i", 0, "10.0.0.1", 1, 0}};
                }).empty());
}

}  // namespace
}  // namespace fairlead::skydns
