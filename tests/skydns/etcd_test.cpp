// Services in etcd: keys and values, the difference, and the writer through losses, against an etcd in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/random.h"
#include "skydns/etcd_plan.h"
#include "skydns/etcd_writer.h"
#include "skydns/memory_etcd.h"

namespace fairlead::skydns {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view owner = "5b1d77e0";

Service service(int index, std::string address = "10.10.1.2") {
    Service made;
    made.host = "admin-api.service.skydns.local";
    made.index = index;
    made.mark = "1c2e09f4aa";
    made.address = std::move(address);
    made.port = 59002;
    made.priority = 20;
    return made;
}
std::string key(int index) { return key_of("/skydns", owner, service(index)); }

TEST(EtcdText, KeysAndValuesAreThoseOfSkyDns) {
    EXPECT_EQ(key(0), "/skydns/local/skydns/service/admin-api/0/1c2e09f4aa-5b1d77e0");
    EXPECT_EQ(value_of(service(0)), R"({"host":"10.10.1.2","port":59002,"priority":20,"weight":100,"ttl":30})");
}

struct OursCase {
    std::string key;
    bool ours;
};
class Ours : public testing::TestWithParam<OursCase> {};
TEST_P(Ours, ByTheirForm) { EXPECT_EQ(is_ours("/skydns", owner, GetParam().key), GetParam().ours) << GetParam().key; }
INSTANTIATE_TEST_SUITE_P(Keys, Ours,
                         testing::Values(OursCase{"/skydns/local/a/0/1c2e09f4aa-5b1d77e0", true},
                                         OursCase{"/skydns/local/a/12/1c2e09f4aa-5b1d77e0", true},
                                         OursCase{"/skydns/local/a/0/1c2e09f4aa-5b1d77e1", false},
                                         OursCase{"/skydns/local/a/0/1c2e09f4aa", false},
                                         OursCase{"/skydns/local/a/x/1c2e09f4aa-5b1d77e0", false},
                                         OursCase{"/skydns/local/a/0/1c2e09f4az-5b1d77e0", false},
                                         OursCase{"/other/local/a/0/1c2e09f4aa-5b1d77e0", false},
                                         OursCase{"/skydns/0/1c2e09f4aa-5b1d77e0", false}, OursCase{"/skydns", false}));

TEST(EtcdPlan, PutsFirstAndTouchesNothingOfOthers) {
    const std::vector<KeyValue> present = {{key(0), value_of(service(0)), 7},
                                           {key(1), "old", 7},
                                           {key(2), value_of(service(2)), 6},
                                           {key(3), value_of(service(3)), 7},
                                           {"/skydns/local/skydns/service/admin-api/x", "{}", 0},
                                           {key_of("/skydns", "11111111", service(0)), "{}", 3}};
    const std::map<std::string, std::string> wanted = {{key(0), value_of(service(0))},
                                                       {key(1), value_of(service(1))},
                                                       {key(2), value_of(service(2))},
                                                       {key(4), value_of(service(4))}};
    EXPECT_THAT(plan(present, wanted, "/skydns", owner, 7),
                ElementsAre(Op{key(1), value_of(service(1))}, Op{key(2), value_of(service(2))},
                            Op{key(4), value_of(service(4))}, Op{key(3), std::nullopt}));
}

class Writer : public testing::Test {
protected:
    Writer() { options.endpoints = {"http://one:2379", "http://two:2379"}; }
    void start() {
        writer.emplace(
            options, [this] { return leading; }, clock, random, log, metrics, EtcdWriterLimits{},
            [this](std::size_t endpoint, const net::ClientRequest& request) { return etcd.handle(endpoint, request); });
        writer->on_news([this] { ++news; });
    }
    // All that is to be done now; says when there will be more.
    std::chrono::nanoseconds run() {
        for (int i = 0; i < 1'000; ++i) {
            const auto step = writer->step();
            if (!step.more) return step.due ? *step.due - clock.monotonic() : seconds(0);
        }
        ADD_FAILURE() << "it never comes to rest";
        return {};
    }
    void run_for(seconds time) {
        const auto end = clock.monotonic() + time;
        while (clock.monotonic() < end) {
            const auto next = run();
            clock.advance(std::clamp<std::chrono::nanoseconds>(next, std::chrono::milliseconds(100), seconds(5)));
        }
        run();
    }
    void put(std::vector<Service> come, std::vector<Service> gone = {}) { writer->put(gone, come); }

    ManualClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    MemoryEtcd etcd{clock};
    EtcdOptions options;
    bool leading = true;
    int news = 0;
    std::optional<EtcdWriter> writer;
};

TEST_F(Writer, WaitsUntilEverythingIsKnown) {
    start();
    put({service(0)});
    run();
    EXPECT_THAT(etcd.calls, IsEmpty());
    writer->complete(std::string(owner));
    run();
    ASSERT_EQ(etcd.keys.size(), 1U);
    EXPECT_EQ(etcd.keys.begin()->first, key(0));
    EXPECT_NE(etcd.keys.begin()->second.lease, 0) << "without a lease it would outlive us";
    EXPECT_EQ(writer->standing().keys, EtcdStanding::Keys::current);
}

TEST_F(Writer, WritesWhatChangesAndNoMore) {
    start();
    put({service(0), service(1)});
    writer->complete(std::string(owner));
    run();
    const auto before = etcd.writes;
    put({service(1, "10.10.1.9")}, {service(1)});
    put({}, {service(0)});
    run();
    EXPECT_EQ(etcd.writes - before, 2U);
    ASSERT_EQ(etcd.keys.size(), 1U);
    EXPECT_THAT(etcd.keys.at(key(1)).value, HasSubstr("10.10.1.9"));
}

TEST_F(Writer, KeepsItsLeaseAliveAndDropsItWithUs) {
    start();
    put({service(0)});
    writer->complete(std::string(owner));
    run_for(seconds(300));
    EXPECT_EQ(etcd.keys.size(), 1U);
    EXPECT_EQ(etcd.leases.size(), 1U) << "one lease for all that time";
    writer.reset();
    clock.advance(seconds(61));
    ASSERT_TRUE(etcd.handle(0, {"POST", "/v3/kv/range", {}, range_body("/skydns/", {}, 10)}));
    EXPECT_THAT(etcd.keys, IsEmpty());
}

TEST_F(Writer, TakesOverWhatAnEarlierRunLeft) {
    start();
    put({service(0), service(1)});
    writer->complete(std::string(owner));
    run();
    const auto old = etcd.keys.at(key(0)).lease;
    etcd.keys["/skydns/local/skydns/service/admin-api/x"] = {"/skydns/local/skydns/service/admin-api/x", "{}", 0};
    start();
    put({service(0)});
    writer->complete(std::string(owner));
    run();
    EXPECT_EQ(etcd.keys.size(), 2U) << "index 1 is gone, the key of somebody else stays";
    EXPECT_NE(etcd.keys.at(key(0)).lease, old);
    run_for(seconds(120));
    EXPECT_TRUE(etcd.keys.contains(key(0))) << "the end of the old lease takes nothing along";
}

TEST_F(Writer, TriesAgainUntilEtcdIsBack) {
    start();
    put({service(0)});
    writer->complete(std::string(owner));
    run();
    etcd.away = {0, 1};
    put({service(1)});
    run();
    EXPECT_EQ(writer->standing().keys, EtcdStanding::Keys::old);
    EXPECT_THAT(writer->standing().why, HasSubstr("connection refused"));
    EXPECT_THAT(writer->standing().why, HasSubstr(":2379")) << "says who";
    const auto calls = etcd.calls.size();
    run_for(seconds(100));
    EXPECT_LT(etcd.calls.size() - calls, 80U) << "with patience";
    etcd.away.clear();
    run_for(seconds(16));
    EXPECT_EQ(etcd.keys.size(), 2U) << "those whose lease ended meanwhile, too";
    EXPECT_EQ(writer->standing().keys, EtcdStanding::Keys::current);
    EXPECT_GE(news, 3) << "written, failing, written";
}

TEST_F(Writer, GoesToAnotherMember) {
    start();
    etcd.away = {0};
    put({service(0)});
    writer->complete(std::string(owner));
    run();
    EXPECT_EQ(etcd.keys.size(), 1U);
    EXPECT_EQ(writer->standing().keys, EtcdStanding::Keys::current);
    const auto first_of = [](const auto& calls, char member) {
        return std::count_if(calls.begin(), calls.end(), [&](const auto& call) { return call[0] == member; });
    };
    EXPECT_EQ(first_of(etcd.calls, '0'), 1) << "and stays there";
}

TEST_F(Writer, MendsWhatOthersDidToItsKeys) {
    start();
    put({service(0)});
    writer->complete(std::string(owner));
    run();
    etcd.keys.erase(key(0));
    run_for(seconds(310));
    EXPECT_EQ(etcd.keys.size(), 1U);
    etcd.leases.clear();
    etcd.keys.clear();
    run_for(seconds(30));
    EXPECT_EQ(etcd.keys.size(), 1U) << "a lease that somebody revoked";
}

TEST_F(Writer, StopsWhenAnotherLeads) {
    start();
    put({service(0)});
    writer->complete(std::string(owner));
    run();
    leading = false;
    put({service(1)});
    run();
    EXPECT_EQ(etcd.keys.size(), 1U);
    leading = true;
    run();
    EXPECT_EQ(etcd.keys.size(), 2U);
}

TEST_F(Writer, LogsInAndAgainWhenItsTokenHasEnded) {
    etcd.password = "secret";
    options.user = "fairlead";
    options.password = "secret";
    start();
    put({service(0)});
    writer->complete(std::string(owner));
    run();
    EXPECT_EQ(etcd.keys.size(), 1U);
    etcd.token = "token-2";
    put({service(1)});
    run();
    EXPECT_EQ(etcd.keys.size(), 2U);
}

TEST_F(Writer, TellsThatItsPasswordIsWrong) {
    etcd.password = "secret";
    options.user = "fairlead";
    options.password = "wrong";
    start();
    put({service(0)});
    writer->complete(std::string(owner));
    run();
    EXPECT_THAT(writer->standing().why, HasSubstr("authentication failed"));
}

TEST_F(Writer, CarriesManyInPagesAndPieces) {
    etcd.page = 70;
    start();
    std::vector<Service> many;
    for (int i = 0; i < 1'000; ++i) many.push_back(service(i));
    put(many);
    writer->complete(std::string(owner));
    run();
    EXPECT_EQ(etcd.keys.size(), 1'000U);
    start();
    many.resize(500);
    put(many);
    writer->complete(std::string(owner));
    run();
    EXPECT_EQ(etcd.keys.size(), 500U);
}

}  // namespace
}  // namespace fairlead::skydns
