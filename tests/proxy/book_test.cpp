#include "proxy/haproxy/book.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace fairlead::proxy::haproxy {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime start{1000s};

traffic::Pool pool(std::string name, traffic::Balance balance = traffic::Balance::random) {
    traffic::Pool made;
    made.name = std::move(name);
    made.balance = balance;
    return made;
}

std::vector<PoolClass> classes(std::size_t size) {
    return {{{}, size}, {class_of(pool("", traffic::Balance::source)), 2}};
}

TEST(Book, ClassOfAPool) {
    struct Row {
        const char* name;
        traffic::Pool pool;
        ClassKey key;
    };
    auto sticky = pool("a");
    sticky.sticky_cookie = "S";
    auto unchecked = pool("a");
    unchecked.tls = traffic::MemberTls{};
    auto checked = pool("a");
    checked.tls = traffic::MemberTls{"PEM", "name"};
    auto tcp = checked;
    tcp.protocol = traffic::PoolProtocol::tcp;
    tcp.sticky_cookie = "S";
    ClassKey tcp_key;
    tcp_key.protocol = traffic::PoolProtocol::tcp;
    ClassKey sticky_key;
    sticky_key.cookie = "S";
    ClassKey unchecked_key;
    unchecked_key.security = MemberSecurity::unchecked;
    ClassKey checked_key;
    checked_key.security = MemberSecurity::checked;
    const Row rows[] = {{"Plain", pool("a"), {}},
                        {"Cookie", sticky, sticky_key},
                        {"AnyCertificate", unchecked, unchecked_key},
                        {"CertificateOfACa", checked, checked_key},
                        {"PassedThroughIsNeither", tcp, tcp_key}};
    for (const auto& row : rows) EXPECT_EQ(class_of(row.pool), row.key) << row.name;
}

TEST(Book, ClassesOfCookiesThatNobodyUsesBecomeOthers) {
    const auto sticky = [](std::size_t number, std::string cookie) {
        auto made = pool(fmt::format("p{}", number));
        made.sticky_cookie = std::move(cookie);
        return made;
    };
    Book book(classes(2));
    for (std::size_t i = book.classes().size(); i < max_classes; ++i) {
        ASSERT_TRUE(book.can_have(class_of(sticky(i, fmt::format("c{}", i)))));
        (void)book.place(sticky(i, fmt::format("c{}", i)), start);
    }
    book.grow(book.grown(4));
    for (std::size_t i = 2; i < max_classes; ++i) {
        ASSERT_TRUE(book.place(sticky(i, fmt::format("c{}", i)), start).backend) << i;
    }
    EXPECT_FALSE(book.can_have(class_of(sticky(99, "mine")))) << "all are in use";
    const auto left = parse_backend(*book.release("p7", start))->first;
    EXPECT_FALSE(book.can_have(class_of(sticky(99, "mine")))) << "it drains";
    (void)book.expire(start);
    EXPECT_TRUE(book.can_have(class_of(sticky(99, "mine"))));
    EXPECT_EQ(book.place(sticky(99, "mine"), start).backend, std::nullopt);
    EXPECT_FALSE(book.can_have(class_of(sticky(98, "another")))) << "there is one only";
    book.grow(book.grown(4));
    EXPECT_EQ(book.classes().size(), max_classes);
    EXPECT_EQ(book.classes()[left].key.cookie, "mine");
    EXPECT_EQ(book.place(sticky(99, "mine"), start).backend, backend_name(left, 1));
}

TEST(Book, APoolKeepsItsBackendAndWaitsWhenThereIsNone) {
    Book book(classes(2));
    EXPECT_EQ(book.place(pool("a"), start).backend, "c0_1");
    EXPECT_EQ(book.place(pool("b"), start).backend, "c0_2");
    EXPECT_EQ(book.place(pool("a"), start).backend, "c0_1");
    EXPECT_EQ(book.place(pool("c"), start).backend, std::nullopt);
    EXPECT_TRUE(book.waiting());
    book.grow(book.grown(4));
    EXPECT_EQ(book.place(pool("c"), start).backend, "c0_3");
    EXPECT_FALSE(book.waiting());
}

TEST(Book, ABackendThatDrainsIsNobodyElses) {
    Book book(classes(1));
    book.place(pool("a"), start);
    EXPECT_EQ(book.release("a", start), "c0_1");
    EXPECT_EQ(book.place(pool("b"), start).backend, std::nullopt);
    EXPECT_EQ(*book.pool_of("c0_1"), "a") << "what runs in it still counts as its own";
    EXPECT_TRUE(book.expire(start - 1s).empty());
    EXPECT_EQ(book.expire(start), std::vector<std::string>{"c0_1"});
    EXPECT_EQ(book.place(pool("b"), start + 30s).backend, "c0_1");
}

