#include "cli/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/completion.h"
#include "cli/discovery.h"
#include "cli/serve_options.h"
#include "fake_server.h"

namespace fairlead::cli {
namespace {

struct Ran {
    int code;
    std::string out, err;
    std::optional<ServeOptions> served;
};
Ran run_line(const std::vector<std::string>& arguments, std::map<std::string, std::string> variables = {}) {
    FakeTerminal screen;
    screen.variables = std::move(variables);
    std::optional<ServeOptions> served;
    const auto serve = [&](const ServeOptions& options) {
        served = options;
        return 0;
    };
    const int code = run(arguments, screen.terminal, serve);
    return {code, screen.out.str(), screen.err.str(), served};
}

struct UsageRow {
    const char* name;
    std::vector<std::string> arguments;
    int code;
};
class Usage : public testing::TestWithParam<UsageRow> {};
TEST_P(Usage, ExitCode) {
    const auto ran = run_line(GetParam().arguments, {{"HOME", "/nowhere"}});
    EXPECT_EQ(ran.code, GetParam().code) << ran.out << ran.err;
    EXPECT_EQ(GetParam().code == 0, ran.err.empty()) << ran.err;
}
INSTANTIATE_TEST_SUITE_P(
    CommandLine, Usage,
    testing::Values(
        UsageRow{"nothing", {}, 2}, UsageRow{"help", {"--help"}, 0}, UsageRow{"unknown_command", {"nonsense"}, 2},
        UsageRow{"get_nothing", {"get"}, 2}, UsageRow{"unknown_option", {"serve", "--no-such-flag"}, 2},
        UsageRow{"unknown_output", {"get", "routes", "-o", "xml"}, 2},
        UsageRow{"wait_without_for", {"wait", "route/a"}, 2},
        UsageRow{"wait_for_a_type", {"wait", "routes", "--for=delete"}, 2},
        UsageRow{"apply_without_file", {"apply"}, 2},
        UsageRow{"bad_dry_run", {"apply", "-f", "x", "--dry-run=client"}, 2}, UsageRow{"delete_nothing", {"delete"}, 2},
        UsageRow{"delete_both", {"delete", "route", "a", "-f", "x"}, 2},
        UsageRow{"bad_duration", {"wait", "route/a", "--for=delete", "--timeout=soon"}, 2},
        UsageRow{"bad_store", {"serve", "--store", "floppy:"}, 2},
        UsageRow{"bad_level", {"serve", "--log-level", "loud"}, 2},
        UsageRow{"bad_role", {"serve", "--roles", "api,cook"}, 2},
        UsageRow{"no_api", {"serve", "--roles", "controllers"}, 2}, UsageRow{"router_of_nothing", {"router"}, 2},
        UsageRow{"router_of_two", {"router", "--router", "edge", "--loadbalancer", "front"}, 2},
        UsageRow{"bad_ttl", {"serve", "--event-ttl", "soon"}, 2}, UsageRow{"no_ttl", {"serve", "--event-ttl", "0s"}, 2},
        UsageRow{"bad_strategy", {"serve", "--route-strategy", "random"}, 2}, UsageRow{"token_alone", {"token"}, 2},
        UsageRow{"token_of_nobody", {"token", "create"}, 2},
        UsageRow{"bad_token_ttl", {"token", "create", "--user", "a", "--ttl", "soon"}, 2},
        UsageRow{"token_ended", {"token", "create", "--user", "a", "--ttl", "0s"}, 2},
        UsageRow{"token_too_long", {"token", "create", "--user", "a", "--ttl", "9000h"}, 2},
        UsageRow{"token_of_an_empty_user", {"token", "create", "--user", ""}, 2},
        UsageRow{"bad_token_output", {"token", "create", "--user", "a", "-o", "xml"}, 2},
        UsageRow{"revoke_nothing", {"token", "revoke"}, 2},
        UsageRow{"bad_listen", {"serve", "--api-listen", "localhost"}, 2},
        UsageRow{"explain_without_a_name", {"explain"}, 2},
        UsageRow{"explain_with_a_strange_output", {"explain", "a.example", "-o", "yaml"}, 2},
        UsageRow{"zone_alone", {"zone"}, 2}, UsageRow{"export_without_a_zone", {"zone", "export"}, 2},
        UsageRow{"bad_dns_listen", {"serve", "--dns-listen", "localhost"}, 2},
        UsageRow{"none_and_more", {"serve", "--dns-listen", "none", "--dns-listen", "127.0.0.1:0"}, 2},
        UsageRow{"no_dns_threads", {"serve", "--dns-threads", "0"}, 2},
        UsageRow{"many_dns_threads", {"serve", "--dns-threads", "129"}, 2},
        UsageRow{"long_dns_id", {"serve", "--dns-id", std::string(256, 'x')}, 2},
        UsageRow{"bad_shell", {"completion", "tcsh"}, 2}, UsageRow{"no_kubeconfig", {"get", "routes"}, 1},
        UsageRow{"client_version", {"version", "--client"}, 0}),
    [](const auto& row) { return row.param.name; });

TEST(CommandLine, ServeLearnsOfResolvers) {
    const auto ran = run_line({"serve", "--resolver", "192.0.2.53", "--resolver", "[2001:db8::53]:5353"});
    ASSERT_TRUE(ran.served);
    EXPECT_EQ(ran.served->resolvers, (std::vector<std::string>{"192.0.2.53", "[2001:db8::53]:5353"}));
    const auto wrong = run_line({"serve", "--resolver", "ns.example.com"});
    EXPECT_FALSE(wrong.served);
    EXPECT_NE(wrong.err.find("--resolver: \"ns.example.com\" is no ADDRESS or ADDRESS:PORT"), std::string::npos)
        << wrong.err;
}

TEST(CommandLine, ServeLearnsOfPlaces) {
    const auto ran =
        run_line({"serve", "--geoip", "a.mmdb", "--geo-override", "10.0.0.0/8=DE", "--geo-override", "192.0.2.0/24=*"});
    ASSERT_TRUE(ran.served);
    EXPECT_EQ(ran.served->geoip, "a.mmdb");
    EXPECT_EQ(ran.served->geo_overrides, (std::vector<std::string>{"10.0.0.0/8=DE", "192.0.2.0/24=*"}));
}

TEST(CommandLine, EveryHelpTeachesByExample) {
    for (const auto* command :
         {"serve", "apply", "get", "describe", "delete", "watch", "wait", "token", "version", "completion"}) {
        const auto ran = run_line({command, "--help"});
        EXPECT_EQ(ran.code, 0);
        EXPECT_NE(ran.out.find("Examples:"), std::string::npos) << command;
        EXPECT_NE(ran.out.find(std::string("fairlead ") + command), std::string::npos) << ran.out;
    }
}

TEST(CommandLine, ServeDefaults) {
    const auto ran = run_line({"serve"}, {{"XDG_STATE_HOME", "/state"}});
    ASSERT_TRUE(ran.served) << ran.err;
    EXPECT_EQ(ran.served->data_dir, "/state/fairlead");
    EXPECT_EQ(ran.served->api_listen, "127.0.0.1:7443");
    EXPECT_EQ(ran.served->store, "embedded:");
    EXPECT_TRUE(ran.served->apply.empty());
    EXPECT_TRUE(ran.served->controllers);
    EXPECT_EQ(ran.served->event_ttl, std::chrono::hours(1));
    EXPECT_TRUE(ran.served->dns);
    EXPECT_EQ(ran.served->dns_listen, std::vector<std::string>{"127.0.0.1:5300"});
    EXPECT_FALSE(ran.served->dns_threads);
    EXPECT_FALSE(ran.served->dns_pin);
}
TEST(CommandLine, ServeDns) {
    const auto ran = run_line({"serve", "--dns-listen", "0.0.0.0:53", "--dns-listen", "[::]:53", "--dns-threads", "2",
                               "--dns-pin", "--dns-version", "ours", "--dns-id", "fra1"});
    ASSERT_TRUE(ran.served) << ran.err;
    EXPECT_TRUE(ran.served->dns);
    EXPECT_EQ(ran.served->dns_listen, (std::vector<std::string>{"0.0.0.0:53", "[::]:53"}));
    EXPECT_EQ(ran.served->dns_threads, 2U);
    EXPECT_TRUE(ran.served->dns_pin);
    EXPECT_EQ(ran.served->dns_version, "ours");
    EXPECT_EQ(ran.served->dns_id, "fra1");
    EXPECT_FALSE(run_line({"serve", "--dns-listen", "none"}).served->dns);
    EXPECT_FALSE(run_line({"serve", "--roles", "api,controllers"}).served->dns);
}
TEST(CommandLine, ServeBalancers) {
    EXPECT_TRUE(run_line({"serve"}).served->balancers) << "it does nothing until there is one";
    EXPECT_FALSE(run_line({"serve", "--roles", "api,controllers"}).served->balancers);
    const auto ran = run_line({"serve", "--roles", "api,balancers", "--haproxy", "/h", "--nginx", "/n"});
    ASSERT_TRUE(ran.served) << ran.err;
    EXPECT_TRUE(ran.served->balancers);
    EXPECT_FALSE(ran.served->controllers);
    EXPECT_EQ(ran.served->haproxy, "/h");
    EXPECT_EQ(ran.served->nginx, "/n");
}
TEST(CommandLine, ServeOptions) {
    const auto ran =
        run_line({"serve", "--data-dir",  "/d",  "--api-listen",      "[::1]:0", "--store",      "memory:", "--apply",
                  "a",     "--apply",     "b",   "--log-level",       "debug",   "--log-format", "json",    "--roles",
                  "api",   "--event-ttl", "90s", "--token-auth-file", "t.csv",   "--audit-log",  "a.log"});
    ASSERT_TRUE(ran.served) << ran.err;
    EXPECT_EQ(ran.served->data_dir, "/d");
    EXPECT_EQ(ran.served->api_listen, "[::1]:0");
    EXPECT_EQ(ran.served->store, "memory:");
    EXPECT_EQ(ran.served->apply, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(ran.served->log_level, LogLevel::debug);
    EXPECT_EQ(ran.served->log_format, LogFormat::json);
    EXPECT_FALSE(ran.served->controllers);
    EXPECT_EQ(ran.served->event_ttl, std::chrono::seconds(90));
    EXPECT_EQ(ran.served->token_auth_file, "t.csv");
    EXPECT_EQ(ran.served->audit_log, "a.log");
}
TEST(CommandLine, ConfigFillsWhatIsNotTyped) {
    const auto file = std::filesystem::path(testing::TempDir()) / "fairlead_config_test.yaml";
    std::ofstream(file) << "api-listen: 127.0.0.1:1\nstore: 'memory:'\napply: [x, z]\n"
                           "token-auth-file: t.csv\naudit-log: a.log\n"
                           "dns-listen: ['127.0.0.1:0', '[::1]:0']\ndns-threads: 3\ndns-pin: true\ndns-id: fra1\n"
                           "geoip: places.mmdb\ngeo-overrides: [10.0.0.0/8=DE, '192.0.2.0/24=*']\n";
    const auto ran = run_line({"serve", "--config", file.string(), "--api-listen", "127.0.0.1:2", "--data-dir", "/d"});
    ASSERT_TRUE(ran.served) << ran.err;
    EXPECT_EQ(ran.served->api_listen, "127.0.0.1:2");
    EXPECT_EQ(ran.served->store, "memory:");
    EXPECT_EQ(ran.served->apply, (std::vector<std::string>{"x", "z"}));
    EXPECT_EQ(ran.served->token_auth_file, "t.csv");
    EXPECT_EQ(ran.served->audit_log, "a.log");
    EXPECT_EQ(ran.served->dns_listen, (std::vector<std::string>{"127.0.0.1:0", "[::1]:0"}));
    EXPECT_EQ(ran.served->geoip, "places.mmdb");
    EXPECT_EQ(ran.served->geo_overrides, (std::vector<std::string>{"10.0.0.0/8=DE", "192.0.2.0/24=*"}));
    EXPECT_EQ(ran.served->dns_threads, 3U);
    EXPECT_TRUE(ran.served->dns_pin);
    EXPECT_EQ(ran.served->dns_id, "fra1");
    std::filesystem::remove(file);
    const auto missing = run_line({"serve", "--config", file.string()});
    EXPECT_EQ(missing.code, 2);
    EXPECT_NE(missing.err.find("fairlead_config_test.yaml"), std::string::npos);
}

struct ConfigRow {
    const char* name;
    std::string yaml, message;
};
class BadConfig : public testing::TestWithParam<ConfigRow> {};
TEST_P(BadConfig, NamesTheLine) {
    ServeArguments arguments;
    const auto filled = fill_from_config(arguments, GetParam().yaml);
    ASSERT_FALSE(filled);
    EXPECT_EQ(filled.error().text(), GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    CommandLine, BadConfig,
    testing::Values(ConfigRow{"unknown", "store: 'memory:'\nlisten: x", "line 2: there is no option \"listen\""},
                    ConfigRow{"no_text", "\nstore: 3", "line 2: store must be a text"},
                    ConfigRow{"bad_apply", "apply: [1]", "line 1: apply must be a text or a list of texts"},
                    ConfigRow{"bad_pin", "dns-pin: 'yes'", "line 1: dns-pin must be true or false"},
                    ConfigRow{"bad_dns", "dns-listen: 53", "line 1: dns-listen must be a text or a list of texts"},
                    ConfigRow{"no_map", "[]", "one YAML map is expected"}),
    [](const auto& row) { return row.param.name; });

struct UnknownRow {
    const char* name;
    std::vector<std::string> arguments;
    std::string message;
};
class UnknownWord : public testing::TestWithParam<UnknownRow> {};
TEST_P(UnknownWord, NamesTheWordAndTheHelp) {
    const auto ran = run_line(GetParam().arguments);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.err, GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    CommandLine, UnknownWord,
    testing::Values(
        UnknownRow{"command", {"bogus"}, "error: unknown command \"bogus\"\nSee `fairlead --help`.\n"},
        UnknownRow{
            "help_of_a_command", {"bogus", "--help"}, "error: unknown command \"bogus\"\nSee `fairlead --help`.\n"},
        UnknownRow{"option", {"get", "--bogus"}, "error: unknown option \"--bogus\"\nSee `fairlead get --help`.\n"},
        UnknownRow{"argument", {"version", "x"}, "error: unknown argument \"x\"\nSee `fairlead version --help`.\n"},
        UnknownRow{"missing", {"get"}, "error: what is required\nSee `fairlead get --help`.\n"}),
    [](const auto& row) { return row.param.name; });
TEST(CommandLine, WithoutACommandShowsTheHelp) {
    const auto ran = run_line({});
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find("Examples:"), std::string::npos) << ran.err;
}

TEST(CommandLine, CompletionKnowsCommandsOptionsAndTypes) {
    for (const auto* shell : {"bash", "zsh", "fish"}) {
        const auto ran = run_line({"completion", shell});
        EXPECT_EQ(ran.code, 0);
        for (const auto* word : {"describe", "namespaces"})
            EXPECT_NE(ran.out.find(word), std::string::npos) << shell << word;
        EXPECT_NE(ran.out.find(std::string(shell) == "fish" ? "-l kubeconfig" : "--kubeconfig"), std::string::npos)
            << shell;
    }
}

struct NameRow {
    const char* name;
    std::string text;
    bool answers;
};
class Names : public testing::TestWithParam<NameRow> {};
TEST_P(Names, OfAType) {
    const ResourceType route{.group = "route.openshift.io",
                             .version = "v1",
                             .plural = "routes",
                             .singular = "route",
                             .kind = "Route",
                             .short_names = {"rt"},
                             .categories = {},
                             .verbs = {},
                             .namespaced = true};
    EXPECT_EQ(answers_to(route, GetParam().text), GetParam().answers);
}
INSTANTIATE_TEST_SUITE_P(Discovery, Names,
                         testing::Values(NameRow{"plural", "routes", true}, NameRow{"singular", "route", true},
                                         NameRow{"kind", "Route", true}, NameRow{"short_name", "rt", true},
                                         NameRow{"group", "routes.route.openshift.io", true},
                                         NameRow{"version_and_group", "routes.v1.route.openshift.io", true},
                                         NameRow{"other_group", "routes.example.com", false},
                                         NameRow{"other", "router", false}),
                         [](const auto& row) { return row.param.name; });

TEST(Api, WarningHeaders) {
    EXPECT_EQ(warning_text(R"(299 - "unknown field \"spec.zzz\"")"), "unknown field \"spec.zzz\"");
    EXPECT_EQ(warning_text("299 nothing quoted"), std::nullopt);
}
TEST(Api, ErrorsAreWordedAsKubectlWordsThem) {
    EXPECT_EQ(
        failure_from(404, R"({"kind":"Status","reason":"NotFound","message":"routes \"a\" not found"})").error.message,
        "Error from server (NotFound): routes \"a\" not found");
    EXPECT_EQ(
        failure_from(
            422, R"({"kind":"Status","reason":"Invalid","message":"m","details":{"kind":"Route","name":"a","causes":[
        {"field":"spec.b","message":"Required value"}]}})")
            .error.message,
        "The Route \"a\" is invalid: spec.b: Required value");
    EXPECT_EQ(
        failure_from(
            422, R"({"kind":"Status","reason":"Invalid","message":"m","details":{"kind":"Route","name":"a","causes":[
        {"field":"b","message":"x"},{"field":"c","message":"y"}]}})")
            .error.message,
        "The Route \"a\" is invalid:\n* b: x\n* c: y");
    EXPECT_EQ(failure_from(401, R"({"kind":"Status","reason":"Unauthorized","message":"m"})").error.message,
              "error: You must be logged in to the server (Unauthorized)");
    EXPECT_EQ(failure_from(502, "<html>\x1b[2J").error.message,
              "Error from server: HTTP 502 Bad Gateway: <html>\\x1b[2J");
}

}  // namespace
}  // namespace fairlead::cli
