// Files of the provider zonefile, served by real BIND and NSD, which its reload command tells.
#include "provider/zonefile/zonefile.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "provider/real/name_server.h"
#include "provider/real/processes.h"
#include "provider/zones.h"

namespace fairlead::provider {
namespace {

constexpr const char* zone_name = "file.example";

// Both reload in the background: asks until the answer is there, for 20 seconds at most.
std::vector<std::string> dig_until(int port, const std::string& name, const std::string& type,
                                   const std::vector<std::string>& expected) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    auto answer = dig(port, name, type);
    while (answer != expected && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        answer = dig(port, name, type);
    }
    return answer;
}

class ServedFile : public testing::Test {
protected:
    void SetUp() override {
        settings_.provider = "zonefile";
        settings_.apex = dns::Name::parse(zone_name).value();
        settings_.zonefile.path = (dir_.path() / "zone").string();
        settings_.name_servers = {"ns1.file.example 127.0.0.1"};
        port_ = free_port();
    }

    // Creates, changes and removes, and looks at what is served each time.
    void live(const std::function<void()>& start) {
        auto settings = settings_;
        settings.zonefile.reload_command.clear();
        auto zone = zonefile::make(settings, world_.around).value();
        auto outcomes = zone->apply(std::vector{group_of({"+www.file.example 60 A 192.0.2.1;192.0.2.2"}),
                                                group_of({"+*.file.example 60 CNAME www.file.example."}),
                                                group_of({"+txt.file.example 60 TXT \"a \\\"b\\\" (c\" \"d\""})});
        ASSERT_EQ(states_of(outcomes), "applied applied applied") << messages_of(outcomes);
        const auto checked = run({"named-checkzone", zone_name, settings_.zonefile.path});
        EXPECT_EQ(checked.code, 0) << checked.out << dir_.read("zone");
        start();
        ASSERT_TRUE(wait_for_port(port_)) << dir_.read("log");
        EXPECT_EQ(dig_until(port_, "www.file.example", "A", {"192.0.2.1", "192.0.2.2"}),
                  (std::vector<std::string>{"192.0.2.1", "192.0.2.2"}));
        EXPECT_EQ(dig(port_, "txt.file.example", "TXT"), std::vector<std::string>{"\"a \\\"b\\\" (c\" \"d\""});

        zone = zonefile::make(settings_, world_.around).value();
        outcomes = zone->apply(
            std::vector{group_of({"-www.file.example 60 A 192.0.2.1;192.0.2.2", "+www.file.example 30 A 192.0.2.3"}),
                        group_of({"+new.file.example 60 MX 10 mail.example.net."})});
        ASSERT_EQ(states_of(outcomes), "applied applied") << messages_of(outcomes) << dir_.read("log");
        EXPECT_EQ(dig_until(port_, "www.file.example", "A", {"192.0.2.3"}), std::vector<std::string>{"192.0.2.3"});
        EXPECT_EQ(dig(port_, "new.file.example", "MX"), std::vector<std::string>{"10 mail.example.net."});
        const auto serial = zone->list(std::nullopt)->version;
        const auto soa = dig(port_, zone_name, "SOA");
        ASSERT_EQ(soa.size(), 1U);
        EXPECT_NE(soa[0].find(" " + serial + " "), std::string::npos) << soa[0] << " is not " << serial;

        outcomes = zone->apply(std::vector{group_of({"-new.file.example 60 MX 10 mail.example.net."})});
        ASSERT_EQ(states_of(outcomes), "applied") << messages_of(outcomes);
        EXPECT_EQ(dig_until(port_, "new.file.example", "MX", {"www.file.example."}),
                  std::vector<std::string>{"www.file.example."})
            << "the wildcard's";

        process_.stop();
        outcomes = zone->apply(std::vector{group_of({"+late.file.example 60 A 192.0.2.9"})});
        EXPECT_EQ(states_of(outcomes), "unavailable") << "nobody to tell";
        EXPECT_NE(outcomes[0].message.find("the file is written, but "), std::string::npos) << outcomes[0].message;
        start();
        ASSERT_TRUE(wait_for_port(port_)) << dir_.read("log");
        EXPECT_EQ(dig_until(port_, "late.file.example", "A", {"192.0.2.9"}), std::vector<std::string>{"192.0.2.9"});
        const auto listed = zone->list(std::nullopt);
        EXPECT_TRUE(listed) << listed.error().text();
    }

    TempDir dir_;
    World world_;
    ZoneSettings settings_;
    int port_ = 0;
    Process process_;
};

TEST_F(ServedFile, ByBind) {
    const auto folder = dir_.path().string();
    const int control = free_port();
    const auto key = fmt::format("key \"control\" {{ algorithm hmac-sha256; secret \"{}\"; }};\n", key_secret);
    dir_.write("named.conf", fmt::format(R"(options {{
    directory "{0}"; pid-file "named.pid"; session-keyfile "session.key"; managed-keys-directory "{0}"; lock-file none;
    listen-on port {1} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; recursion no; dnssec-validation no; notify no;
}};
{2}controls {{ inet 127.0.0.1 port {3} allow {{ 127.0.0.1; }} keys {{ "control"; }}; }};
zone "{4}" {{ type primary; file "zone"; }};
)",
                                         folder, port_, key, control, zone_name));
    dir_.write("rndc.conf",
               fmt::format("{}options {{ default-key \"control\"; default-server 127.0.0.1; default-port {}; "
                           "}};\n",
                           key, control));
    settings_.zonefile.reload_command = {"rndc", "-c", folder + "/rndc.conf", "reload", "{zone}"};
    live([&] { process_ = Process({"named", "-g", "-n", "1", "-c", folder + "/named.conf"}, dir_.path() / "log"); });
}

TEST_F(ServedFile, ByNsd) {
    const auto folder = dir_.path().string();
    dir_.write("nsd.conf", fmt::format(R"(server:
    ip-address: 127.0.0.1@{0}
    username: ""
    chroot: ""
    zonesdir: "{1}"
    database: ""
    pidfile: "{1}/nsd.pid"
    zonelistfile: "{1}/zone.list"
    xfrdfile: "{1}/xfrd.state"
    xfrdir: "{1}"
    server-count: 1
remote-control:
    control-enable: yes
    control-interface: "{1}/control"
zone:
    name: "{2}"
    zonefile: "zone"
)",
                                       port_, folder, zone_name));
    settings_.zonefile.reload_command = {"nsd-control", "-c", folder + "/nsd.conf", "reload", "{zone}"};
    live([&] { process_ = Process({"nsd", "-d", "-c", folder + "/nsd.conf"}, dir_.path() / "log"); });
}

}  // namespace
}  // namespace fairlead::provider
