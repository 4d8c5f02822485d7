// `fairlead token`: what is sent, what is shown, and that the secret part is only ever shown once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/kubeconfig.h"
#include "fake_server.h"
#include "json/value.h"

namespace fairlead::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string secrets = "/api/v1/namespaces/fairlead-system/secrets";

class Token : public CommandTest {
protected:
    Token() {
        connection.server = "https://127.0.0.1:7443";
        connection.ca_pem = "ca";
        connection.name_space = "shop";
    }
    int create(TokenOutput output = TokenOutput::text) {
        server.answer("POST " + secrets, Scripted{201, "{}", {}, {}});
        options.user = "alice";
        options.groups = {"team", "ops"};
        options.ttl = std::chrono::hours(1);
        options.output = output;
        return run_token_create(options, session, connection, random);
    }
    TokenCreateOptions options;
    Connection connection;
    SeededRandom random{7};
};

TEST_F(Token, CreateSendsTheSumAndShowsTheToken) {
    EXPECT_EQ(create(), 0);
    const auto token = std::string(trim(out()));
    const auto dot = token.find('.');
    ASSERT_EQ(dot, 10U) << token;
    ASSERT_EQ(token.size(), 54U) << "256 bits of chance";
    const auto sent = json::parse(server.last("POST").body);
    ASSERT_TRUE(sent);
    EXPECT_EQ(json::string_at(*sent, "metadata.name"), token.substr(0, dot));
    EXPECT_EQ(json::string_at(*sent, "type"), "fairlead.dev/token");
    EXPECT_EQ(json::string_at(*sent, "stringData.sha256"), sha256_hex(token.substr(dot + 1)));
    EXPECT_EQ(json::string_at(*sent, "stringData.user"), "alice");
    EXPECT_EQ(json::string_at(*sent, "stringData.groups"), "team\nops");
    EXPECT_EQ(json::string_at(*sent, "stringData.expires"), "2023-11-14T23:13:20Z");
    EXPECT_THAT(server.last("POST").body, Not(HasSubstr(token.substr(dot + 1))));
    EXPECT_THAT(err(), HasSubstr("for alice lasts until 2023-11-14T23:13:20Z"));
}

TEST_F(Token, TwoTokensHaveNothingInCommon) {
    EXPECT_EQ(create(), 0);
    EXPECT_EQ(create(), 0);
    const auto text = out();
    const auto lines = split(trim(text), '\n');
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_NE(lines[0].substr(0, 10), lines[1].substr(0, 10));
    EXPECT_NE(lines[0].substr(11), lines[1].substr(11));
}

TEST_F(Token, CreateAsKubeconfigIsReadyToUse) {
    EXPECT_EQ(create(TokenOutput::kubeconfig), 0);
    const auto read = parse_kubeconfig(out(), "/x", "");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->server, "https://127.0.0.1:7443");
    EXPECT_EQ(read->ca_pem, "ca");
    EXPECT_EQ(read->name_space, "shop");
    EXPECT_EQ(read->token.size(), 54U);
}

TEST_F(Token, CreateAsJson) {
    EXPECT_EQ(create(TokenOutput::json), 0);
    const auto shown = json::parse(out());
    ASSERT_TRUE(shown);
    EXPECT_EQ(json::string_at(*shown, "user"), "alice");
    EXPECT_TRUE(json::string_at(*shown, "token").starts_with(json::string_at(*shown, "id")));
}

TEST_F(Token, ARefusedOneIsNotShown) {
    options.user = "alice";
    server.answer("POST " + secrets,
                  Scripted{403, R"({"kind":"Status","reason":"Forbidden","message":"no","code":403})", {}, {}});
    EXPECT_EQ(run_token_create(options, session, connection, random), 1);
    EXPECT_EQ(out(), "");
    EXPECT_THAT(err(), HasSubstr("Error from server (Forbidden): no"));
}

std::string stored(const std::string& name, const std::string& user, const std::string& groups,
                   const std::string& expires) {
    return R"({"metadata":{"name":")" + name +
           R"(","creationTimestamp":"2023-11-14T21:13:20Z"},"type":"fairlead.dev/token","data":{"user":")" +
           base64(user) + R"(","groups":")" + base64(groups) + R"(","expires":")" + base64(expires) +
           R"(","sha256":"eA=="}})";
}

TEST_F(Token, ListShowsWhoAndHowLong) {
    server.answer("GET " + secrets + "?fieldSelector=type=fairlead.dev/token&limit=500",
                  R"({"items":[)" + stored("t1", "alice", "team\nops", "2023-11-15T22:13:20Z") + "," +
                      stored("t2", "ci\x1b[31m", "", "2023-11-14T22:13:19Z") + "]}");
    EXPECT_EQ(run_token_list({}, session), 0);
    EXPECT_THAT(out(), HasSubstr("ID   USER"));
    EXPECT_THAT(out(), testing::ContainsRegex("t1 +alice +team,ops +60m +2023-11-15T22:13:20Z +24h"));
    EXPECT_THAT(out(), HasSubstr("expired"));
    EXPECT_THAT(out(), Not(HasSubstr("\x1b"))) << "names from a server are no commands for a terminal";
}

TEST_F(Token, AnEmptyListSaysSo) {
    server.answer("GET " + secrets + "?fieldSelector=type=fairlead.dev/token&limit=500", R"({"items":[]})");
    EXPECT_EQ(run_token_list({}, session), 0);
    EXPECT_EQ(err(), "There are no tokens.\n");
}

TEST_F(Token, RevokeDeletesTokensOnly) {
    server.answer("GET " + secrets + "/t1", stored("t1", "alice", "", ""));
    server.answer("DELETE " + secrets + "/t1", R"({"kind":"Status","status":"Success"})");
    server.answer("GET " + secrets + "/other", R"({"metadata":{"name":"other"},"type":"Opaque"})");
    TokenRevokeOptions revoke;
    revoke.ids = {"t1.and-its-secret", "other"};
    EXPECT_EQ(run_token_revoke(revoke, session), 1);
    EXPECT_EQ(out(), "token \"t1\" revoked\n");
    EXPECT_THAT(err(), HasSubstr("\"other\" is no token"));
    for (const auto& call : server.calls()) EXPECT_THAT(call, Not(HasSubstr("secret-")));
}

}  // namespace
}  // namespace fairlead::cli
