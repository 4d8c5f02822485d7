#include "cli/emitter_options.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/clock.h"
#include "cli/terminal.h"

namespace fairlead::cli {
namespace {

using namespace std::chrono_literals;

// With a Receptor and nothing else named, no kubeconfig is looked for.
EmitterArguments typed() {
    EmitterArguments arguments;
    arguments.nats = {"nats://10.0.0.5:4222"};
    arguments.receptor = "https://10.0.0.7:8887";
    return arguments;
}

Result<EmitterOptions> read(const EmitterArguments& arguments) {
    std::istringstream in;
    std::ostringstream out;
    const SystemClock clock;
    const Terminal terminal{
        .in = in, .out = out, .err = out, .clock = clock, .sleep = {}, .environment = [](const std::string&) {
            return std::string();
        }};
    return emitter_options(arguments, terminal);
}

TEST(EmitterOptions, Defaults) {
    const auto options = read(typed());
    ASSERT_TRUE(options) << options.error().text();
    EXPECT_EQ(options->subjects, "router");
    EXPECT_EQ(options->interval, 20s);
    EXPECT_EQ(options->sync_interval, 60s);
    EXPECT_EQ(options->lease_duration, 4s);
    EXPECT_FALSE(options->access) << "a Receptor is read without our API";
    EXPECT_FALSE(options->lease);
    EXPECT_FALSE(options->name.empty());
    EXPECT_EQ(options->listen, "");
    auto arguments = typed();
    arguments.listen = ":9101";
    EXPECT_EQ(read(arguments)->listen, "0.0.0.0:9101");
}

TEST(EmitterOptions, ErrorsNameTheFlag) {
    struct Row {
        const char* name;
        std::function<void(EmitterArguments&)> set;
        const char* error;
    };
    const Row rows[] = {
        {"NoScheme", [](auto& a) { a.nats = {"10.0.0.5:4222"}; }, "--nats: \"10.0.0.5:4222\" is no URL"},
        {"SecretIsKept", [](auto& a) { a.nats = {"http://u:p@x"}; }, "--nats: \"http://...@x\" is no URL"},
        {"TooManyUrls", [](auto& a) { a.nats.assign(65, "nats://x"); }, "--nats: is there 65 times"},
        {"Status", [](auto& a) { a.router_status = {"x"}; }, "--router-status: \"x\" is no URL"},
        {"Receptor", [](auto& a) { a.receptor = "u:p@x"; }, "--receptor: \"...@x\" is no URL"},
        {"Space", [](auto& a) { a.connection.name_space = "x"; }, "--namespace: is of our API"},
        {"NoReceptor",
         [](auto& a) {
             a.receptor.reset();
             a.receptor_token = "file";
         },
         "--receptor-token-file: is of a Receptor"},
        {"NoUser", [](auto& a) { a.nats_password = "file"; }, "--nats-password-file: goes with --nats-user"},
        {"NoPassword", [](auto& a) { a.nats_user = "me"; }, "--nats-user: goes with --nats-password-file"},
        {"EmptyName", [](auto& a) { a.name = ""; }, "--name: \"\" is not 1 to 253"},
        {"LongName", [](auto& a) { a.name = std::string(254, 'x'); }, "--name: \"xxx"},
        {"EmptyMark", [](auto& a) { a.mark = ""; }, "--mark: \"\" is not 1 to 63 letters"},
        {"MarkWithASlash", [](auto& a) { a.mark = "a/b"; }, "--mark: \"a/b\" is not 1 to 63 letters"},
        {"LongMark", [](auto& a) { a.mark = std::string(64, 'x'); }, "--mark: \"xxx"},
        {"LeaseName", [](auto& a) { a.lease_name = "A b"; }, "--lease-name: \"A b\" is no name"},
        {"Subjects", [](auto& a) { a.subjects = "router.*"; }, "--subjects: \"router.*\" is no prefix"},
        {"Interval", [](auto& a) { a.interval = "0s"; }, "--interval: \"0s\" is no duration"},
        {"Audit", [](auto& a) { a.audit_interval = "2h"; }, "--audit-interval: \"2h\" is no duration"},
        {"Lease", [](auto& a) { a.lease_duration = "1s"; }, "--lease-duration: \"1s\" is no duration"},
        {"Pace", [](auto& a) { a.messages_per_second = 0; }, "--messages-per-second: 0 is outside"},
        {"Listen", [](auto& a) { a.listen = "x:70000"; }, "--listen: \"x:70000\" is no"},
        {"Level", [](auto& a) { a.log_level = "loud"; }, "--log-level: \"loud\" is none of"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        auto arguments = typed();
        row.set(arguments);
        const auto options = read(arguments);
        ASSERT_FALSE(options);
        EXPECT_EQ(options.error().code, Errc::invalid);
        EXPECT_TRUE(options.error().text().starts_with(row.error)) << options.error().text();
    }
}

}  // namespace
}  // namespace fairlead::cli
