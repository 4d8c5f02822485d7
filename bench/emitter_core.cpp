// From LRPs to the routing table and on to messages for routers, without network: how long the whole takes and how much
// memory, and what one event costs until its message is made, in CPU time. Prints one line of JSON.
//   emitter_core PROCESSES INSTANCES EVENTS     with one name per process, INSTANCES of each
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "lrp/front.h"
#include "proxy/gorouter/registrations.h"

namespace {

using namespace fairlead;
constexpr std::chrono::milliseconds event_every{2};

// CPU time: what else runs on the machine does not count.
double cpu_milliseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double milliseconds_since(double start) { return cpu_milliseconds() - start; }

double peak_mb() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) / 1024;
}

double resident_mb() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0;
    std::size_t resident = 0;
    file >> all >> resident;
    return static_cast<double>(resident) * 4096 / 1024 / 1024;
}

// As long as those of Diego.
std::string guid(std::uint64_t number, char kind) {
    number = (number + 1) * 0x9e3779b97f4a7c15U;
    return fmt::format("{:08x}-{:04x}-4{}00-8000-{:012x}", number >> 32U, number & 0xffffU, kind,
                       number & 0xffffffffffffU);
}

lrp::Desired desired(std::uint64_t process, std::int32_t instances) {
    lrp::Desired made;
    made.key = {"diego", guid(process, 'a')};
    made.name = fmt::format("app-{}", process);
    made.uid = guid(process, 'b');
    made.domain = "cf-apps";
    made.app = guid(process, 'c');
    made.instances = instances;
    made.ports = {8080};
    made.routes.http = {{.port = 8080, .names = {fmt::format("app-{}.apps.example.com", process)}}};
    made.routes.providers = {"cf-router"};
    made.tag = {made.uid, 1};
    return made;
}

