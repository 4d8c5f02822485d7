// `./dev simulate`: runs seeds until one fails, and says how to see it again.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string_view>

#include "base/text.h"
#include "simulation/claims_world.h"
#include "simulation/client.h"
#include "simulation/clusters_world.h"
#include "simulation/emitter_world.h"
#include "simulation/publish_world.h"
#include "simulation/routers_world.h"
#include "simulation/simulation.h"

namespace {

using Steady = std::chrono::steady_clock;

struct Arguments {
    std::int64_t seeds = 1000;
    std::int64_t start = 1;
    bool trace = false;
    bool embedded = false;    // over files instead of memory
    bool keep_going = false;  // names every failing seed instead of telling all about the first
    std::string_view world = "api";
};

int usage() {
    fmt::print(stderr,
               "usage: simulate [--seeds N] [--start S] [--trace] [--keep-going] [--embedded] [--world "
               "api|publish|clusters|routers|emitter|claims]\n");
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
            arguments.world = i + 1 < argc ? argv[++i] : "";
            constexpr std::array<std::string_view, 6> worlds{"api",     "publish", "clusters",
                                                             "routers", "emitter", "claims"};
            if (std::find(worlds.begin(), worlds.end(), arguments.world) == worlds.end()) return false;
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

// Seeds of one of the other worlds, one after the other; adds up what the reports say. The number that failed.
template <class Simulate, class Add>
std::int64_t run_seeds(const Arguments& arguments, const Simulate& simulate, const Add& add) {
    std::int64_t failed = 0;
    for (std::int64_t done = 0; done < arguments.seeds; ++done) {
        const auto report = simulate(static_cast<std::uint64_t>(arguments.start + done));
        if (arguments.trace || (report.violation && !arguments.keep_going)) fmt::print("{}", report.trace);
        add(report);
        if (!report.violation) continue;
        fmt::print("seed {}: {}\n", report.seed, *report.violation);
        ++failed;
        if (!arguments.keep_going) break;
    }
    return failed;
}

void print_clean(const Arguments& arguments, std::int64_t failed) {
    fmt::print("{} of {} seeds from {} are clean: ", arguments.seeds - failed, arguments.seeds, arguments.start);
}

// Seeds of the world in publish_world.h.
int run_publishing(const Arguments& arguments) {
    fairlead::simulation::PublishReport all;
    const auto began = Steady::now();
    const auto failed = run_seeds(
        arguments, [](std::uint64_t seed) { return fairlead::simulation::simulate_publishing(seed); },
        [&all](const auto& report) {
            all.applied += report.applied;
            all.faults += report.faults;
            all.crashes += report.crashes;
            all.foreign += report.foreign;
        });
    if (failed != 0 && !arguments.keep_going) return 1;
    const double seconds = std::chrono::duration<double>(Steady::now() - began).count();
    print_clean(arguments, failed);
    fmt::print("{} sets written, {} faults, {} crashes, {} foreign writes, {:.1f} s, {:.0f} seeds a second\n",
               all.applied, all.faults, all.crashes, all.foreign, seconds,
               static_cast<double>(arguments.seeds) / seconds);
    return failed == 0 ? 0 : 1;
}

// Seeds of the world in clusters_world.h.
int run_clusters(const Arguments& arguments) {
    fairlead::simulation::ClustersSurroundings around;
    fairlead::simulation::ClustersReport all;
    const auto began = Steady::now();
    const auto failed = run_seeds(
        arguments, [&around](std::uint64_t seed) { return fairlead::simulation::simulate_clusters(seed, around); },
        [&all](const auto& report) {
            all.actions += report.actions;
            all.cuts += report.cuts;
            all.broken += report.broken;
            all.expired += report.expired;
            all.crashes += report.crashes;
            all.deaths += report.deaths;
            all.answers += report.answers;
            all.absences += report.absences;
        });
    if (failed != 0 && !arguments.keep_going) return 1;
    const double seconds = std::chrono::duration<double>(Steady::now() - began).count();
    print_clean(arguments, failed);
    fmt::print("{} actions, {} cuts, {} broken calls, {} watches too old, {} crashes, {} deaths, ", all.actions,
               all.cuts, all.broken, all.expired, all.crashes, all.deaths);
    fmt::print("{} looks at hosts that must answer, {} at absent clusters, {:.1f} s, {:.0f} seeds a second\n",
               all.answers, all.absences, seconds, static_cast<double>(arguments.seeds) / seconds);
    return failed == 0 ? 0 : 1;
}

// Seeds of the world in routers_world.h.
int run_routers(const Arguments& arguments) {
    fairlead::simulation::RoutersSurroundings around;
    fairlead::simulation::RoutersReport all;
    const auto began = Steady::now();
    const auto failed = run_seeds(
        arguments, [&around](std::uint64_t seed) { return fairlead::simulation::simulate_routers(seed, around); },
        [&all](const auto& report) {
            all.actions += report.actions;
            all.bindings += report.bindings;
            all.moves += report.moves;
            all.refusals += report.refusals;
            all.cuts += report.cuts;
            all.crashes += report.crashes;
            all.broken += report.broken;
            all.expired += report.expired;
            all.served += report.served;
        });
    if (failed != 0 && !arguments.keep_going) return 1;
    const double seconds = std::chrono::duration<double>(Steady::now() - began).count();
    print_clean(arguments, failed);
    fmt::print(
        "{} actions, {} bindings, {} moves, {} refused, {} cuts, {} broken calls, {} watches too old, {} crashes, ",
        all.actions, all.bindings, all.moves, all.refusals, all.cuts, all.broken, all.expired, all.crashes);
    fmt::print("{} routes served at the end, {:.1f} s, {:.0f} seeds a second\n", all.served, seconds,
               static_cast<double>(arguments.seeds) / seconds);
    return failed == 0 ? 0 : 1;
}

// Seeds of the world in emitter_world.h.
int run_emitters(const Arguments& arguments) {
    fairlead::simulation::EmitterSurroundings around;
    fairlead::simulation::EmitterReport all;
    const auto began = Steady::now();
    const auto failed = run_seeds(
        arguments, [&around](std::uint64_t seed) { return fairlead::simulation::simulate_emitters(seed, around); },
        [&all](const auto& report) {
            all.actions += report.actions;
            all.evacuations += report.evacuations;
            all.takeovers += report.takeovers;
            all.lost += report.lost;
            all.doubled += report.doubled;
            all.failed_reads += report.failed_reads;
            all.outages += report.outages;
            all.restarts += report.restarts;
            all.crashes += report.crashes;
            all.cuts += report.cuts;
            all.failovers += report.failovers;
            all.unknowing += report.unknowing;
            all.longest_missing = std::max(all.longest_missing, report.longest_missing);
            all.registered += report.registered;
            all.withdrawn += report.withdrawn;
            all.held += report.held;
            all.leftovers += report.leftovers;
        });
    if (failed != 0 && !arguments.keep_going) return 1;
    const double seconds = std::chrono::duration<double>(Steady::now() - began).count();
    print_clean(arguments, failed);
    fmt::print("{} actions, {} evacuations, {} takeovers of addresses, {} events lost, {} doubled, {} reads failed, ",
               all.actions, all.evacuations, all.takeovers, all.lost, all.doubled, all.failed_reads);
    fmt::print("{} NATS outages, {} router starts, {} crashes, {} cuts, {} failovers, {} names registered, ",
               all.outages, all.restarts, all.crashes, all.cuts, all.failovers, all.registered);
    fmt::print(
        "{} withdrawn, {} of them alive without the emitter's knowledge, {} left by others, {} held at the end, ",
        all.withdrawn, all.unknowing, all.leftovers, all.held);
    fmt::print("{:.1f} s at most until what was owed was there, {:.1f} s, {:.0f} seeds a second\n", all.longest_missing,
               seconds, static_cast<double>(arguments.seeds) / seconds);
    return failed == 0 ? 0 : 1;
}

// Seeds of the world in claims_world.h.
int run_claims(const Arguments& arguments) {
    fairlead::simulation::ClaimsSurroundings around;
    fairlead::simulation::ClaimsReport all;
    const auto began = Steady::now();
    const auto failed = run_seeds(
        arguments, [&around](std::uint64_t seed) { return fairlead::simulation::simulate_claims(seed, around); },
        [&all](const auto& report) {
            all.actions += report.actions;
            all.bindings += report.bindings;
            all.freed += report.freed;
            all.provisioned += report.provisioned;
            all.lost += report.lost;
            all.crashes += report.crashes;
            all.broken += report.broken;
            all.bound += report.bound;
            all.waiting += report.waiting;
            all.strays += report.strays;
        });
    if (failed != 0 && !arguments.keep_going) return 1;
    const double seconds = std::chrono::duration<double>(Steady::now() - began).count();
    print_clean(arguments, failed);
    fmt::print("{} actions, {} bindings, {} shares freed, {} provisioned, {} strays, {} crashes, {} broken calls, ",
               all.actions, all.bindings, all.freed, all.provisioned, all.strays, all.crashes, all.broken);
    fmt::print("{} bound, {} waiting and {} lost at the end, {:.1f} s, {:.0f} seeds a second\n", all.bound, all.waiting,
               all.lost, seconds, static_cast<double>(arguments.seeds) / seconds);
    return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace fairlead::simulation;
    Arguments arguments;
    if (!read(argc, argv, arguments)) return usage();
    if (arguments.world == "publish") return run_publishing(arguments);
    if (arguments.world == "clusters") return run_clusters(arguments);
    if (arguments.world == "routers") return run_routers(arguments);
    if (arguments.world == "emitter") return run_emitters(arguments);
    if (arguments.world == "claims") return run_claims(arguments);
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