TEST(Book, APoolThatComesBackTakesItsOwn) {
    Book book(classes(1));
    book.place(pool("a"), start);
    book.release("a", start);
    EXPECT_EQ(book.place(pool("a"), start + 1s).backend, "c0_1");
    EXPECT_TRUE(book.expire(start + 10s).empty()) << "it drains no more";
    book.release("a", start + 11s);
    EXPECT_TRUE(book.expire(start + 10s).empty());
    EXPECT_EQ(book.expire(start + 11s).size(), 1U);
}

TEST(Book, AnotherClassIsAnotherBackend) {
    Book book(classes(2));
    book.place(pool("a"), start);
    const auto moved = book.place(pool("a", traffic::Balance::source), start);
    EXPECT_EQ(moved.backend, "c1_1");
    EXPECT_EQ(moved.left, "c0_1");
    // A class that does not exist yet: it stays where it is until there is one.
    const auto waits = book.place(pool("a", traffic::Balance::round_robin), start);
    EXPECT_EQ(waits.backend, "c1_1");
    EXPECT_TRUE(book.waiting());
    book.grow(book.grown(4));
    EXPECT_EQ(book.place(pool("a", traffic::Balance::round_robin), start).backend, "c2_1");
}

TEST(Book, IdleOnesAreFreeBeforeTheirTime) {
    Book book(classes(3));
    for (const auto* name : {"a", "b", "c"}) book.place(pool(name), start);
    book.release("a", start);
    book.release("b", start);
    book.release("c", start + 5s);
    EXPECT_EQ(book.expire_idle({"c0_2"}, start + 1s), std::vector<std::string>{"c0_1"});
    EXPECT_EQ(book.place(pool("d"), start + 6s).backend, "c0_1");
    EXPECT_EQ(book.expire(start + 5s), (std::vector<std::string>{"c0_2", "c0_3"})) << "not c0_1 once more";
}

TEST(Book, GrowsByAQuarterAndNotOverTheLimit) {
    Book book({{{}, 100}});
    for (int i = 0; i < 300; ++i) book.place(pool("p" + std::to_string(i)), start);
    const auto grown = book.grown(8);
    ASSERT_EQ(grown.size(), 1U);
    EXPECT_EQ(grown[0].size, 576U) << "300, and 256 more, in steps of 32";
    EXPECT_EQ(book.grown(8, true)[0].size, 608U);
    Book large({{{}, 2000}});
    for (int i = 0; i < 2000; ++i) large.place(pool("p" + std::to_string(i)), start);
    EXPECT_EQ(large.grown(8)[0].size, 2528U) << "a quarter more";
    Book full({{{}, max_backends}});
    full.place(pool("x", traffic::Balance::source), start);
    EXPECT_EQ(full.grown(8)[1].size, 0U);
}

TEST(Book, TightBeforeItIsFull) {
    Book book({{{}, 20}});
    for (int i = 0; i < 18; ++i) book.place(pool("p" + std::to_string(i)), start);
    EXPECT_FALSE(book.tight());
    book.place(pool("one more"), start);
    EXPECT_TRUE(book.tight());
    EXPECT_GT(book.grown(8)[0].size, 20U);
}

TEST(Book, CrowdedIsWhatIsTightWithoutWhatDrains) {
    Book book({{{}, 20}});
    for (int i = 0; i < 19; ++i) book.place(pool("p" + std::to_string(i)), start);
    EXPECT_TRUE(book.crowded());
    (void)book.release("p3", start);
    EXPECT_TRUE(book.tight());
    EXPECT_FALSE(book.crowded()) << "it has room as soon as p3 has drained";
}

TEST(Book, AdoptsWhatAWorkerHas) {
    Book book(classes(3));
    EXPECT_TRUE(book.adopt("a", "c0_2"));
    EXPECT_TRUE(book.adopt("a", "c0_2")) << "another rule of the same pool";
    EXPECT_FALSE(book.adopt("b", "c0_2")) << "two pools in one backend";
    EXPECT_FALSE(book.adopt("b", "c0_9"));
    EXPECT_FALSE(book.adopt("b", "nonsense"));
    book.adopt_released("c0_1", start);
    EXPECT_EQ(book.place(pool("b"), start).backend, "c0_3");
    EXPECT_EQ(book.place(pool("a"), start).backend, "c0_2");
}

}  // namespace
}  // namespace fairlead::proxy::haproxy
