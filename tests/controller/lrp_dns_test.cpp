// Instances of LRPs under names of SkyDNS: what the DNS server answers, what the LRP is told, what etcd holds.
#include "controller/lrp_dns.h"

#include "router_world.h"
#include "skydns/memory_etcd.h"

namespace fairlead::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr auto admin = "admin-api.service.skydns.local";

class LrpDnsTest : public RouterWorldTest {
protected:
    static constexpr auto desired_path = "/apis/fairlead.dev/v1/namespaces/default/desiredlrps";
    static constexpr auto actual_path = "/apis/fairlead.dev/v1/namespaces/default/actuallrps";

    void SetUp() override {
        begin();
        make_zone(zones_path, "sky", "skydns.local");
    }
    void begin(bool with_etcd = false) {
        start();
        etcd.reset();
        if (with_etcd) {
            skydns::EtcdOptions options;
            options.endpoints = {"http://etcd:2379"};
            etcd = std::make_unique<skydns::EtcdWriter>(
                options, [] { return true; }, world.clock, random, world.log, metrics.emplace_back(),
                skydns::EtcdWriterLimits{},
                [this](std::size_t endpoint, const net::ClientRequest& request) {
                    return memory.handle(endpoint, request);
                });
        }
        manager->add("lrp-dns", [this](auto& context) {
            return std::make_unique<LrpDns>(context, LrpDnsOptions{.etcd = etcd.get()});
        });
    }
    void settle() {
        for (int i = 0; i < 3; ++i) {
            pass(milliseconds(100));
            for (int steps = 0; etcd != nullptr && steps < 100 && etcd->step().more; ++steps) {
            }
        }
    }
    void desire(std::string_view name, std::string_view sky, int instances = 2) {
        make(desired_path,
             fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"DesiredLRP","metadata":{{"name":"{0}"}},
            "spec":{{"process_guid":"{0}","domain":"cf-apps","instances":{2},"ports":[4000,5000],
            "routes":{{"skydns":{1}}}}}}})",
                         name, sky, instances));
    }
    void desire_admin(std::string_view name, std::string_view more = R"("priority":20)") {
        desire(name, fmt::format(R"([{{"port":5000,"host":"{}",{}}}])", admin, more));
    }
    void run(std::string_view process, int index, std::string_view address, int port = 59002) {
        make(actual_path,
             fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"ActualLRP","metadata":{{"name":"{0}.{1}"}},
            "spec":{{"process_guid":"{0}","instance_guid":"i-{0}-{1}","cell_id":"c","domain":"cf-apps","index":{1},
            "address":"{2}","ports":[{{"container_port":5000,"host_port":{3}}}],"state":"RUNNING"}}}})",
                         process, index, address, port));
    }
    void stop(std::string_view process, int index) {
        world.remove(fmt::format("{}/{}.{}", actual_path, process, index));
    }
    Texts srv(std::string_view host) { return answers(host, dns::RecordType::srv); }
    Texts additional(std::string_view host) {
        dnsserver::ZoneSet::Reader reader(zones->published());
        const dnsserver::SnapshotSource source(reader.pin());
        const auto resolution = dns::resolve(source, {*dns::Name::parse(host), 33}, dns::Place{});
        Texts list;
        for (const auto& record : resolution.outcomes.at(0).additional)
            list.push_back(fmt::format("{} {}", record.owner.host(), dns::rdata_text(record.type, record.data)));
        return list;
    }
    dns::Rcode rcode(std::string_view host, unsigned type) {
        dnsserver::ZoneSet::Reader reader(zones->published());
        const dnsserver::SnapshotSource source(reader.pin());
        return dns::resolve(source, {*dns::Name::parse(host), static_cast<std::uint16_t>(type)}, dns::Place{})
            .outcomes.at(0)
            .rcode;
    }
    std::string said(std::string_view name) {
        const auto lrp = object(desired_path, name);
        const auto* list = json::find(lrp, "status.conditions");
        if (list == nullptr) return "none";
        for (const auto& each : list->get_array()) {
            if (json::string_at(each, "type") != "SkyDNS") continue;
            return fmt::format("{} {}: {}", json::string_at(each, "status"), json::string_at(each, "reason"),
                               json::string_at(each, "message"));
        }
        return "none";
    }

    skydns::MemoryEtcd memory{world.clock};
    std::unique_ptr<skydns::EtcdWriter> etcd;
};

