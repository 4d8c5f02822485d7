// A gorouter for tests: keeps its rules and limits on a real NATS and serves its table over HTTP.
//
//   strict_router --nats URL [--interval SECONDS] [--stale SECONDS] [--prefix router] [--listen 127.0.0.1:0]
//                 [--user USER --password PASSWORD] [--ca FILE] [--slow MICROSECONDS]
//                 [--prune-every SECONDS] [--suspend-pruning true|false]
//
// Prints one line "ready ADDRESS". GET /routes answers as gorouter does; GET /figures counts (names, registers,
// unregisters, refused, pruned, dropped); POST /restart forgets everything and starts again. Ends on SIGTERM or SIGINT.
#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "gorouter/nats_router.h"
#include "net/server.h"

namespace {

using namespace fairlead;

class Status final : public net::Handler {
public:
    explicit Status(gorouter::NatsRouter& router) : router_(router) {}
    void handle(net::Request request, net::Respond respond) override {
        net::Response answer;
        answer.headers.set("Content-Type", "application/json");
        if (request.target == "/routes") {
            router_.look([&](const gorouter::RouterModel& model) { answer.body = model.routes(); });
        } else if (request.target == "/figures") {
            router_.look([&](const gorouter::RouterModel& model) {
                const auto& counts = model.counts();
                answer.body = fmt::format(
                    R"({{"names":{},"registers":{},"unregisters":{},"refused":{},"pruned":{},"dropped":{}}})",
                    model.table().size(), counts.registers, counts.unregisters, counts.refused, counts.pruned,
                    router_.dropped());
            });
        } else if (request.target == "/restart" && request.method == "POST") {
            router_.restart();
            answer.body = "{}";
        } else {
            answer.status = 404;
            answer.body = "{}";
        }
        respond(std::move(answer));
    }

private:
    gorouter::NatsRouter& router_;
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> flags = {{"--nats", ""},
                                                {"--interval", "20"},
                                                {"--stale", "120"},
                                                {"--prefix", "router"},
                                                {"--listen", "127.0.0.1:0"},
                                                {"--user", ""},
                                                {"--password", ""},
                                                {"--ca", ""},
                                                {"--slow", "0"},
                                                {"--prune-every", "1"},
                                                {"--suspend-pruning", "true"}};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!flags.contains(argv[i])) {
            fmt::print(stderr, "no flag {}\n", argv[i]);
            return 2;
        }
        flags[argv[i]] = argv[i + 1];
    }
    if (flags["--nats"].empty()) {
        fmt::print(stderr, "--nats URL is needed\n");
        return 2;
    }
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);

    const auto seconds = [&](const char* flag) { return std::chrono::seconds(parse_int(flags[flag]).value_or(1)); };
    gorouter::NatsRouter router({.url = flags["--nats"],
                                 .user = flags["--user"],
                                 .password = flags["--password"],
                                 .ca = flags["--ca"],
                                 .prefix = flags["--prefix"],
                                 .settings = {.stale_threshold = seconds("--stale"),
                                              .interval = seconds("--interval"),
                                              .suspends_pruning = flags["--suspend-pruning"] != "false"},
                                 .prune_every = seconds("--prune-every"),
                                 .slowness = std::chrono::microseconds(parse_int(flags["--slow"]).value_or(0))});
    Status status(router);
    Log log(LogLevel::error, LogFormat::text);
    Metrics metrics;
    auto server = net::start_server({.listen = flags["--listen"]}, status, log, metrics);
    if (!server) {
        fmt::print(stderr, "{}\n", server.error().text());
        return 1;
    }
    fmt::print("ready {}\n", (*server)->address());
    std::fflush(stdout);
    int got = 0;
    sigwait(&ends, &got);
    (*server)->shutdown(std::chrono::milliseconds(500));
    return 0;
}
