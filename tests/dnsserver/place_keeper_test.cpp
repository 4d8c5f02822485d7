#include "dnsserver/place_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "paths/paths.h"

namespace fairlead::dnsserver {
namespace {

using std::filesystem::path;

class PlaceKeeping : public testing::Test {
protected:
    PlaceKeeping() { std::filesystem::copy_file(paths::geo_files() / "city4.mmdb", file_); }
    ~PlaceKeeping() override { std::filesystem::remove_all(folder_); }

    std::unique_ptr<PlaceKeeper> start(std::vector<geo::Override> overrides = {}) {
        auto keeper = PlaceKeeper::start({file_, std::move(overrides)}, clock_, log_, metrics_);
        EXPECT_TRUE(keeper) << (keeper ? "" : keeper.error().text());
        return keeper ? std::move(*keeper) : nullptr;
    }
    static std::string country(PlaceKeeper& keeper, std::string_view address) {
        Places::Reader reader(keeper.published());
        const auto& table = reader.pin();
        return table ? table->place_of(dns::Address::parse(address).value()).country : "no table";
    }
    void rewrite(std::string_view content) { std::ofstream(file_, std::ios::binary | std::ios::trunc) << content; }
    void replace(std::string_view kind) {
        const auto beside = folder_ / "new";
        std::filesystem::copy_file(paths::geo_files() / (std::string(kind) + ".mmdb"), beside);
        std::filesystem::rename(beside, file_);
    }

    ManualClock clock_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    path folder_ = [] {
        std::string name = (std::filesystem::temp_directory_path() / "fairlead-places-XXXXXX").string();
        return path(::mkdtemp(name.data()));
    }();
    path file_ = folder_ / "places.mmdb";
};

TEST_F(PlaceKeeping, LoadsAtStart) {
    const auto keeper = start();
    EXPECT_EQ(country(*keeper, "192.0.2.1"), "DE");
    EXPECT_THAT(metrics_.expose(), testing::HasSubstr("fairlead_geoip_last_load_success 1"));
    EXPECT_THAT(metrics_.expose(), testing::HasSubstr("fairlead_geoip_networks{family=\"ipv6\"} 1"));
}

TEST_F(PlaceKeeping, RefusesToStartWithoutTheFile) {
    std::filesystem::remove(file_);
    const auto keeper = PlaceKeeper::start({file_, {}}, clock_, log_, metrics_);
    ASSERT_FALSE(keeper);
    EXPECT_THAT(keeper.error().text(), testing::HasSubstr(file_.string()));
}

TEST_F(PlaceKeeping, NeedsNoFile) {
    const auto none = PlaceKeeper::start({}, clock_, log_, metrics_);
    EXPECT_EQ(country(**none, "192.0.2.1"), "no table");
    const auto overrides =
        PlaceKeeper::start({{}, {geo::parse_override("192.0.2.0/24=FR").value()}}, clock_, log_, metrics_);
    EXPECT_EQ(country(**overrides, "192.0.2.1"), "FR");
}

TEST_F(PlaceKeeping, NoticesAReplacedFile) {
    const auto keeper = start();
    EXPECT_FALSE(keeper->published().newest()->place_of(dns::Address::parse("2001:db8::1").value()).country == "DE");
    replace("city");
    keeper->check();
    EXPECT_EQ(country(*keeper, "2001:db8::1"), "") << "it may still be being written";
    keeper->check();
    EXPECT_EQ(country(*keeper, "2001:db8::1"), "DE");
    EXPECT_THAT(metrics_.expose(), testing::HasSubstr("fairlead_geoip_loads_total{result=\"success\"} 2"));
    keeper->check();
    EXPECT_THAT(metrics_.expose(), testing::HasSubstr("fairlead_geoip_loads_total{result=\"success\"} 2"));
}

TEST_F(PlaceKeeping, KeepsTheOldOnesWhenTheNewFileIsBroken) {
    const auto keeper = start({geo::parse_override("198.18.0.0/15=JP").value()});
    const auto good = read_file(paths::geo_files() / "city.mmdb").value();
    rewrite(good.substr(0, good.size() / 2));
    for (int i = 0; i < 5; ++i) keeper->check();
    EXPECT_EQ(country(*keeper, "192.0.2.1"), "DE");
    EXPECT_THAT(metrics_.expose(), testing::HasSubstr("fairlead_geoip_loads_total{result=\"failure\"} 1"))
        << "tried once, not with every look";
    EXPECT_THAT(metrics_.expose(), testing::HasSubstr("fairlead_geoip_last_load_success 0"));
    rewrite(good);
    for (int i = 0; i < 2; ++i) keeper->check();
    EXPECT_EQ(country(*keeper, "2001:db8::1"), "DE");
    EXPECT_EQ(country(*keeper, "198.18.0.1"), "JP") << "overrides stay";
    std::filesystem::remove(file_);
    for (int i = 0; i < 5; ++i) keeper->check();
    EXPECT_EQ(country(*keeper, "2001:db8::1"), "DE");
}

TEST_F(PlaceKeeping, ReloadsWhenAsked) {
    const auto keeper = start();
    replace("city");
    keeper->reload();
    EXPECT_EQ(country(*keeper, "2001:db8::1"), "DE");
}

// The old table lives as long as a worker holds it.
TEST_F(PlaceKeeping, LeavesReadersTheirTable) {
    const auto keeper = start();
    Places::Reader reader(keeper->published());
    const auto& held = reader.pin();
    keeper->reload();
    EXPECT_EQ(held->place_of(dns::Address::parse("192.0.2.1").value()).country, "DE");
    EXPECT_EQ(keeper->published().waiting(), 1U);
    reader.unpin();
    keeper->check();
    EXPECT_EQ(keeper->published().waiting(), 0U);
}

// Under the thread sanitizer: workers ask all the time while the table is replaced.
TEST_F(PlaceKeeping, AnswersWhileItReloads) {
    const auto keeper = start();
    std::atomic<bool> stop{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> workers;
    for (int i = 0; i < 2; ++i) {
        workers.emplace_back([&] {
            const auto address = dns::Address::parse("192.0.2.1").value();
            const auto expected = dns::key_of({"EU", "DE", ""});
            Places::Reader reader(keeper->published());
            while (!stop) {
                const auto& table = reader.pin();
                if (!table || !(*table->find(address).place == expected)) ++wrong;
                reader.unpin();
            }
        });
    }
    for (int i = 0; i < 20; ++i) keeper->reload();
    stop = true;
    for (auto& worker : workers) worker.join();
    keeper->check();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(keeper->published().waiting(), 0U);
}

}  // namespace
}  // namespace fairlead::dnsserver
