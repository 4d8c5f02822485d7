// Who has a host: the rules one by one, and the book against an oracle that looks at every pair.
#include "route/claims.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace fairlead::route {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// "a/x host path flags", age by its place in the list. Flags: w(ildcard) p(assthrough) t(ls) s(hared) r(outer's name).
Claim claim(std::string_view key, std::string_view host, std::string_view path, std::string_view flags, int age) {
    Claim made;
    made.key = key;
    made.namespace_ = key.substr(0, key.find('/'));
    made.created = fmt::format("2026-01-01T00:00:{:02}Z", age);
    made.uid = fmt::format("uid-{}", key);
    made.host = host;
    made.path = path;
    const auto has = [&](char flag) { return flags.find(flag) != std::string_view::npos; };
    made.wildcard = has('w');
    made.passthrough = has('p');
    made.tls = has('t') || has('p');
    made.shared = has('s');
    made.system = has('r');
    return made;
}

struct Row {
    std::string name;
    std::vector<Claim> claims;
    std::vector<std::string> refused;  // keys
};

// The definition, without any index.
std::vector<std::string> oracle(std::vector<Claim> claims) {
    std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
        return std::tuple(!a.system, a.created, a.uid) < std::tuple(!b.system, b.created, b.uid);
    });
    const auto apart = [](const Claim& a, const Claim& b) {
        const auto parent = [](const Claim& one) { return one.host.substr(one.host.find('.') + 1); };
        const bool foreign = a.namespace_ != b.namespace_ && !(a.shared && b.shared);
        if (a.wildcard != b.wildcard) return foreign && parent(a) == parent(b);
        const bool same = a.wildcard ? parent(a) == parent(b) : a.host == b.host;
        return same && (foreign || a.path == b.path || (a.passthrough && b.tls) || (a.tls && b.passthrough));
    };
    std::vector<Claim> admitted;
    std::vector<std::string> refused;
    for (const auto& each : claims) {
        const bool loses = std::any_of(admitted.begin(), admitted.end(), [&](const auto& a) { return apart(a, each); });
        if (loses) {
            refused.push_back(each.key);
        } else {
            admitted.push_back(each);
        }
    }
    std::sort(refused.begin(), refused.end());
    return refused;
}