TEST_F(LrpDnsTest, AnInstanceAnswersUnderItsNameAndThoseAbove) {
    desire_admin("app");
    settle();
    EXPECT_EQ(rcode(admin, 33), dns::Rcode::nxdomain) << "nobody runs yet";
    run("app", 0, "10.10.1.2");
    settle();
    for (const auto* name : {admin, "service.skydns.local", "0.admin-api.service.skydns.local"}) {
        ASSERT_EQ(srv(name).size(), 1U) << name;
        EXPECT_THAT(srv(name)[0], StartsWith("20 100 59002 ")) << name;
        EXPECT_THAT(srv(name)[0], testing::EndsWith(".0.admin-api.service.skydns.local.")) << name;
        EXPECT_THAT(answers(name), ElementsAre("10.10.1.2")) << name;
        EXPECT_THAT(additional(name), ElementsAre(testing::EndsWith(".0.admin-api.service.skydns.local 10.10.1.2")));
    }
    EXPECT_THAT(srv("skydns.local"), IsEmpty()) << "the apex is the zone's";
    EXPECT_EQ(rcode(admin, 28), dns::Rcode::noerror) << "known name, wrong type";
    EXPECT_EQ(rcode("other.service.skydns.local", 1), dns::Rcode::nxdomain);
    EXPECT_EQ(said("app"), "True Accepted: admin-api.service.skydns.local is in ManagedZone default/sky");
    stop("app", 0);
    settle();
    EXPECT_EQ(rcode(admin, 33), dns::Rcode::nxdomain);
    EXPECT_EQ(rcode("service.skydns.local", 33), dns::Rcode::nxdomain);
    EXPECT_THAT(names(records_path), IsEmpty());
}

TEST_F(LrpDnsTest, ProcessesShareANameByWeight) {
    desire_admin("app", R"("weight":30)");
    desire_admin("other", R"("weight":10)");
    run("app", 0, "10.10.1.2");
    run("other", 0, "2001:db8::7", 61000);
    settle();
    EXPECT_THAT(srv(admin), UnorderedElementsAre(StartsWith("10 75 59002 "), StartsWith("10 25 61000 ")));
    EXPECT_THAT(answers(admin), ElementsAre("10.10.1.2"));
    EXPECT_THAT(answers(admin, dns::RecordType::aaaa), ElementsAre("2001:db8::7"));
    EXPECT_EQ(additional(admin).size(), 2U);
    world.remove(fmt::format("{}/app", desired_path));
    settle();
    EXPECT_THAT(srv(admin), ElementsAre(StartsWith("10 100 61000 ")));
}

TEST_F(LrpDnsTest, AnInstanceThatMovesKeepsItsName) {
    desire_admin("app");
    run("app", 0, "10.10.1.2");
    settle();
    const auto before = srv(admin);
    stop("app", 0);
    run("app", 0, "10.10.1.9");
    settle();
    EXPECT_EQ(srv(admin), before);
    EXPECT_THAT(answers(admin), ElementsAre("10.10.1.9"));
}

