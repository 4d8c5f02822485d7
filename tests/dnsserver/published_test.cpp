#include "dnsserver/published.h"

#include <gtest/gtest.h>

#include <thread>

namespace fairlead::dnsserver {
namespace {

struct Counted {
    explicit Counted(int number, std::atomic<int>& living) : first(number), living_(living), second(number) {
        ++living_;
    }
    ~Counted() {
        first = -1;
        --living_;
    }
    int first;
    std::atomic<int>& living_;
    int second;
};

TEST(Published, KeepsWhatAReaderHoldsAndNoMore) {
    std::atomic<int> living{0};
    Published<Counted> published(std::make_unique<const Counted>(0, living));
    Published<Counted>::Reader reader(published);
    Published<Counted>::Reader idle(published);
    const auto& held = reader.pin();
    for (int i = 1; i <= 5; ++i) published.publish(std::make_unique<const Counted>(i, living));
    EXPECT_EQ(held.first, 0);
    EXPECT_EQ(living, 6);
    EXPECT_EQ(published.waiting(), 5U);
    EXPECT_EQ(reader.pin().first, 5);
    published.collect();
    EXPECT_EQ(living, 1);
    reader.unpin();
}

TEST(Published, ReadersSeeWholeValuesThatOnlyGetNewer) {
    std::atomic<int> living{0};
    std::atomic<bool> done{false};
    {
        Published<Counted> published(std::make_unique<const Counted>(0, living));
        std::vector<std::thread> readers;
        for (int i = 0; i < 3; ++i) {
            readers.emplace_back([&] {
                Published<Counted>::Reader reader(published);
                int last = 0;
                while (!done) {
                    const auto& value = reader.pin();
                    ASSERT_EQ(value.first, value.second);
                    ASSERT_GE(value.first, last);
                    last = value.first;
                    reader.unpin();
                }
            });
        }
        for (int i = 1; i <= 2'000; ++i) published.publish(std::make_unique<const Counted>(i, living));
        done = true;
        for (auto& reader : readers) reader.join();
    }
    EXPECT_EQ(living, 0);
}

}  // namespace
}  // namespace fairlead::dnsserver
