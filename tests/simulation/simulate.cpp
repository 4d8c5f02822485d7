// `./dev simulate`: runs seeds until one fails, and says how to see it again.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string_view>

#include "base/text.h"
#include "simulation/client.h"
#include "simulation/publish_world.h"
#include "simulation/simulation.h"

namespace {

using Steady = std::chrono::steady_clock;

struct Arguments {
    std::int64_t seeds = 1000;
    std::int64_t start = 1;
    bool trace = false;
    bool embedded = false;    // over files instead of memory
    bool keep_going = false;  // names every failing seed instead of telling all about the first
    bool publish = false;     // the world of zones at other providers instead of the API's
};

int usage() {
    fmt::print(stderr,
               "usage: simulate [--seeds N] [--start S] [--trace] [--keep-going] [--embedded] [--world api|publish]\n");
    return 2;
}

bool read(int argc, char** argv, Arguments& arguments) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--trace") {
            arguments.trace = true;
            continue;
        }
        if (name == "--embedded") {
            arguments.embedded = true;
            continue;
        }
        if (name == "--keep-going") {
            arguments.keep_going = true;
            continue;
        }
        if (name == "--world") {
            const std::string_view world = i + 1 < argc ? argv[++i] : "";
            if (world != "api" && world != "publish") return false;
            arguments.publish = world == "publish";
            continue;
        }
        const auto value = i + 1 < argc ? fairlead::parse_int(argv[++i]) : std::nullopt;
        if (!value || *value < 0) return false;
        if (name == "--seeds") {
            arguments.seeds = *value;
        } else if (name == "--start") {
            arguments.start = *value;
        } else {
            return false;
        }
    }
    return true;
}

// Seeds of the world in publish_world.h.
int run_publishing(const Arguments& arguments) {
    fairlead::simulation::PublishReport all;
    const auto began = Steady::now();
    std::int64_t failed = 0;
    for (std::int64_t done = 0; done < arguments.seeds; ++done) {
        const auto report =
            fairlead::simulation::simulate_publishing(static_cast<std::uint64_t>(arguments.start + done));
        if (arguments.trace || (report.violation && !arguments.keep_going)) fmt::print("{}", report.trace);
        if (report.violation) {
            fmt::print("seed {}: {}\n", report.seed, *report.violation);
            if (!arguments.keep_going) return 1;
            ++failed;
        }
        all.applied += report.applied;
        all.faults += report.faults;
        all.crashes += report.crashes;
        all.foreign += report.foreign;
    }
    const double seconds = std::chrono::duration<double>(Steady::now() - began).count();
    fmt::print(
        "{} of {} seeds from {} are clean: {} sets written, {} faults, {} crashes, {} foreign writes, {:.1f} s, {:.0f} "
        "seeds a second\n",
        arguments.seeds - failed, arguments.seeds, arguments.start, all.applied, all.faults, all.crashes, all.foreign,
        seconds, static_cast<double>(arguments.seeds) / seconds);
    return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace fairlead::simulation;
    Arguments arguments;
    if (!read(argc, argv, arguments)) return usage();
    if (arguments.publish) return run_publishing(arguments);
    Surroundings around;
    const auto began = Steady::now();
    auto shown = began;
    std::uint64_t commits = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t unknown = 0;
    std::uint64_t terms = 0;
    std::int64_t failed = 0;
    const bool terminal = ::isatty(STDOUT_FILENO) != 0;
    const auto seconds = [&] { return std::chrono::duration<double>(Steady::now() - began).count(); };
    for (std::int64_t done = 0; done < arguments.seeds; ++done) {
        Settings settings;
        settings.seed = static_cast<std::uint64_t>(arguments.start + done);
        settings.print = arguments.trace;
        if (arguments.embedded) {
            const auto folder =
                std::filesystem::temp_directory_path() / fmt::format("fairlead-simulate-{}", ::getpid());
            settings.embedded = folder.string();
        }
        const auto report = simulate(settings, around);
        if (report.violation && arguments.keep_going) {
            ++failed;
            fmt::print("{}seed {}: {}\n", terminal ? "\r" : "", report.seed, report.violation->what);
        } else if (report.violation) {
            fmt::print("{}{}", terminal ? "\n" : "", report.text);
            return 1;
        }
        commits += report.commits;
        acknowledged += report.acknowledged;
        unknown += report.unknown;
        terms += report.terms;
        if (terminal && Steady::now() - shown > std::chrono::seconds(1)) {
            shown = Steady::now();
            fmt::print("\r{} of {} seeds clean, {:.0f} a second ", done + 1, arguments.seeds,
                       static_cast<double>(done + 1) / seconds());
            (void)std::fflush(stdout);
        }
    }
    fmt::print("{}{} of {} seeds from {} are clean: {} commits, {} writes acknowledged, {} with unknown outcome, ",
               terminal ? "\r" : "", arguments.seeds - failed, arguments.seeds, arguments.start, commits, acknowledged,
               unknown);
    fmt::print("{} terms of leaders, {:.1f} s, {:.0f} seeds a second\n", terms, seconds(),
               static_cast<double>(arguments.seeds) / seconds());
    return failed == 0 ? 0 : 1;
}