TEST_F(LrpDnsTest, TheRecordsBelongToTheProcesses) {
    desire_admin("app");
    run("app", 0, "10.10.1.2");
    settle();
    const auto list = world.get(records_path).items();
    ASSERT_EQ(list.size(), 2U) << "of the host, and of the name above";
    for (const auto& record : list) {
        const auto& owners = json::find(record, "metadata.ownerReferences")->as_array();
        ASSERT_EQ(owners.size(), 1U);
        EXPECT_EQ(json::string_at(owners[0], "kind"), "DesiredLRP");
        EXPECT_EQ(json::string_at(owners[0], "uid"), json::string_at(object(desired_path, "app"), "metadata.uid"));
    }
    world.remove(fmt::format("{}/app", desired_path));
    settle();
    EXPECT_THAT(names(records_path), IsEmpty());
}

TEST_F(LrpDnsTest, WhatSomebodyChangesIsMended) {
    desire_admin("app");
    run("app", 0, "10.10.1.2");
    settle();
    const auto record = names(records_path).front();
    change(fmt::format("{}/{}", records_path, record), R"({"spec":{"endpoints":[]}})");
    settle();
    EXPECT_THAT(answers(admin), ElementsAre("10.10.1.2"));
    world.remove(fmt::format("{}/{}", records_path, record));
    settle();
    EXPECT_THAT(answers(admin), ElementsAre("10.10.1.2"));
    EXPECT_THAT(answers("service.skydns.local"), ElementsAre("10.10.1.2"));
}

TEST_F(LrpDnsTest, WithoutAZoneTheProcessIsTold) {
    desire("app", R"([{"port":5000,"host":"api.elsewhere.test"}])");
    run("app", 0, "10.10.1.2");
    settle();
    EXPECT_EQ(said("app"), "False NoZone: no ManagedZone of namespace default covers api.elsewhere.test");
    EXPECT_THAT(events("NoZone"), ElementsAre(HasSubstr("api.elsewhere.test")));
    EXPECT_THAT(names(records_path), IsEmpty());
    make_zone(zones_path, "else", "elsewhere.test");
    settle();
    EXPECT_THAT(said("app"), StartsWith("True Accepted"));
    EXPECT_THAT(answers("api.elsewhere.test"), ElementsAre("10.10.1.2"));
    world.remove(fmt::format("{}/else", zones_path));
    settle();
    EXPECT_THAT(said("app"), StartsWith("False NoZone"));
    EXPECT_THAT(names(records_path), IsEmpty());
}

TEST_F(LrpDnsTest, WhatCannotBeReadIsTheProvidersOwn) {
    desire("app", R"([{"port":5000,"host":"good.skydns.local"},{"port":4999,"host":"bad.skydns.local"}])");
    run("app", 0, "10.10.1.2");
    settle();
    EXPECT_THAT(said("app"), StartsWith("False Invalid: "));
    EXPECT_THAT(said("app"), HasSubstr("4999"));
    EXPECT_THAT(said("app"), EndsWith("; in force: good.skydns.local is in ManagedZone default/sky"));
    EXPECT_THAT(answers("good.skydns.local"), ElementsAre("10.10.1.2")) << "what is right is in force";
    change(fmt::format("{}/app", desired_path), R"({"spec":{"routes":{"skydns":null}}})");
    settle();
    EXPECT_EQ(said("app"), "none") << "no routes, no condition";
    EXPECT_THAT(names(records_path), IsEmpty());
}

TEST_F(LrpDnsTest, NamesOfOthersStayTheirs) {
    make(records_path, R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord","metadata":{"name":"mine"},
        "spec":{"dnsName":"service.skydns.local","endpoints":[
        {"dnsName":"service.skydns.local","recordType":"A","targets":["198.51.100.1"]},
        {"dnsName":"admin-api.service.skydns.local","recordType":"A","targets":["198.51.100.2"]}]}})");
    pass(seconds(2));
    desire_admin("app");
    run("app", 0, "10.10.1.2");
    settle();
    EXPECT_THAT(answers("service.skydns.local"), ElementsAre("198.51.100.1"));
    EXPECT_THAT(answers(admin), ElementsAre("198.51.100.2"));
    EXPECT_EQ(srv(admin).size(), 1U) << "the rest of it is served";
    EXPECT_THAT(said("app"), StartsWith("False Conflict: admin-api.service.skydns.local: DNSRecord default/skydns-"));
    EXPECT_THAT(said("app"), HasSubstr("default/mine"));
}

