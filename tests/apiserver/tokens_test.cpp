// Tokens: the static file, line by line, and the ones that the store keeps.
#include <filesystem>
#include <fstream>

#include "apiserver/issued_tokens.h"
#include "apiserver/token_file.h"
#include "base/files.h"
#include "base/text.h"
#include "world.h"

namespace fairlead::apiserver {
namespace {

using testing::ElementsAre;

struct BadFile {
    const char* name;
    const char* text;
    const char* error;
};
class BrokenTokenFile : public testing::TestWithParam<BadFile> {};
TEST_P(BrokenTokenFile, IsRefusedWithItsLine) {
    const auto tokens = parse_tokens(GetParam().text);
    ASSERT_FALSE(tokens);
    EXPECT_EQ(tokens.error().text(), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    All, BrokenTokenFile,
    testing::Values(BadFile{"two_fields", "t,u,1\nt2,u2\n",
                            "line 2: token, user and uid are expected, it has 2 of them"},
                    BadFile{"groups_without_quotes", "t,u,1,a,b",
                            "line 1: more than four fields: several groups stand in quotes, \"group1,group2\""},
                    BadFile{"no_token", ",u,1", "line 1: the token is empty"},
                    BadFile{"no_user", "# head\n\nt,,1", "line 3: the user is empty"},
                    BadFile{"empty_group", "t,u,1,\"a,,b\"", "line 1: a group is empty"},
                    BadFile{"open_quote", "t,u,1,\"a", "line 1: a quote is not closed"},
                    BadFile{"after_quote", "t,u,1,\"a\"b", "line 1: text after a closing quote"},
                    BadFile{"twice", "t,u,1\nt,v,2", "line 2: the token stands in an earlier line, too"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(TokenFileText, FieldsQuotesAndComments) {
    const auto tokens = parse_tokens(
        "# people\r\nabc,alice,u-1,\"team, admins\"\r\n\n def , \"bob\"\"s\" , "
        "\nghi,system:serviceaccount:n:a,2,\"\"\n");
    ASSERT_TRUE(tokens) << tokens.error().text();
    ASSERT_EQ(tokens->size(), 3U);
    const auto& alice = tokens->at(sha256_hex("abc"));
    EXPECT_EQ(alice.name, "alice");
    EXPECT_EQ(alice.uid, "u-1");
    EXPECT_THAT(alice.groups, ElementsAre("team", "admins", "system:authenticated"));
    EXPECT_EQ(tokens->at(sha256_hex("def")).name, "bob\"s");
    EXPECT_THAT(tokens->at(sha256_hex("ghi")).groups,
                ElementsAre("system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"));
}

TEST(TokenFileOnDisk, IsReadAgainWhenItChangesAndKeepsWhatItHadWhenBroken) {
    const auto folder = std::filesystem::temp_directory_path() / make_uuid(*std::make_unique<SystemRandom>());
    std::filesystem::create_directories(folder);
    const auto path = folder / "tokens.csv";
    EXPECT_FALSE(TokenFile::open(path));
    ASSERT_TRUE(write_file(path, "one,alice,1\n"));
    const auto file = TokenFile::open(path);
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ((*file)->find("one")->name, "alice");
    EXPECT_FALSE((*file)->find("two"));
    EXPECT_FALSE((*file)->find(sha256_hex("one"))) << "the sum is not the token";
    EXPECT_EQ((*file)->reload(false).value(), false);
    ASSERT_TRUE(write_file(path, "two,bob,2\n"));
    EXPECT_EQ((*file)->reload(false).value(), true);
    EXPECT_FALSE((*file)->find("one"));
    EXPECT_EQ((*file)->find("two")->name, "bob");
    ASSERT_TRUE(write_file(path, "broken\n"));
    EXPECT_FALSE((*file)->reload(false));
    EXPECT_EQ((*file)->find("two")->name, "bob");
    EXPECT_EQ((*file)->reload(false).value(), false) << "said once";
    std::filesystem::remove_all(folder);
}

class Issued : public testing::Test {
protected:
    Issued() {
        EXPECT_EQ(world.post("/api/v1/namespaces", R"({"metadata":{"name":"fairlead-system"}})").code, 201);
        EXPECT_EQ(world.post("/api/v1/namespaces", R"({"metadata":{"name":"other"}})").code, 201);
    }
    std::string body(std::string_view secret, std::string_view expires, std::string_view type = token_type) {
        return std::string(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"t1"},"type":")") +
               std::string(type) + R"(","stringData":{"sha256":")" + sha256_hex(secret) +
               R"(","user":"alice","groups":"team\nops","expires":")" + std::string(expires) + "\"}}";
    }
    std::string later(std::chrono::seconds by) { return rfc3339(world.clock.now() + by); }
    std::optional<User> find(std::string_view token) { return find_token(*world.store, token, world.clock.now()); }
    World world;
    const std::string path = "/api/v1/namespaces/fairlead-system/secrets";
};

TEST_F(Issued, StandForTheirUser) {
    ASSERT_EQ(world.post(path, body("s3cret", later(std::chrono::hours(1)))).code, 201);
    const auto user = find("t1.s3cret");
    ASSERT_TRUE(user);
    EXPECT_EQ(user->name, "alice");
    EXPECT_THAT(user->groups, ElementsAre("team", "ops", "system:authenticated"));
}

TEST_F(Issued, NothingElseCounts) {
    ASSERT_EQ(world.post(path, body("s3cret", later(std::chrono::hours(1)))).code, 201);
    for (const std::string token : {"t1.wrong", "t1.", "t1", "", ".", ".s3cret", "t2.s3cret", "T1.s3cret", "t1.s3cret ",
                                    "../other/t1.s3cret", "t1.s3cret.x"}) {
        EXPECT_FALSE(find(token)) << token;
    }
    EXPECT_FALSE(find("t1." + sha256_hex("s3cret")));
    EXPECT_FALSE(find("t1." + std::string(100'000, 'x')));
}

TEST_F(Issued, OnlyOfTheirTypeAndNamespace) {
    ASSERT_EQ(world.post(path, body("s", later(std::chrono::hours(1)), "Opaque")).code, 201);
    EXPECT_FALSE(find("t1.s"));
    ASSERT_EQ(world.post("/api/v1/namespaces/other/secrets", body("s", later(std::chrono::hours(1)))).code, 201);
    EXPECT_FALSE(find("t1.s"));
}

TEST_F(Issued, EndWithTheirTimeAndWithTheirSecret) {
    ASSERT_EQ(world.post(path, body("s", later(std::chrono::hours(1)))).code, 201);
    EXPECT_TRUE(find("t1.s"));
    EXPECT_TRUE(expired_tokens(*world.store, world.clock.now()).empty());
    world.clock.advance(std::chrono::hours(1));
    EXPECT_FALSE(find("t1.s"));
    EXPECT_THAT(expired_tokens(*world.store, world.clock.now()), ElementsAre("t1"));
    ASSERT_EQ(world.remove(path + "/t1").code, 200);
    ASSERT_EQ(world.post(path, body("s", later(std::chrono::hours(1)))).code, 201);
    EXPECT_TRUE(find("t1.s"));
    ASSERT_EQ(world.remove(path + "/t1").code, 200);
    EXPECT_FALSE(find("t1.s"));
}

}  // namespace
}  // namespace fairlead::apiserver
