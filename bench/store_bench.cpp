// The embedded store alone, without an API before it: durable creates with 1, 16 and 64 waiting callers, reads, and
// what a million objects cost in memory, on disk and when opening. Files go to a folder in $TMPDIR, or /tmp: let that
// be a real disk, since fsync is what is measured.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/log.h"
#include "base/metrics.h"
#include "store/embedded.h"

namespace fairlead::store {
namespace {

constexpr std::string_view table = "fairlead.dev/routes";
constexpr std::size_t value_bytes = 1024;

std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0;
    std::size_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class World {
public:
    World() {
        std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-bench-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) std::abort();
        folder_ = pattern;
        open();
    }
    ~World() {
        store_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    void open() {
        auto opened = open_embedded_store({.file = file(), .history = {}, .progress = {}}, log_, metrics_);
        if (!opened) {
            fmt::print(stderr, "{}\n", opened.error().text());
            std::abort();
        }
        store_ = std::move(*opened);
    }
    void close() { store_.reset(); }
    Store& store() { return *store_; }
    [[nodiscard]] std::filesystem::path file() const { return folder_ / "store.db"; }

    // Names in no order, as generated ones are.
    static std::vector<Op> create(std::uint64_t number) {
        const std::uint64_t mixed = number * 0x9E3779B97F4A7C15ULL;
        return {put({std::string(table), fmt::format("ns-{:02}/route-{:016x}", mixed % 50, mixed)}, Expect::absent(),
                    {.bytes = std::string(value_bytes, 'x'), .revision_at = 16})};
    }

    // As many at once as the store takes.
    void fill(std::uint64_t first, std::uint64_t count) {
        std::atomic<std::uint64_t> open_commits = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            while (open_commits > 5000) std::this_thread::yield();
            ++open_commits;
            store_->commit(create(first + i), [&](const Result<Committed>& done) {
                if (!done) std::abort();
                --open_commits;
            });
        }
        while (open_commits > 0) std::this_thread::yield();
    }

private:
    std::filesystem::path folder_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    std::unique_ptr<Store> store_;
};

void durable_creates(benchmark::State& state) {
    World world;
    const auto callers = static_cast<std::uint64_t>(state.range(0));
    const std::uint64_t each = callers == 1 ? 2000 : 40'000 / callers;
    std::uint64_t next = 0;
    for (auto _ : state) {
        std::vector<std::thread> threads;
        for (std::uint64_t caller = 0; caller < callers; ++caller) {
            threads.emplace_back([&, first = next + caller * each] {
                for (std::uint64_t i = 0; i < each; ++i) {
                    if (!world.store().commit_and_wait(World::create(first + i))) std::abort();
                }
            });
        }
        for (auto& thread : threads) thread.join();
        next += callers * each;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(next));
}

void get_one(benchmark::State& state) {
    World world;
    const auto count = static_cast<std::uint64_t>(state.range(0));
    world.fill(0, count);
    std::uint64_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(world.store().get(World::create(i++ % count)[0].key));
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

void list_all(benchmark::State& state) {
    World world;
    const auto count = static_cast<std::uint64_t>(state.range(0));
    world.fill(0, count);
    for (auto _ : state) {
        std::size_t bytes = 0;
        world.store().snapshot(table)->scan("", "", [&](const ObjectRef& object) {
            bytes += object->value().size();
            return true;
        });
        benchmark::DoNotOptimize(bytes);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * count));
}

void open_and_hold(benchmark::State& state) {
    World world;
    const auto count = static_cast<std::uint64_t>(state.range(0));
    world.fill(0, count);
    world.close();
    malloc_trim(0);
    const std::size_t before = resident_bytes();
    std::size_t after = 0;
    for (auto _ : state) {
        world.open();
        after = resident_bytes();
        state.PauseTiming();
        if (world.store().snapshot(table)->size() != count) std::abort();
        world.close();
        malloc_trim(0);
        state.ResumeTiming();
    }
    const auto raw = static_cast<double>(count * value_bytes);
    state.counters["memory/raw"] = static_cast<double>(after - before) / raw;
    state.counters["disk/raw"] = static_cast<double>(std::filesystem::file_size(world.file())) / raw;
}

}  // namespace
}  // namespace fairlead::store

int main(int argc, char** argv) {
    using namespace fairlead::store;
    benchmark::RegisterBenchmark("durable_creates/callers", durable_creates)
        ->Arg(1)
        ->Arg(16)
        ->Arg(64)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("get_one/of", get_one)->Arg(100'000);
    benchmark::RegisterBenchmark("list_all/of", list_all)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("open_and_hold/objects", open_and_hold)
        ->Arg(100'000)
        ->Arg(1'000'000)
        ->Iterations(1)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
