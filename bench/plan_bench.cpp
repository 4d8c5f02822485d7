// What planning costs without a provider: plan() with no change, with 1% of the records changed and with everything to
// create, and a whole round (list from memory, ownership, plan). One size per run, so that the peak of memory is its
// own: plan_bench RECORDS [round]. Prints one line of JSON; bench/run.py puts it beside the figures of external-dns.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "plan/plan.h"
#include "plan/registry.h"

namespace fairlead::plan {
namespace {

constexpr int repetitions = 5;

std::string name_of(std::size_t i) { return fmt::format("svc-{:07}.team-{:03}.bench.example.com", i, i % 997); }

dns::Endpoint record(std::size_t i) {
    dns::Endpoint made;
    made.dns_name = name_of(i);
    made.record_type = "A";
    made.ttl = 300;
    made.targets.push_back(fmt::format("10.{}.{}.{}", i >> 16U & 255U, i >> 8U & 255U, i & 255U));
    return made;
}

std::string resource(std::size_t i) { return fmt::format("service/team-{:03}/svc-{:07}", i % 997, i); }

std::vector<dns::Endpoint> present_records(std::size_t count) {
    std::vector<dns::Endpoint> list;
    list.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        list.push_back(record(i));
        set_label(list.back(), owner_label, "bench");
        set_label(list.back(), resource_label, resource(i));
    }
    return list;
}

// In the order in which the records are listed, or in any other: then each is far away in memory from its record.
std::vector<Desired> wishes(std::size_t count, bool shuffled) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    SeededRandom random(1);
    for (std::size_t i = shuffled ? count : 0; i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
    std::vector<Desired> list;
    list.reserve(count);
    for (const auto i : order) {
        list.push_back({record(i), {}});
        set_label(list.back().endpoint, resource_label, resource(i));
    }
    return list;
}

// Milliseconds of this process, so that neighbours on the machine count as little as they can.
double spent() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Milliseconds: the median of some runs.
double timed(const std::function<void()>& run) {
    std::vector<double> took;
    took.reserve(repetitions);
    for (int i = 0; i < repetitions; ++i) {
        const auto from = spent();
        run();
        took.push_back(spent() - from);
    }
    std::sort(took.begin(), took.end());
    return took[took.size() / 2];
}

double peak_megabytes() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) / 1024;
}

void expect(bool right, const char* what) {
    if (right) return;
    fmt::print(stderr, "plan_bench: {}\n", what);
    std::exit(1);
}

// What a provider would list: each record with its ownership record beside it, texts not yet understood.
std::vector<dns::Endpoint> listing(std::size_t count) {
    std::vector<dns::Endpoint> list;
    list.reserve(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
        list.push_back(record(i));
        dns::Endpoint text;
        text.dns_name = "_owner." + list.back().dns_name;
        text.record_type = "TXT";
        text.ttl = 300;
        text.targets.push_back(
            fmt::format("\"heritage=external-dns,external-dns/name={},external-dns/owner=bench,external-dns/records=A,"
                        "external-dns/resource={}\"",
                        list.back().dns_name, resource(i)));
        list.push_back(std::move(text));
    }
    return list;
}

struct Round {
    double list = 0, read = 0, plan = 0;
};

// The median of some rounds, by their time without that of making the list: that is the provider's.
Round round_of(std::size_t count, const std::vector<Desired>& desired, const Options& options) {
    SystemRandom random;
    RegistryOptions ownership;
    ownership.owner = options.owner;
    ownership.zone = "bench.example.com";
    const auto registry = Registry::make(ownership, random);
    std::vector<Round> rounds(3);
    for (auto& each : rounds) {
        const auto began = spent();
        auto listed = listing(count);
        const auto has_listed = spent();
        const auto read = registry->read(std::move(listed));
        const auto has_read = spent();
        const auto made = plan(read.records(), desired, options);
        each = {has_listed - began, has_read - has_listed, spent() - has_read};
        expect(made.empty() && made.owned == count, "the round finds changes");
    }
    std::sort(rounds.begin(), rounds.end(),
              [](const Round& a, const Round& b) { return a.read + a.plan < b.read + b.plan; });
    return rounds[1];
}

int run_round(std::size_t count) {
    Options options;
    options.owner = "bench";
    const auto round = round_of(count, wishes(count, false), options);
    fmt::print(R"({{"records":{},"list_ms":{:.3f},"read_ms":{:.3f},"plan_ms":{:.3f},"peak_mb":{:.1f}}})"
               "\n",
               count, round.list, round.read, round.plan, peak_megabytes());
    return 0;
}

int run(std::size_t count) {
    Options options;
    options.owner = "bench";
    const auto present = present_records(count);
    auto desired = wishes(count, false);
    const auto nothing = [&] { expect(plan(present, desired, options).empty(), "there are changes"); };
    const double inputs = peak_megabytes();
    const double same = timed(nothing);
    const double peak = peak_megabytes();
    for (std::size_t i = 0; i < count; i += 100) desired[i].endpoint.targets[0] = "192.0.2.1";
    const double hundredth =
        timed([&] { expect(plan(present, desired, options).changes.size() == (count + 99) / 100, "not 1%"); });
    const double creates =
        timed([&] { expect(plan({}, desired, options).changes.size() == count, "not all are created"); });
    desired.clear();
    desired = wishes(count, true);
    const double shuffled = timed(nothing);
    fmt::print(
        R"({{"records":{},"same_ms":{:.3f},"shuffled_ms":{:.3f},"hundredth_ms":{:.3f},"creates_ms":{:.3f},"inputs_mb":{:.1f},"plan_mb":{:.1f}}})"
        "\n",
        count, same, shuffled, hundredth, creates, inputs, peak - inputs);
    return 0;
}

}  // namespace
}  // namespace fairlead::plan

int main(int argc, char** argv) {
    const auto count = argc > 1 ? fairlead::parse_int(argv[1]).value_or(0) : 100'000;
    const auto records = static_cast<std::size_t>(std::max<std::int64_t>(count, 1));
    const bool round = argc > 2 && std::string_view(argv[2]) == "round";
    return round ? fairlead::plan::run_round(records) : fairlead::plan::run(records);
}
