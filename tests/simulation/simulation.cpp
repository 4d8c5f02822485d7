#include "simulation/simulation.h"

#include <fmt/core.h>

#include "simulation/client.h"
#include "simulation/controllers.h"

namespace fairlead::simulation {

namespace {

constexpr int release_attempts = 20;
// What failed while things went wrong has come back by then.
constexpr std::chrono::seconds calm = longest_backoff + std::chrono::seconds(5);
// No controller waits longer before it would write again: then nothing more will come.
constexpr std::chrono::seconds silence = event_ttl + std::chrono::seconds(5);

void play(World& world) {
    for (std::size_t turn = 0; turn < world.turns() && !world.failed(); ++turn) world.step();
    if (world.failed()) return;
    world.journal.line("the clients stop, and nothing goes wrong any more");
    world.stop_clients();
    world.become_quiet(calm);
    if (world.failed()) return;
    world.collection.check_quiet(world.truth(), false);
    world.journal.line("the clients let go of what they hold");
    for (int attempt = 0; attempt < release_attempts && !Releaser::release_all(world); ++attempt) world.step();
    world.become_quiet(silence);
    if (world.failed()) return;
    world.collection.check_quiet(world.truth(), true);
    check_host_claims(world.truth(), world.journal);
    world.store->check_all();
    world.ledger.check_all();
    world.check_actors();
}

std::string describe(const Settings& settings, const Journal& journal) {
    const auto& violation = *journal.violation();
    std::string text = fmt::format("seed {} violates \"{}\":\n  {}\nthe last steps:\n", settings.seed,
                                   name_of(violation.invariant), violation.what);
    for (const auto& line : journal.tail()) text += line + "\n";
    text += fmt::format("replay: ./dev simulate --seeds 1 --start {}{} --trace\n", settings.seed,
                        settings.embedded.empty() ? "" : " --embedded");
    return text;
}

// Everything that is there at the end, for whoever reads a trace.
void print_state(const Truth& truth) {
    for (const auto& [table, objects] : truth.tables()) {
        for (const auto& [name, version] : objects) {
            fmt::print("at the end: {}/{} at {}: {}\n", table, name, version.modified, version.bytes);
        }
    }
}

}  // namespace

Report simulate(const Settings& settings, Surroundings& around) {
    World world(settings, around);
    play(world);
    if (settings.print) print_state(world.truth());
    Report report;
    report.seed = settings.seed;
    report.violation = world.journal.violation();
    report.hash = world.journal.hash();
    report.lines = world.journal.lines();
    report.commits = world.store->commits();
    report.acknowledged = world.ledger.acknowledged();
    report.unknown = world.ledger.unknown();
    report.terms = world.leadership.terms();
    if (report.violation) report.text = describe(settings, world.journal);
    return report;
}

}  // namespace fairlead::simulation