TEST_F(LrpDnsTest, ARestartWritesNothing) {
    desire_admin("app");
    for (int i = 0; i < 2; ++i) run("app", i, fmt::format("10.10.1.{}", i));
    settle();
    const auto before = json::serialize(world.get(records_path).value.as_object().at("items"));
    const auto lrp = json::serialize(object(desired_path, "app"));
    begin();
    settle();
    EXPECT_EQ(json::serialize(world.get(records_path).value.as_object().at("items")), before);
    EXPECT_EQ(json::serialize(object(desired_path, "app")), lrp);
}

TEST_F(LrpDnsTest, ManyInstancesHaveSeveralRecords) {
    desire("app", fmt::format(R"([{{"port":5000,"host":"{}"}}])", admin), 250);
    for (int i = 0; i < 250; ++i) run("app", i, fmt::format("10.10.{}.{}", i / 200, i % 200 + 1), 60'000 + i);
    settle();
    EXPECT_EQ(srv(admin).size(), 250U);
    EXPECT_EQ(names(records_path).size(), 4U) << "three hundreds, and the name above";
    EXPECT_THAT(answers("249.admin-api.service.skydns.local"), ElementsAre("10.10.1.50"));
    const auto generations = [this] {
        std::map<std::string, std::int64_t> found;
        const auto list = world.get(records_path).items();
        for (const auto& record : list)
            found.emplace(json::string_at(record, "metadata.name"),
                          json::int_at(record, "metadata.generation").value_or(0));
        return found;
    };
    const auto before = generations();
    stop("app", 249);
    settle();
    const auto after = generations();
    ASSERT_EQ(after.size(), 4U);
    const auto changed = std::count_if(after.begin(), after.end(),
                                       [&](const auto& each) { return before.at(each.first) != each.second; });
    EXPECT_EQ(changed, 3) << "the middle hundred is not written";
    EXPECT_EQ(srv(admin).size(), 249U);
}

TEST_F(LrpDnsTest, EtcdHoldsTheSame) {
    begin(true);
    desire_admin("app");
    desire("lone", R"([{"port":5000,"host":"api.elsewhere.test"}])");
    run("app", 0, "10.10.1.2");
    run("lone", 0, "10.10.1.3");
    settle();
    ASSERT_EQ(memory.keys.size(), 2U);
    EXPECT_THAT(memory.keys.begin()->first, StartsWith("/skydns/local/skydns/service/admin-api/0/"));
    EXPECT_EQ(memory.keys.begin()->second.value,
              R"({"host":"10.10.1.2","port":59002,"priority":20,"weight":100,"ttl":30})");
    EXPECT_EQ(said("app"), "True Accepted: admin-api.service.skydns.local is in ManagedZone default/sky and in etcd");
    EXPECT_EQ(said("lone"), "True Accepted: api.elsewhere.test is in etcd") << "it needs no zone of ours";
    stop("app", 0);
    settle();
    EXPECT_EQ(memory.keys.size(), 1U);
    memory.away = {0};
    run("app", 0, "10.10.1.2");
    settle();
    EXPECT_THAT(said("app"), StartsWith("False EtcdUnavailable: "));
    EXPECT_THAT(answers(admin), ElementsAre("10.10.1.2")) << "our own server does not wait for it";
    memory.away.clear();
    world.clock.advance(seconds(20));
    settle();
    EXPECT_EQ(memory.keys.size(), 2U);
    EXPECT_THAT(said("app"), StartsWith("True Accepted"));
    begin(true);
    world.remove(fmt::format("{}/lone", desired_path));
    settle();
    EXPECT_EQ(memory.keys.size(), 1U) << "what went while nobody looked goes at the start";
}

}  // namespace
}  // namespace fairlead::controller
