#include "proxy/haproxy/commands.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "proxy/haproxy/entries.h"
#include "proxy/haproxy/pem.h"
#include "proxy/haproxy/readback.h"
#include "proxy/haproxy/render.h"
#include "proxy/haproxy/state_file.h"
#include "proxy/haproxy/wanted.h"
#include "proxy/members.h"

namespace fairlead::proxy::haproxy {
namespace {

const std::vector<PoolClass> one_class{{{}, 4}};

std::vector<std::string> texts(const Work& todo) {
    std::vector<std::string> all;
    for (const auto& command : todo.servers) all.push_back(command.text);
    for (const auto& command : todo.names) all.push_back(command.text);
    return all;
}

TEST(Commands, EscapesWhatTheCommandLineTakesForItsOwn) {
    struct Row {
        const char *name, *text, *escaped;
    };
    const Row rows[] = {{"Nothing", "a.test/x", "a.test/x"},
                        {"Semicolon", "a;b", "a\\;b"},
                        {"Backslash", "a\\b", "a\\\\b"},
                        {"Space", "a b", "a\\ b"}};
    for (const auto& row : rows) EXPECT_EQ(escape(row.text), row.escaped) << row.name;
}

TEST(Commands, JudgesAnswers) {
    struct Row {
        const char* name;
        Expect expect;
        const char* answer;
        bool good;
    };
    const Row rows[] = {
        {"Silence", Expect::nothing, "", true},
        {"Complaint", Expect::nothing, "No such server.\n", false},
        {"NewAddress", Expect::address, "IP changed from '127.0.0.1' to '::1', no need to change the port by 'x'\n",
         true},
        {"SameAddress", Expect::address, "no need to change the addr, no need to change the port by 'x'\n", true},
        {"BadAddress", Expect::address, "Invalid addr family or port\n", false},
        {"Silence is no address", Expect::address, "", false},
        {"Added", Expect::registered, "New server registered.\n", true},
        {"NotAdded", Expect::registered, "Already exists a server with the same name\n", false},
        {"Gone", Expect::removal, "Key not found.\n", true},
    };
    for (const auto& row : rows) EXPECT_EQ(good_answer(row.expect, row.answer), row.good) << row.name;
}

TEST(Commands, ServersBeforeNamesAndPathsBeforeHosts) {
    Image held, wanted;
    held.backends["c0_1"].resize(4);
    wanted.backends["c0_1"] = {{"192.0.2.1", 80, 7, Admin::ready}, {"2001:db8::1", 81, 1, Admin::drain}, {}, {}};
    wanted.map(MapFile::hosts)["a.test"] = "Pns:c0_1:0::p";
    wanted.map(MapFile::paths)["a.test/x/"] = "Rns:c0_1:0::p";
    const auto touched = everything(held, wanted);
    EXPECT_EQ(
        texts(work(held, wanted, touched, one_class, "/d")),
        (std::vector<std::string>{"set server c0_1/s1 addr 192.0.2.1 port 80", "set server c0_1/s1 weight 7",
                                  "set server c0_1/s1 state ready", "set server c0_1/s2 addr 2001:db8::1 port 81",
                                  "set server c0_1/s2 state drain", "add map /d/paths.map a.test/x/ Rns:c0_1:0::p",
                                  "add map /d/hosts.map a.test Pns:c0_1:0::p"}));
    follow(held, wanted, touched);
    EXPECT_TRUE(work(held, wanted, everything(held, wanted), one_class, "/d").empty());
    // Away again: names go, the servers only stop.
    Image gone;
    gone.backends["c0_1"].resize(4);
    EXPECT_EQ(texts(work(held, gone, everything(held, gone), one_class, "/d")),
              (std::vector<std::string>{"set server c0_1/s1 state maint", "set server c0_1/s2 state maint",
                                        "del map /d/paths.map a.test/x/", "del map /d/hosts.map a.test"}));
}

TEST(Commands, MoreMembersThanSlotsAreAddedOrNeedAReload) {
    Image held, wanted;
    held.backends["c0_1"].resize(1);
    wanted.backends["c0_1"] = {{"192.0.2.1", 80, 1, Admin::maint}, {"192.0.2.2", 80, 1, Admin::ready}};
    const auto touched = everything(held, wanted);
    EXPECT_EQ(
        texts(work(held, wanted, touched, one_class, "/d")),
        (std::vector<std::string>{"add server c0_1/s2 127.0.0.1:1 weight 1",
                                  "set server c0_1/s2 addr 192.0.2.2 port 80", "set server c0_1/s2 state ready"}));
    auto encrypted = one_class;
    encrypted[0].key.security = MemberSecurity::unchecked;
    const auto todo = work(held, wanted, touched, encrypted, "/d");
    EXPECT_TRUE(todo.slots);
    EXPECT_TRUE(todo.servers.empty());
}

TEST(Commands, ManyChangesReplaceTheMap) {
    Image held, wanted;
    for (std::size_t i = 0; i < replace_from; ++i) held.map(MapFile::hosts)[fmt::format("h{}.test", i)] = "v";
    auto todo = work(held, wanted, everything(held, wanted), one_class, "/d");
    EXPECT_EQ(todo.replace, std::vector<MapFile>{MapFile::hosts});
    EXPECT_TRUE(todo.names.empty());
    held.map(MapFile::hosts).erase("h0.test");
    todo = work(held, wanted, everything(held, wanted), one_class, "/d");
    EXPECT_TRUE(todo.replace.empty());
    EXPECT_EQ(todo.names.size(), replace_from - 1);
}

TEST(Slots, MembersThatStayKeepTheirs) {
    const auto member = [](std::string address, std::uint16_t weight = 1) {
        return traffic::Member{std::move(address), 80, weight, traffic::MemberState::ready, ""};
    };
    std::vector<Server> slots(4);
    assign_slots(slots, {member("192.0.2.1"), member("192.0.2.2"), member("192.0.2.3")});
    EXPECT_EQ(slots[1].address, "192.0.2.2");
    assign_slots(slots, {member("192.0.2.3", 9), member("192.0.2.4")});
    EXPECT_EQ(slots[0].address, "192.0.2.4");
    EXPECT_TRUE(slots[1].free());
    EXPECT_EQ(slots[2].weight, 9);
    assign_slots(slots, {});
    for (const auto& slot : slots) EXPECT_TRUE(slot.free());
    std::vector<traffic::Member> many;
    for (int i = 0; i < 7; ++i) many.push_back(member(fmt::format("192.0.2.{}", i)));
    assign_slots(slots, many);
    EXPECT_EQ(slots.size(), 7U);
}

TEST(Slots, WeightsCostAsLittleAsTheirProportionAllows) {
    using traffic::Balance;
    struct Row {
        const char* name;
        Balance balance;
        std::vector<std::uint16_t> given, used;
    };
    const Row rows[] = {
        {"AllTheSame", Balance::random, {256, 256, 256}, {1, 1, 1}},
        {"One", Balance::source, {100}, {1}},
        {"Proportion", Balance::random, {256, 64, 0}, {4, 1, 0}},
        {"NoCommonDivisor", Balance::random, {255, 1}, {64, 1}},
        {"RoundedToSixtyFour", Balance::random, {256, 77}, {64, 19}},
        {"AllZero", Balance::random, {0, 0}, {0, 0}},
        {"CostsNothingHere", Balance::round_robin, {256, 256}, {256, 256}},
        {"NorHere", Balance::least_connections, {200, 100}, {200, 100}},
    };
    for (const auto& row : rows) {
        std::vector<traffic::Member> members;
        for (const auto weight : row.given)
            members.push_back({"192.0.2.1", 80, weight, traffic::MemberState::ready, ""});
        std::vector<std::uint16_t> used;
        for (const auto& member : with_small_weights(row.balance, members)) used.push_back(member.weight);
        EXPECT_EQ(used, row.used) << row.name;
    }
}

TEST(ReadBack, ReadsWhatHaproxySays) {
    const auto servers = parse_servers(
        "1\n# be_id be_name ...\n"
        "8 c0_1 1 s1 127.0.0.1 2 0 256 256 27 1 0 2 0 0 0 0 - 19001 - 0 0 - - 0\n"
        "8 c0_1 2 s2 2001:db8::1 2 4 7 1 1 1 0 0 8 0 0 0 - 80 - 0 0 - - 0\n"
        "8 c0_1 3 s3 127.0.0.1 0 5 1 1 27 1 0 0 8 0 0 0 - 1 - 0 0 - - 0\n"
        "8 c0_1 4 s4 127.0.0.1 1 8 3 1 27 1 0 0 8 0 0 0 - 82 - 0 0 - - 0\n"
        "3 terminate 1 here - 2 0 1 1 27 1 0 0 8 0 0 0 - 0 - 0 0 - - 0\n\n");
    ASSERT_EQ(servers.size(), 1U);
    EXPECT_EQ(servers.at("c0_1"), (std::vector<Server>{{"127.0.0.1", 19001, 256, Admin::ready},
                                                       {"2001:db8::1", 80, 7, Admin::ready},
                                                       {"127.0.0.1", 1, 1, Admin::maint},
                                                       {"127.0.0.1", 82, 3, Admin::drain}}));
    const auto map = parse_map("0x55 a.test v1\n0x56 b.test v2\n0x57 a.test v3\n\n");
    EXPECT_EQ(map.entries, (MapEntries{{"a.test", "v1"}, {"b.test", "v2"}}));
    EXPECT_EQ(map.twice, std::vector<std::string>{"a.test"});
    EXPECT_EQ(parse_crt_list("# /d/crt-list\n/d/x.pem:1 [alpn h2,http/1.1] *.x.test\n"),
              (std::map<std::string, std::string>{{"*.x.test", "/d/x.pem"}}));
    EXPECT_EQ(info_field("Name: HAProxy\nPid: 42\n", "Pid"), "42");
}

TEST(Entries, ValuesNameBackendAndPool) {
    traffic::RoutingTable table;
    table.rules[{"a.test", false, ""}] = {"route/x/a:b", "o", traffic::Plain::redirect, traffic::Tls::terminate};
    table.rules[{"a.test", false, "/p"}] = {"route/x/a:b", "o", traffic::Plain::serve, traffic::Tls::none};
    traffic::Pool pool;
    pool.server_timeout = std::chrono::milliseconds(1500);
    pool.tls = traffic::MemberTls{"", "in.test"};
    const std::string backend = "c0_7";
    const auto entries = entries_of(table, "a.test", false, [&](std::string_view) {
        return PoolView{&pool, &backend};
    });
    ASSERT_TRUE(entries.host);
    EXPECT_EQ(entries.host->value, "Ptr:c0_7:1500:in.test:route/x/a%3Ab");
    ASSERT_EQ(entries.paths.size(), 1U);
    EXPECT_EQ(entries.paths[0].key, "a.test/p/");
    EXPECT_EQ(parse_value(entries.host->value).backend, "c0_7");
    EXPECT_EQ(parse_value(entries.host->value).pool, "route/x/a:b");
    EXPECT_EQ(parse_value("P--:").backend, "");
    EXPECT_EQ(parse_value("Rns:none:0::p").backend, "");
}

TEST(StateFile, RoundTripAndRefusals) {
    State state;
    state.classes = {{{}, 256}, {{traffic::PoolProtocol::tcp, traffic::Balance::source, MemberSecurity::plain, ""}, 3}};
    state.classes[0].key.cookie = "S";
    state.sockets = {"127.0.0.1:80"};
    state.settings = "digest";
    state.version = 7;
    state.reloads = 2;
    EXPECT_EQ(*parse_state(to_json(state)), state);
    for (const auto* text : {"", "{}", "{\"format\":2}", "{\"format\":1,\"sockets\":[],\"classes\":[{}]}"}) {
        EXPECT_FALSE(parse_state(text)) << text;
    }
}

TEST(Pem, ChecksBeforeHaproxySeesIt) {
    const auto good = *make_self_signed("x");
    const auto key = good.substr(good.find("-----BEGIN PRIVATE KEY"));
    const auto certificate = good.substr(0, good.size() - key.size());
    struct Row {
        const char* name;
        std::string pem;
        const char* error;  // null: good
    };
    const Row rows[] = {
        {"Good", good, nullptr},
        {"KeyFirst", key + certificate, nullptr},
        {"EmptyLines", "\n" + good + "\n\n", nullptr},
        {"Nothing", "", "no certificate"},
        {"NoKey", certificate, "no private key"},
        {"NoCertificate", key, "no certificate"},
        {"AnothersKey", certificate + make_self_signed("y")->substr(certificate.size()), "key"},
        {"TooLarge", good + std::string(max_pem_bytes, 'x'), "more than"},
        {"BrokenChain", good + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "broken"}};
    for (const auto& row : rows) {
        const auto checked = check_certificate(row.pem);
        EXPECT_EQ(checked.has_value(), row.error == nullptr) << row.name;
        if (!checked && row.error != nullptr) {
            EXPECT_NE(checked.error().text().find(row.error), std::string::npos) << row.name << checked.error().text();
        }
    }
    EXPECT_EQ(without_empty_lines("a\r\n\n  b  \n\n"), "a\nb\n");
}

TEST(Render, SameInputSameBytesAndADrainedMemberGetsNothingNew) {
    Settings settings;
    settings.http_listen = {"127.0.0.1:8080"};
    settings.status_listen = "127.0.0.1:1936";
    Image image;
    image.backends["c0_1"] = {{"2001:db8::1", 80, 9, Admin::ready}, {"192.0.2.1", 81, 9, Admin::drain}, {}};
    const std::vector<PoolClass> classes{{{}, 2}};
    const Binds binds{{"fd@200"}, {}, "fd@201"};
    const auto text = render_config(settings, "/d", binds, classes, image);
    EXPECT_EQ(text, render_config(settings, "/d", binds, classes, image));
    for (const auto* line : {"    server s1 [2001:db8::1]:80 weight 9\n", "    server s2 192.0.2.1:81 weight 0\n",
                             "    server s3 127.0.0.1:1 weight 1 disabled\n", "backend c0_2 from http_pool\n",
                             "    bind fd@200\n", "hard-stop-after 30s\n", "option idle-close-on-response\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line;
    }
    EXPECT_EQ(text.find("frontend tls"), std::string::npos) << "no TLS without an address for it";
}

}  // namespace
}  // namespace fairlead::proxy::haproxy
