// How fast Routes are placed. `schedule_bench place STORE ROUTES ROUTERS`: from create to bound, through the API
// semantics and the scheduler as the server runs it, with STORE memory or disk. `schedule_bench strategies ROUTES
// ROUTERS`: the strategies alone. No sockets. Prints one JSON object.
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "apiserver/local_client.h"
#include "base/files.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "control/control_thread.h"
#include "control/manager.h"
#include "controller/route_scheduler.h"
#include "store/embedded.h"
#include "store/memory.h"

namespace fairlead {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr std::size_t writes_at_once = 16;  // as src/main.cpp
constexpr std::size_t creators = 16;        // clients that create routes

[[noreturn]] void die(std::string_view what, std::string_view why) {
    fmt::print(stderr, "{}: {}\n", what, why);
    std::_Exit(1);
}

double resident_mb() {
    const auto text = read_file("/proc/self/statm").value_or("");
    const auto pages = parse_int(
        std::string_view(text).substr(text.find(' ') + 1, text.find(' ', text.find(' ') + 1) - text.find(' ') - 1));
    return static_cast<double>(pages.value_or(0)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

json::Value parsed(const std::string& text) {
    auto value = json::parse(text);
    if (!value) die("json", value.error().text());
    return std::move(*value);
}

json::Value router(std::size_t i) {
    return parsed(fmt::format(
        R"({{"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{{"name":"router-{0}"}},"spec":{{"dns":"r{0}.example.net"}}}})",
        i));
}

json::Value route(std::size_t i) {
    return parsed(fmt::format(
        R"({{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{{"name":"route-{0}","namespace":"default","labels":{{"app":"shop-{1}"}}}},"spec":{{"host":"r{0}","to":{{"kind":"Service","name":"web-{1}"}}}}}})",
        i, i % 97));
}

int place(std::string_view kind, std::size_t routes, std::size_t routers) {
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("schedule-bench-{}", ::getpid());
    std::filesystem::create_directories(folder);
    Log log(LogLevel::warn, LogFormat::text);
    Metrics metrics;
    std::unique_ptr<store::Store> store;
    if (kind == "memory") {
        store = store::make_memory_store();
    } else {
        store::EmbeddedOptions options;
        options.file = folder / "store.db";
        auto opened = store::open_embedded_store(options, log, metrics);
        if (!opened) die("store", opened.error().text());
        store = std::move(*opened);
    }
    const SystemClock clock;
    SystemRandom random;
    const auto kinds = resource::make_kinds();
    apiserver::Rest rest(kinds, *store, clock, random);
    if (auto prepared = rest.prepare(); !prepared) die("prepare", prepared.error().text());
    apiserver::LocalClient client(kinds, *store, clock, random, writes_at_once);
    control::Fence fence;
    control::Manager manager({kinds, *store, client, client, fence, clock, random, log, metrics}, {});
    manager.add("route-scheduler", [](auto& context) {
        return std::make_unique<controller::RouteScheduler>(context, controller::RouteSchedulerOptions{});
    });
    const auto& router_kind = *kinds.find("fairlead.dev", "v1", "routers");
    const auto& route_kind = *kinds.find("route.openshift.io", "v1", "routes");
    for (std::size_t i = 0; i < routers; ++i) {
        const control::Request request{control::Verb::create, {&router_kind, "", ""}, "", router(i), {}, "bench"};
        if (auto made = client.send(request); !made) die("router", made.error().text());
    }
    const auto empty_mb = resident_mb();
    control::ControlThread thread(manager, clock);
    const auto began = clock.monotonic();
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    threads.reserve(creators);
    for (std::size_t t = 0; t < creators; ++t) {
        threads.emplace_back([&] {
            for (auto i = next++; i < routes; i = next++) {
                const control::Request request{
                    control::Verb::create, {&route_kind, "default", ""}, "", route(i), {}, "bench"};
                if (auto made = client.send(request); !made) die("route", made.error().text());
            }
        });
    }
    for (auto& each : threads) each.join();
    const auto created = Seconds(clock.monotonic() - began).count();
    // Bound is what the store says; the last ones follow within moments.
    const auto bound = [&] {
        std::size_t count = 0;
        store->snapshot(route_kind.table())->scan("", "", [&](const store::ObjectRef& object) {
            if (object->value().find(R"("phase":"scheduled")") != std::string_view::npos) ++count;
            return true;
        });
        return count;
    };
    while (bound() < routes) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto took = Seconds(clock.monotonic() - began).count();
    const auto mb = resident_mb() - empty_mb;
    thread.stop();
    fmt::print(R"({{"routes":{},"routers":{},"create_s":{:.3f},"bound_s":{:.3f},"per_second":{:.0f},"mb":{:.0f}}})"
               "\n",
               routes, routers, created, took, static_cast<double>(routes) / took, mb);
    std::filesystem::remove_all(folder);
    return 0;
}

int strategies(std::size_t routes, std::size_t routers) {
    std::string text;
    for (const auto* name : {"round-robin", "least-routes", "weighted", "rendezvous"}) {
        auto strategy = traffic::make_strategy(name);
        traffic::Shards shards;
        for (std::size_t i = 0; i < routers; ++i) {
            traffic::RouterFacts facts;
            facts.name = fmt::format("router-{}", i);
            facts.capacity = static_cast<std::int64_t>(1'000'000 + i * 10);
            shards.put(std::move(facts));
        }
        const auto began = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < routes; ++i) {
            const auto chosen =
                (*strategy)->schedule({fmt::format("default/route-{}", i), "u", {}}, shards.place({}).routers);
            if (!chosen) die(name, chosen.error().text());
            shards.count(*chosen, 1);
            shards.took_turn(*chosen);
        }
        const auto took = Seconds(std::chrono::steady_clock::now() - began).count();
        text += fmt::format(R"({}"{}_per_second":{:.0f})", text.empty() ? "" : ",", name,
                            static_cast<double>(routes) / took);
    }
    fmt::print(R"({{"routes":{},"routers":{},{}}})"
               "\n",
               routes, routers, text);
    return 0;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const auto number = [&](std::size_t at) {
        return static_cast<std::size_t>(fairlead::parse_int(arguments[at]).value_or(0));
    };
    if (arguments.size() == 4 && arguments[0] == "place") return fairlead::place(arguments[1], number(2), number(3));
    if (arguments.size() == 3 && arguments[0] == "strategies") return fairlead::strategies(number(1), number(2));
    fmt::print(stderr, "usage: schedule_bench place memory|disk ROUTES ROUTERS | strategies ROUTES ROUTERS\n");
    return 2;
}