// A thousand cells.
lrp::Actual actual(std::uint64_t process, std::int32_t index, std::int32_t instances, std::int64_t version) {
    const auto number = process * static_cast<std::uint64_t>(instances) + static_cast<std::uint64_t>(index);
    const auto cell = (number + static_cast<std::uint64_t>(version) * 7) % 1000;
    lrp::Actual made;
    made.process = {"diego", guid(process, 'a')};
    made.index = index;
    made.instance_guid = guid(number, 'd');
    made.domain = "cf-apps";
    made.running = true;
    made.address = fmt::format("10.0.{}.{}", cell / 250, cell % 250 + 1);
    made.ports = {{8080, static_cast<std::uint16_t>(20'000 + number / 1000), 0}};
    made.since = 1'000'000 + version;
    made.tag = {guid(number, 'e'), version};
    return made;
}

double quantile(const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        fmt::print(stderr, "usage: emitter_core PROCESSES INSTANCES EVENTS\n");
        return 2;
    }
    const std::uint64_t processes = std::strtoull(arguments[1], nullptr, 10);
    const auto instances = static_cast<std::int32_t>(std::strtol(arguments[2], nullptr, 10));
    const std::uint64_t events = std::strtoull(arguments[3], nullptr, 10);
    const auto empty_mb = resident_mb();

    // What was read comes in pieces, as from a watch; making it is not counted.
    lrp::Book book;
    lrp::Front front;
    double book_ms = 0;
    constexpr std::uint64_t piece = 1000;
    for (std::uint64_t first = 0; first < processes; first += piece) {
        std::vector<lrp::Desired> wanted;
        std::vector<lrp::Actual> running;
        for (auto process = first; process < std::min(first + piece, processes); ++process) {
            wanted.push_back(desired(process, instances));
            for (std::int32_t index = 0; index < instances; ++index) {
                running.push_back(actual(process, index, instances, 1));
            }
        }
        const auto start = cpu_milliseconds();
        for (auto& each : wanted) book.put(std::move(each));
        for (auto& each : running) book.put(std::move(each));
        book_ms += milliseconds_since(start);
    }
    const auto book_mb = resident_mb() - empty_mb;

    auto start = cpu_milliseconds();
    traffic::RoutingTable table;
    {
        const auto names = front.update(book, book.take_touched());
        table = as_table(front, book, names);
    }
    const auto front_ms = milliseconds_since(start);
    const auto all_mb = resident_mb() - empty_mb;
    const auto build_peak_mb = peak_mb();
    if (table.rules.size() != processes || table.pools.size() != processes) std::abort();

    // The rest of the way: everything is told once, then an event at a time.
    start = cpu_milliseconds();
    proxy::gorouter::Registrations registrations({.messages_per_second = 1e9});
    registrations.reset(std::move(table));
    MonotonicTime now{};
    for (; !registrations.settled(); now += event_every) (void)registrations.take(now, 1'000);
    const auto told_ms = milliseconds_since(start);
    const auto told_mb = resident_mb() - empty_mb;

    std::vector<double> table_took, took;
    table_took.reserve(events);
    took.reserve(events);
    std::size_t messages = 0;
    for (std::uint64_t event = 0; event < events; ++event) {
        const auto process = (event * 7919) % processes;
        const auto index = static_cast<std::int32_t>(event % static_cast<std::uint64_t>(instances));
        auto news = actual(process, index, instances, static_cast<std::int64_t>(event) + 2);
        start = cpu_milliseconds();
        book.put(std::move(news));
        const auto names = front.update(book, book.take_touched());
        const auto change = as_change(front, book, names);
        table_took.push_back(milliseconds_since(start) * 1000);
        registrations.change(change);
        now += event_every;
        messages += registrations.take(now, 1'000).size();
        took.push_back(milliseconds_since(start) * 1000);
    }
    std::sort(table_took.begin(), table_took.end());
    std::sort(took.begin(), took.end());

    const auto events_peak_mb = peak_mb();

    // A pass that finds everything as it is, which is what most of them do.
    lrp::Snapshot snapshot;
    snapshot.fresh_domains = {"cf-apps"};
    for (std::uint64_t process = 0; process < processes; ++process) {
        snapshot.desired.push_back(desired(process, instances));
        for (std::int32_t index = 0; index < instances; ++index) {
            snapshot.actual.push_back(actual(process, index, instances, 1));
        }
    }
    book.begin_pass();
    start = cpu_milliseconds();
    book.end_pass(std::move(snapshot));
    (void)book.take_touched();
    const auto pass_ms = milliseconds_since(start);

    const auto slow = took.end() - std::lower_bound(took.begin(), took.end(), 500.0);
    fmt::print(
        "{{\"processes\": {}, \"instances\": {}, \"book_ms\": {:.0f}, \"front_ms\": {:.0f}, \"build_ms\": {:.0f}, "
        "\"book_mb\": {:.0f}, \"with_table_mb\": {:.0f}, \"build_peak_mb\": {:.0f}, \"event_p50_us\": {:.1f}, "
        "\"event_p99_us\": {:.1f}, \"event_max_us\": {:.0f}, \"told_ms\": {:.0f}, \"told_mb\": {:.0f}, "
        "\"message_p50_us\": {:.1f}, \"message_p99_us\": {:.1f}, \"message_p999_us\": {:.1f}, \"message_max_us\": "
        "{:.0f}, \"messages\": {}, \"above_500_us\": {}, \"collisions\": {}, \"pass_ms\": {:.0f}, \"peak_mb\": "
        "{:.0f}}}\n",
        book.processes(), book.instances(), book_ms, front_ms, book_ms + front_ms, book_mb, all_mb, build_peak_mb,
        quantile(table_took, 0.5), quantile(table_took, 0.99), table_took.back(), told_ms, told_mb, quantile(took, 0.5),
        quantile(took, 0.99), quantile(took, 0.999), took.back(), messages, slow, book.collisions(), pass_ms,
        events_peak_mb);
    return 0;
}
