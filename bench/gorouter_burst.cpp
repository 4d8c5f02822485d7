// A table of names at once through the driver for gorouters: how long until everything was sent, in how many messages.
// Prints one line of JSON.
//   gorouter_burst NATS_URL NAMES NAMES_PER_ENDPOINT MESSAGES_PER_SECOND     0 a second: without a pace
#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "pace.h"
#include "proxy/gorouter/driver.h"

namespace {

using namespace fairlead;

traffic::RoutingTable table_of(std::size_t names, std::size_t names_per_endpoint) {
    traffic::RoutingTable table;
    for (std::size_t i = 0; i < names; ++i) {
        const auto host = fmt::format("app-{}.apps.example.com", i);
        const auto pool = "lrp/" + host;
        const auto endpoint = i / names_per_endpoint;
        table.rules[{host, false, ""}] = {.pool = pool, .owner = pool};
        auto& made = table.pools[pool];
        made.name = pool;
        made.members.resize(1);
        auto& member = made.members.front();
        member.address = fmt::format("10.{}.{}.1", endpoint / 10'000'000, endpoint / 40'000 % 250);
        member.port = static_cast<std::uint16_t>(20'000 + endpoint % 40'000);
        member.app = fmt::format("{:08x}-0000-4a00-8000-000000000000", endpoint);
        member.instance = fmt::format("{:08x}-0000-4d00-8000-000000000000", endpoint);
        member.index = 0;
    }
    return table;
}

template <class Holds>
void wait_until(Holds holds) {
    while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) {
        fmt::print(stderr, "usage: gorouter_burst NATS_URL NAMES NAMES_PER_ENDPOINT MESSAGES_PER_SECOND\n");
        return 2;
    }
    const std::size_t names = std::strtoull(arguments[2], nullptr, 10);
    const std::size_t each = std::strtoull(arguments[3], nullptr, 10);
    const double pace = std::strtod(arguments[4], nullptr);
    proxy::gorouter::Options options{.nats = {.urls = {arguments[1]}}};
    if (pace > 0) {
        options.settings.messages_per_second = pace;
    } else {
        options.settings.messages_per_second = 1e9;
        options.settings.burst = 1'000'000'000;
    }
    const SystemClock clock;
    SystemRandom random;
    Log log(LogLevel::error, LogFormat::text);
    Metrics metrics;
    auto driver = proxy::gorouter::start(std::move(options), clock, random, log, metrics);
    if (!driver) {
        fmt::print(stderr, "{}\n", driver.error().text());
        return 1;
    }
    wait_until([&] { return (*driver)->progress().up && (*driver)->emitted().routers > 0; });
    auto table = table_of(names, each);
    const auto began = bench::now_ns();
    (*driver)->reset(std::move(table), 1);
    wait_until([&] { return (*driver)->progress().programmed == 1; });
    const auto seconds = static_cast<double>(bench::now_ns() - began) / 1e9;
    const auto sent = (*driver)->emitted();
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    fmt::print("{{\"seconds\": {:.3f}, \"messages\": {}, \"names\": {}, \"bytes\": {}, \"peak_mb\": {:.0f}}}\n",
               seconds, sent.register_messages, sent.names_registered, sent.bytes,
               static_cast<double>(used.ru_maxrss) / 1024);
    return 0;
}
