// The audit log: its lines, its file, and what happens when it cannot keep up.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "apiserver/audit_log.h"
#include "base/files.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "world.h"

namespace fairlead::apiserver {
namespace {

AuditEvent event() {
    AuditEvent event;
    event.time = WallTime{std::chrono::seconds(1'700'000'000)};
    event.request_id = "id-1";
    event.user = User{"alice", {"team", "system:authenticated"}};
    event.from = "127.0.0.1:5000";
    event.agent = "kubectl/1.20";
    event.attributes = {.verb = "update",
                        .group = "g",
                        .resource = "routes",
                        .subresource = "status",
                        .namespace_ = "shop",
                        .name = "a",
                        .version = "v1"};
    event.path = "/apis/g/v1/namespaces/shop/routes/a/status";
    event.code = 200;
    event.latency = std::chrono::microseconds(1234);
    event.allowed = true;
    event.reason = "RBAC: allowed";
    return event;
}

TEST(AuditLine, SaysWhoWhatAndHow) {
    EXPECT_EQ(
        audit_line(event()),
        R"({"time":"2023-11-14T22:13:20.000000Z","requestId":"id-1","user":{"username":"alice","groups":["team","system:authenticated"]},"sourceAddress":"127.0.0.1:5000","userAgent":"kubectl/1.20","verb":"update","object":{"group":"g","version":"v1","resource":"routes","subresource":"status","namespace":"shop","name":"a"},"path":"/apis/g/v1/namespaces/shop/routes/a/status","code":200,"latencyMicros":1234,"decision":"allow","reason":"RBAC: allowed"})"
        "\n");
}

TEST(AuditLine, NamesBothOfAnImpersonation) {
    auto one = event();
    one.behind = User{"root", {"system:masters"}};
    const auto line = json::parse(audit_line(one));
    ASSERT_TRUE(line);
    EXPECT_EQ(json::string_at(*line, "user.username"), "root");
    EXPECT_EQ(json::string_at(*line, "impersonatedUser.username"), "alice");
}

TEST(AuditLine, NobodyIsAnonymous) {
    auto one = event();
    one.user.reset();
    one.code = 401;
    one.allowed = false;
    const auto line = json::parse(audit_line(one));
    ASSERT_TRUE(line);
    EXPECT_EQ(json::string_at(*line, "user.username"), "system:anonymous");
    EXPECT_EQ(json::string_at(*line, "decision"), "forbid");
}

TEST(AuditLine, HostileTextIsOneShortLine) {
    auto one = event();
    one.agent = std::string(100'000, 'x');
    one.user->name = "a\n\"}{";
    one.user->groups.assign(10'000, "g");
    const auto line = audit_line(one);
    EXPECT_LT(line.size(), 8'000U);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(json::string_at(*json::parse(line), "user.username"), "a\n\"}{");
}

TEST(AuditLine, BytesThatAreNoTextAreReplaced) {
    auto one = event();
    one.agent = "curl\xc3(\xff";
    one.path = "/" + std::string(2'000, 'x') + "\xc3\xa4";
    const auto line = audit_line(one);
    EXPECT_EQ(valid_utf8(line), line);
    EXPECT_EQ(json::string_at(*json::parse(line), "userAgent"), "curl\xef\xbf\xbd(\xef\xbf\xbd");
}

class AuditFile : public testing::Test {
protected:
    AuditFile() { std::filesystem::create_directories(folder); }
    ~AuditFile() override { std::filesystem::remove_all(folder); }
    std::size_t lines(const std::filesystem::path& file) {
        const auto text = read_file(file);
        return text ? static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
    }
    SystemRandom random;
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / make_uuid(random);
    const std::filesystem::path path = folder / "audit.log";
    const SystemClock clock;
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
};

TEST_F(AuditFile, HoldsEverythingThatWasAcceptedAndIsPrivate) {
    ASSERT_TRUE(write_file(path, "before\n", 0644));
    {
        auto audit = AuditLog::open(path, clock, log, metrics);
        ASSERT_TRUE(audit) << audit.error().text();
        for (int i = 0; i < 100; ++i) (*audit)->record(event());
    }
    EXPECT_EQ(lines(path), 101U) << "it goes on behind what was there";
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
    EXPECT_THAT(metrics.expose(), testing::HasSubstr("apiserver_audit_event_total 100"));
}

TEST_F(AuditFile, GoesOnInANewFileAfterRotation) {
    auto audit = AuditLog::open(path, clock, log, metrics);
    ASSERT_TRUE(audit);
    (*audit)->record(event());
    std::filesystem::rename(path, folder / "audit.log.1");
    ASSERT_TRUE((*audit)->reopen());
    (*audit)->record(event());
    audit->reset();
    EXPECT_EQ(lines(path) + lines(folder / "audit.log.1"), 2U);
    EXPECT_GE(lines(path), 1U);
}

TEST_F(AuditFile, WhatItCannotWriteIsCounted) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
    std::filesystem::create_symlink("/dev/full", path);
    EXPECT_FALSE(AuditLog::open(path, clock, log, metrics)) << "a link could lead anywhere";
    EXPECT_FALSE(AuditLog::open(folder / "none" / "audit.log", clock, log, metrics));
}

TEST_F(AuditFile, AFullQueueDropsCountsAndWritesTheGapDown) {
    // A pipe that nobody reads yet: the writer fills it and waits, the queue fills behind it.
    const auto pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string read;
    std::thread reader;
    std::mutex held;
    {
        std::unique_lock lock(held);
        reader = std::thread([&] {
            std::ifstream in(pipe);  // opening waits for the writer and the writer for it
            const std::lock_guard start(held);
            read.assign(std::istreambuf_iterator<char>(in), {});
        });
        auto audit = AuditLog::open(pipe, clock, log, metrics, 4);
        ASSERT_TRUE(audit) << audit.error().text();
        // 64 KiB of the pipe, one batch in the writer's hands and the queue are all that fits.
        for (int i = 0; i < 2'000; ++i) (*audit)->record(event());
        lock.unlock();
        // Once the pipe flows, the next line carries the gap.
        for (int i = 0; i < 1'000; ++i) {
            (*audit)->record(event());
            std::this_thread::yield();
        }
    }
    reader.join();
    const auto at = read.find(R"("dropped":)");
    ASSERT_NE(at, std::string::npos);
    EXPECT_THAT(metrics.expose(), testing::HasSubstr("apiserver_audit_error_total{plugin=\"log\"}"));
    EXPECT_LT(std::count(read.begin(), read.end(), '\n'), 3'000);
}

}  // namespace
}  // namespace fairlead::apiserver
