// Mailbox, worker pool, random, metrics and log: the parts that other layers rely on without looking.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/worker_pool.h"

namespace fairlead {
namespace {

TEST(Mailbox, RefusesWhenFullAndDeliversWhatItTook) {
    Mailbox<int> mailbox(2);
    EXPECT_TRUE(mailbox.try_push(1));
    EXPECT_TRUE(mailbox.try_push(2));
    EXPECT_FALSE(mailbox.try_push(3));
    mailbox.close();
    EXPECT_FALSE(mailbox.try_push(4));
    EXPECT_EQ(mailbox.pop(), 1);
    EXPECT_EQ(mailbox.pop(), 2);
    EXPECT_EQ(mailbox.pop(), std::nullopt);
}

TEST(WorkerPool, RunsEverythingItAcceptedBeforeItEnds) {
    std::atomic<int> ran{0};
    int accepted = 0;
    {
        WorkerPool pool(4, 1000);
        for (int i = 0; i < 500; ++i) accepted += pool.try_post([&] { ++ran; }) ? 1 : 0;
    }
    EXPECT_EQ(accepted, 500);
    EXPECT_EQ(ran, 500);
}

TEST(WorkerPool, RefusesBeyondItsCapacity) {
    std::atomic<bool> release{false};
    WorkerPool pool(1, 1);
    std::atomic<bool> started{false};
    ASSERT_TRUE(pool.try_post([&] {
        started = true;
        started.notify_all();
        release.wait(false);
    }));
    started.wait(false);
    EXPECT_TRUE(pool.try_post([] {}));
    EXPECT_FALSE(pool.try_post([] {}));
    release = true;
    release.notify_all();
}

TEST(Random, UuidsHaveTheRightShapeAndDiffer) {
    SeededRandom random(7);
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const std::string uuid = make_uuid(random);
        ASSERT_EQ(uuid.size(), 36U);
        EXPECT_EQ(uuid[14], '4');
        EXPECT_NE(std::string_view("89ab").find(uuid[19]), std::string_view::npos);
        EXPECT_TRUE(seen.insert(uuid).second);
    }
    SeededRandom again(7);
    EXPECT_TRUE(seen.contains(make_uuid(again)));
}

TEST(Random, UuidsWithATimeSortByIt) {
    SeededRandom random(7);
    std::string before;
    WallTime now(std::chrono::milliseconds(1'790'000'000'123));
    for (int i = 0; i < 2'000; ++i) {
        const auto uuid = make_uuid(random, now);
        ASSERT_EQ(uuid.size(), 36U);
        EXPECT_EQ(uuid[14], '7');
        EXPECT_NE(std::string_view("89ab").find(uuid[19]), std::string_view::npos);
        EXPECT_LT(before, uuid);
        before = uuid;
        now += std::chrono::microseconds(1);
    }
}

TEST(Metrics, SameNameAndLabelsAreOneMetric) {
    Metrics metrics;
    metrics.counter("things_total", "Things.", {{"kind", "a"}}).add();
    metrics.counter("things_total", "Things.", {{"kind", "a"}}).add(2);
    metrics.gauge("level", "Level.").set(1.5);
    metrics.histogram("took_seconds", "Time.", {0.1, 1}).observe(0.5);
    const std::string text = metrics.expose();
    EXPECT_NE(text.find("things_total{kind=\"a\"} 3"), std::string::npos) << text;
    EXPECT_NE(text.find("level 1.5"), std::string::npos) << text;
    EXPECT_NE(text.find("took_seconds_bucket{le=\"1\"} 1"), std::string::npos) << text;
}

TEST(Metrics, CollectorsAreAskedAtEachScrapeWhileTheyLive) {
    Metrics metrics;
    double asked = 0;
    {
        const auto collecting = metrics.collect_with([&asked] {
            return std::vector<SampleFamily>{
                {"asked_total", "Times.", SampleFamily::Kind::counter, {{{{"by", "a \"b\""}}, ++asked}}},
                {"depth", "Now.", SampleFamily::Kind::gauge, {{{}, -2.5}}}};
        });
        EXPECT_NE(metrics.expose().find("# TYPE asked_total counter\nasked_total{by=\"a \\\"b\\\"\"} 1\n"),
                  std::string::npos);
        const auto text = metrics.expose();
        EXPECT_NE(text.find("} 2\n"), std::string::npos) << text;
        EXPECT_NE(text.find("# TYPE depth gauge\ndepth -2.5\n"), std::string::npos) << text;
    }
    EXPECT_EQ(metrics.expose().find("asked_total"), std::string::npos);
    EXPECT_EQ(asked, 2);
}

std::string logged(LogFormat format) {
    testing::internal::CaptureStderr();
    {
        Log log(LogLevel::info, format);
        log.debug("not shown");
        log.info("route bound", {{"route", "shop/a"}, {"note", "two\nlines \"quoted\""}, {"count", 3}, {"ok", true}});
    }
    return testing::internal::GetCapturedStderr();
}

TEST(Log, TextIsOneLineWithQuotedValues) {
    const std::string text = logged(LogFormat::text);
    EXPECT_TRUE(text.ends_with("info  route bound route=shop/a note=\"two\\nlines \\\"quoted\\\"\" count=3 ok=true\n"))
        << text;
    EXPECT_EQ(text.find("not shown"), std::string::npos);
}

TEST(Log, JsonIsOneObjectPerLine) {
    const std::string text = logged(LogFormat::json);
    EXPECT_NE(
        text.find(
            R"("level":"info","event":"route bound","route":"shop/a","note":"two\nlines \"quoted\"","count":3,"ok":true})"),
        std::string::npos)
        << text;
}

}  // namespace
}  // namespace fairlead
