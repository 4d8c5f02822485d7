#include "provider/zonefile/zonefile.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "provider/zonefile/command.h"
#include "provider/zones.h"

namespace fairlead::provider::zonefile {
namespace {

class ZonefileProvider : public testing::Test {
protected:
    ZonefileProvider() {
        folder_ = std::filesystem::path(testing::TempDir()) / ("zonefile-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
        settings_.provider = "zonefile";
        settings_.apex = dns::Name::parse("example.com").value();
        settings_.zonefile.path = (folder_ / "example.com.zone").string();
        settings_.name_servers = {"ns1.example.com 192.0.2.53"};
    }
    ~ZonefileProvider() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string file() const { return read_file(settings_.zonefile.path).value_or(""); }
    void write(const std::string& text) const { ASSERT_TRUE(write_file(settings_.zonefile.path, text)); }
    std::unique_ptr<Provider> provider() { return make(settings_, world_.around).value(); }
    static std::vector<std::string> lines(Provider& provider) {
        const auto listed = provider.list(std::nullopt);
        EXPECT_TRUE(listed) << listed.error().text();
        return listed ? lines_of(listed->endpoints) : std::vector<std::string>{};
    }

    std::filesystem::path folder_;
    ZoneSettings settings_;
    World world_;
};

TEST_F(ZonefileProvider, AFileBeginsWithTheFirstChange) {
    const auto zone = provider();
    EXPECT_EQ(lines(*zone), std::vector<std::string>{});
    EXPECT_FALSE(std::filesystem::exists(settings_.zonefile.path)) << "reading writes nothing";
    const auto outcomes = zone->apply(std::vector{
        group_of({"+www.example.com 60 A 192.0.2.1", "+_owner.www.example.com 300 TXT \"heritage=external-dns\""})});
    EXPECT_EQ(states_of(outcomes), "applied") << messages_of(outcomes);
    EXPECT_TRUE(outcomes[0].change_id.starts_with("serial ")) << outcomes[0].change_id;
    const std::vector<std::string> expected{"_owner.www.example.com 300 TXT \"heritage=external-dns\"",
                                            "ns1.example.com 300 A 192.0.2.53", "www.example.com 60 A 192.0.2.1"};
    EXPECT_EQ(lines(*zone), expected);
    EXPECT_EQ(lines(*provider()), expected) << "from the file alone";
    EXPECT_EQ(zone->name_servers(), std::vector<std::string>{"ns1.example.com"});
}

TEST_F(ZonefileProvider, SerialsRiseWithEachChangeAndOnlyThen) {
    const auto zone = provider();
    zone->apply(std::vector{group_of({"+a.example.com 60 A 192.0.2.1"})});
    const auto first = zone->list(std::nullopt)->version;
    zone->apply(std::vector{group_of({"+b.example.com 60 A 192.0.2.1"})});
    const auto second = zone->list(std::nullopt)->version;
    EXPECT_GT(parse_int(second), parse_int(first));
    const auto text = file();
    const auto outcomes = zone->apply(std::vector{group_of({"+b.example.com 60 A 192.0.2.2"})});
    EXPECT_EQ(states_of(outcomes), "conflict");
    EXPECT_EQ(file(), text) << "a conflict alone writes nothing";
}

TEST_F(ZonefileProvider, ForeignEditsAreKeptAndSeen) {
    const auto zone = provider();
    zone->apply(std::vector{group_of({"+a.example.com 60 A 192.0.2.1"}), group_of({"+b.example.com 60 A 192.0.2.1"})});
    write(file() +
          "theirs IN A 198.51.100.1\n       IN LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m\n"
          "a 60 IN A 198.51.100.9\n");
    const auto outcomes = zone->apply(std::vector{
        group_of({"-a.example.com 60 A 192.0.2.1", "+a.example.com 60 A 192.0.2.2"}),
        group_of({"-b.example.com 60 A 192.0.2.1", "+b.example.com 60 A 192.0.2.2"}),
        group_of({"+theirs.example.com 60 CNAME www.example."}),
    });
    EXPECT_EQ(states_of(outcomes), "conflict applied conflict") << messages_of(outcomes);
    EXPECT_NE(outcomes[0].message.find("a.example.com A is not in the file as it was read"), std::string::npos)
        << outcomes[0].message;
    EXPECT_EQ(lines(*zone),
              (std::vector<std::string>{"a.example.com 60 A 192.0.2.1;198.51.100.9", "b.example.com 60 A 192.0.2.2",
                                        "ns1.example.com 300 A 192.0.2.53", "theirs.example.com 300 A 198.51.100.1"}));
    EXPECT_NE(file().find("LOC     52 22 23.000 N 4 53 32.000 E"), std::string::npos) << file();
}

TEST_F(ZonefileProvider, ReadsAFewNames) {
    const auto zone = provider();
    zone->apply(std::vector{group_of({"+a.example.com 60 A 192.0.2.1"}), group_of({"+b.example.com 60 A 192.0.2.1"})});
    const auto listed = zone->list(std::vector<std::string>{"b.example.com", "c.example.com"});
    ASSERT_TRUE(listed);
    EXPECT_EQ(lines_of(listed->endpoints), std::vector<std::string>{"b.example.com 60 A 192.0.2.1"});
}

TEST_F(ZonefileProvider, AFileThatCannotBeReadIsNeverWritten) {
    const std::string text = "$ORIGIN example.com.\n$INCLUDE more\n";
    write(text);
    const auto zone = provider();
    const auto listed = zone->list(std::nullopt);
    ASSERT_FALSE(listed);
    EXPECT_EQ(listed.error().code, Errc::invalid);
    EXPECT_NE(listed.error().text().find("line 2: $INCLUDE is not understood"), std::string::npos)
        << listed.error().text();
    const auto outcomes = zone->apply(std::vector{group_of({"+a.example.com 60 A 192.0.2.1"})});
    EXPECT_EQ(states_of(outcomes), "unavailable");
    EXPECT_EQ(file(), text);
}

TEST_F(ZonefileProvider, AReloadThatFailsIsRunAgainUntilItWorks) {
    settings_.zonefile.reload_command = {"sh", "-c", "test -e \"$0/ready\" || { echo not yet, $1 >&2; exit 3; }",
                                         folder_.string(), "{zone}"};
    const auto zone = provider();
    const auto outcomes = zone->apply(std::vector{group_of({"+a.example.com 60 A 192.0.2.1"})});
    EXPECT_EQ(states_of(outcomes), "unavailable");
    EXPECT_EQ(outcomes[0].message, "the file is written, but sh ended with code 3: not yet, example.com");
    EXPECT_NE(file().find("192.0.2.1"), std::string::npos);
    auto listed = provider()->list(std::nullopt);  // another process would know too
    ASSERT_FALSE(listed);
    EXPECT_EQ(listed.error().code, Errc::unavailable);
    ASSERT_TRUE(write_file(folder_ / "ready", ""));
    listed = zone->list(std::nullopt);
    EXPECT_TRUE(listed) << listed.error().text();
    EXPECT_FALSE(std::filesystem::exists(settings_.zonefile.path + ".pending"));
}

TEST_F(ZonefileProvider, CommandsHaveATimeLimit) {
    const auto ran =
        run_command({"sh", "-c", "echo waiting; sleep 60 & wait"}, std::chrono::milliseconds{50}, world_.clock);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().message, "sh takes longer than 50 ms: waiting");
    EXPECT_TRUE(run_command({"sh", "-c", "sleep 3 & exit 0"}, std::chrono::seconds{2}, world_.clock))
        << "what it leaves behind is not waited for";
    const auto missing = run_command({"/no/such/program"}, std::chrono::seconds{1}, world_.clock);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, "cannot start /no/such/program: No such file or directory");
}

TEST_F(ZonefileProvider, StaysInItsFolder) {
    settings_.zonefile.path = (folder_ / ".." / "other.zone").string();
    EXPECT_FALSE(make(settings_, world_.around));
    settings_.zonefile.path = (folder_ / "link.zone").string();
    std::filesystem::create_symlink("/etc/hostname", settings_.zonefile.path);
    const auto listed = provider()->list(std::nullopt);
    ASSERT_FALSE(listed);
    EXPECT_NE(listed.error().text().find("is a symbolic link"), std::string::npos);
}

TEST_F(ZonefileProvider, RefusesPoliciesUnlessTheyAreFlattened) {
    auto endpoint = endpoint_of_line("www.example.com 60 A 192.0.2.1");
    endpoint.set_identifier = "cluster/a";
    endpoint.properties = {{"weight", "10"}};
    const auto refused = provider()->canonicalise(endpoint);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unsupported);
    EXPECT_EQ(
        refused.error().text(),
        "providerSpecific[weight]: \"10\" cannot be expressed by provider zonefile, which serves one set per name "
        "and type; spec.routingPolicies: Flatten in the ManagedZone makes one of them");
    settings_.policies = PolicyHandling::flatten;
    const auto flat = provider()->canonicalise(endpoint);
    ASSERT_TRUE(flat);
    EXPECT_TRUE(flat->set_identifier.empty() && flat->properties.empty());
}

}  // namespace
}  // namespace fairlead::provider::zonefile