std::vector<std::string> refused_in(const ClaimBook& book, const std::vector<Claim>& claims) {
    std::vector<std::string> keys;
    for (const auto& each : claims) {
        if (book.refusal(each.key, subject_of(each))) keys.push_back(each.key);
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

TEST(Claims, RulesOneByOne) {
    const std::string h = "www.acme.test";
    const std::vector<Row> rows = {
        {"the oldest has the host", {claim("a/x", h, "", "", 1), claim("b/x", h, "", "", 2)}, {"b/x"}},
        {"with all its paths", {claim("a/x", h, "/a", "", 1), claim("b/x", h, "/b", "", 2)}, {"b/x"}},
        {"paths of one namespace live together", {claim("a/x", h, "/a", "", 1), claim("a/y", h, "/b", "", 2)}, {}},
        {"one path is the oldest's", {claim("a/x", h, "/a", "", 1), claim("a/y", h, "/a", "", 2)}, {"a/y"}},
        {"by uid among equals", {claim("a/y", h, "", "", 1), claim("a/x", h, "", "", 1)}, {"a/y"}},
        {"who is refused refuses nobody",
         {claim("a/x", h, "/a", "", 1), claim("b/x", h, "/b", "", 2), claim("a/y", h, "/b", "", 3)},
         {"b/x"}},
        {"shared: by host and path", {claim("a/x", h, "/a", "s", 1), claim("b/x", h, "/b", "s", 2)}, {}},
        {"shared: one path is the oldest's", {claim("a/x", h, "/a", "s", 1), claim("b/x", h, "/a", "s", 2)}, {"b/x"}},
        {"both must share", {claim("a/x", h, "/a", "s", 1), claim("b/x", h, "/b", "", 2)}, {"b/x"}},
        {"a third that does not share",
         {claim("a/x", h, "/a", "s", 1), claim("b/x", h, "/b", "s", 2), claim("b/y", h, "/c", "", 3)},
         {"b/y"}},
        {"passthrough excludes other TLS", {claim("a/x", h, "", "p", 1), claim("a/y", h, "/b", "t", 2)}, {"a/y"}},
        {"and the other way round", {claim("a/x", h, "/b", "t", 1), claim("a/y", h, "", "p", 2)}, {"a/y"}},
        {"but not plain HTTP on another path", {claim("a/x", h, "", "p", 1), claim("a/y", h, "/b", "", 2)}, {}},
        {"a wildcard has every host beside it",
         {claim("a/x", h, "", "w", 1), claim("b/x", "shop.acme.test", "", "", 2)},
         {"b/x"}},
        {"one level only",
         {claim("a/x", h, "", "w", 1), claim("b/x", "acme.test", "", "", 2), claim("b/y", "a.b.acme.test", "", "", 3)},
         {}},
        {"an older exact host stops a wildcard",
         {claim("b/x", "shop.acme.test", "", "", 1), claim("a/x", h, "", "w", 2)},
         {"a/x"}},
        {"and then it stops nobody",
         {claim("b/x", "shop.acme.test", "", "", 1), claim("a/x", h, "", "w", 2),
          claim("c/x", "news.acme.test", "", "", 3)},
         {"a/x"}},
        {"in one namespace they live together",
         {claim("a/x", h, "", "w", 1), claim("a/y", h, "", "", 2), claim("a/z", "shop.acme.test", "", "", 3)},
         {}},
        {"two wildcards", {claim("a/x", h, "", "w", 1), claim("b/x", "shop.acme.test", "", "w", 2)}, {"b/x"}},
        {"two wildcards of one namespace with paths",
         {claim("a/x", h, "/a", "w", 1), claim("a/y", "shop.acme.test", "/b", "w", 2)},
         {}},
        {"a refused exact host stops no wildcard",
         {claim("a/x", "shop.acme.test", "", "", 1), claim("b/x", "shop.acme.test", "", "", 2),
          claim("a/y", h, "", "w", 3)},
         {"b/x"}},
        {"a name that a router gives comes before older wishes",
         {claim("b/x", "a-bank.one.test", "", "", 1), claim("a/x", "a-bank.one.test", "", "r", 2)},
         {"b/x"}},
        {"by age among such names",
         {claim("a-b/x", "a-b-c.one.test", "", "r", 1), claim("a/x", "a-b-c.one.test", "", "r", 2)},
         {"a/x"}},
        {"shared wildcards and exact hosts live together",
         {claim("a/x", h, "", "ws", 1), claim("b/x", "shop.acme.test", "", "s", 2)},
         {}},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(oracle(row.claims), row.refused) << "oracle: " << row.name;
        auto claims = row.claims;
        for (int turn = 0; turn < 3; ++turn) {
            ClaimBook book;
            for (const auto& each : claims) (void)book.set(each.key, {each});
            EXPECT_EQ(refused_in(book, claims), row.refused) << row.name << ", order " << turn;
            std::rotate(claims.begin(), claims.begin() + 1, claims.end());
        }
    }
}

TEST(Claims, MessagesNameNoOtherNamespace) {
    ClaimBook book;
    (void)book.set("secret/x", {claim("secret/x", "www.acme.test", "", "", 1)});
    (void)book.set("mine/x", {claim("mine/x", "www.acme.test", "", "", 2)});
    (void)book.set("mine/w", {claim("mine/w", "shop.acme.test", "", "w", 3)});
    for (const auto* key : {"mine/x", "mine/w"}) {
        const auto refusal = book.refusal(key, subject_of(*book.of(key).front()));
        ASSERT_TRUE(refusal) << key;
        EXPECT_EQ(refusal->reason, "HostAlreadyClaimed");
        EXPECT_THAT(refusal->message, Not(HasSubstr("secret")));
        EXPECT_THAT(refusal->message, HasSubstr("acme.test"));
    }
    (void)book.set("secret/y", {claim("secret/y", "www.acme.test", "", "", 4)});
    EXPECT_EQ(book.refusal("secret/y", "www.acme.test")->message, "the older route x has www.acme.test");
}

TEST(Claims, AWildcardThatComesOrGoesConcernsTheHostsBelow) {
    ClaimBook book;
    EXPECT_THAT(book.set("b/x", {claim("b/x", "shop.acme.test", "", "", 5)}), ElementsAre("shop.acme.test"));
    EXPECT_THAT(book.set("b/y", {claim("b/y", "far.away.test", "", "", 5)}), ElementsAre("far.away.test"));
    EXPECT_THAT(book.set("a/w", {claim("a/w", "www.acme.test", "", "w", 1)}),
                ElementsAre("*.acme.test", "shop.acme.test"));
    EXPECT_TRUE(book.refusal("b/x", "shop.acme.test"));
    EXPECT_THAT(book.set("a/w", {claim("a/w", "www.acme.test", "", "w", 1)}), IsEmpty()) << "nothing changed";
    EXPECT_THAT(book.set("a/w", {}), ElementsAre("*.acme.test", "shop.acme.test"));
    EXPECT_FALSE(book.refusal("b/x", "shop.acme.test"));
    EXPECT_EQ(book.size(), 2U);
}

TEST(Claims, ARouteMayKeepSeveralHosts) {
    ClaimBook book;
    (void)book.set("a/x", {claim("a/x", "x.one.test", "", "", 1), claim("a/x", "x.two.test", "", "", 1)});
    (void)book.set("b/x", {claim("b/x", "x.one.test", "", "", 2)});
    EXPECT_TRUE(book.refusal("b/x", "x.one.test"));
    (void)book.set("a/x", {claim("a/x", "x.two.test", "", "", 1)});
    EXPECT_FALSE(book.refusal("b/x", "x.one.test"));
    EXPECT_FALSE(book.refusal("a/x", "x.two.test"));
}

// Few names, so that they meet.
rc::Gen<Claim> any_claim(int number) {
    return rc::gen::map(rc::gen::tuple(rc::gen::inRange(0, 3), rc::gen::inRange(0, 3), rc::gen::inRange(0, 2),
                                       rc::gen::inRange(0, 3), rc::gen::inRange(0, 64), rc::gen::inRange(0, 8)),
                        [number](const auto& dice) {
                            const auto [space, label, domain, path, flags, age] = dice;
                            std::string text;
                            if (flags % 4 == 0) text += 'w';
                            if (flags / 4 % 4 == 0) text += 't';
                            if (flags / 16 == 0) text += 's';
                            const bool passthrough = flags / 16 == 1 && path == 0;
                            if (passthrough) text += 'p';
                            return claim(fmt::format("{}/r{}", "abc"[space], number),
                                         fmt::format("{}.{}.test", "xyz"[label], "de"[domain]),
                                         path == 0 ? "" : fmt::format("/{}", path), text, age);
                        });
}

RC_GTEST_PROP(ClaimsProperty, TheBookSaysWhatTheOracleSays, ()) {
    ClaimBook book;
    std::map<std::string, Claim> present;
    const auto steps = *rc::gen::inRange(1, 40);
    for (int step = 0; step < steps; ++step) {
        const auto number = *rc::gen::inRange(0, 14);
        // The namespace is part of the key: whatever had this number goes.
        for (const auto* space : {"a", "b", "c"}) {
            const auto key = fmt::format("{}/r{}", space, number);
            (void)book.set(key, {});
            present.erase(key);
        }
        if (*rc::gen::inRange(0, 4) > 0) {
            const auto made = *any_claim(number);
            (void)book.set(made.key, {made});
            present.insert_or_assign(made.key, made);
        }
        std::vector<Claim> claims;
        for (const auto& [key, each] : present) claims.push_back(each);
        RC_ASSERT(refused_in(book, claims) == oracle(claims));
    }
}

// What a controller relies on: subjects that are not named have the verdicts they had.
RC_GTEST_PROP(ClaimsProperty, OnlySubjectsThatAreNamedChange, ()) {
    ClaimBook book;
    std::map<std::string, Claim> present;
    std::map<std::string, bool> told;  // key -> refused, as of the last look at its subject
    for (int step = 0; step < 30; ++step) {
        const auto made = *any_claim(step % 12);
        const bool goes = *rc::gen::inRange(0, 3) == 0;
        const auto touched = book.set(made.key, goes ? std::vector<Claim>{} : std::vector<Claim>{made});
        if (goes) {
            present.erase(made.key);
            told.erase(made.key);
        } else {
            present.insert_or_assign(made.key, made);
        }
        for (const auto& subject : touched) {
            for (const auto& verdict : book.verdicts(subject)) told[verdict.claim->key] = verdict.refusal.has_value();
        }
        for (const auto& [key, each] : present) {
            RC_ASSERT(told.contains(key));
            RC_ASSERT(told[key] == book.refusal(key, subject_of(each)).has_value());
        }
    }
}

RC_GTEST_PROP(ClaimsProperty, OneNamespacePerHostAndNoOrder, ()) {
    std::vector<Claim> claims;
    const auto count = *rc::gen::inRange(0, 16);
    for (int i = 0; i < count; ++i) {
        claims.push_back(*any_claim(i));
        claims.back().shared = false;
    }
    const auto out = refused(claims, Ownership::strict);
    std::map<std::string, std::string> owner;
    for (const auto& each : claims) {
        if (out.contains(each.key)) continue;
        RC_ASSERT(owner.try_emplace(subject_of(each), each.namespace_).first->second == each.namespace_);
    }
    auto shuffled = claims;
    std::mt19937 dice(*rc::gen::arbitrary<std::uint32_t>());
    std::shuffle(shuffled.begin(), shuffled.end(), dice);
    RC_ASSERT(refused(shuffled, Ownership::strict) == out);
    // Without its winner a host has the next one, if there is any.
    for (const auto& gone : claims) {
        auto rest = claims;
        std::erase_if(rest, [&](const auto& each) { return each.key == gone.key; });
        const auto after = refused(rest, Ownership::strict);
        for (const auto& each : rest) {
            const bool any = std::any_of(rest.begin(), rest.end(), [&](const auto& other) {
                return !after.contains(other.key) && (excludes(each, other) || other.key == each.key);
            });
            RC_ASSERT(any);
        }
    }
}

// Thousands of system routes below one parent: a change looks at its own host.
TEST(Claims, ManyHostsBelowOneParent) {
    ClaimBook book;
    for (int i = 0; i < 20'000; ++i) {
        const auto key = fmt::format("n{}/r{}", i % 100, i);
        const auto touched = book.set(key, {claim(key, fmt::format("h{}.shard.test", i), "", "", i % 50)});
        ASSERT_EQ(touched.size(), 1U);
    }
    EXPECT_TRUE(book.set("n1/w", {claim("n1/w", "any.shard.test", "", "w", 59)}).contains("*.shard.test"));
    EXPECT_TRUE(book.refusal("n1/w", "*.shard.test"));
    EXPECT_THAT(book.set("n7/late", {claim("n7/late", "late.shard.test", "", "", 59)}),
                ElementsAre("*.shard.test", "late.shard.test"));
}

}  // namespace
}  // namespace fairlead::route
