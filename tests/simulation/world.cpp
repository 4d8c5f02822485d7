#include "simulation/world.h"

#include <fmt/core.h>

#include <algorithm>

#include "simulation/client.h"
#include "simulation/controllers.h"
#include "simulation/watcher.h"

namespace fairlead::simulation {

using apiserver::Reply;
using apiserver::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr int clients = 3;
constexpr int watchers = 3;
constexpr int process_count = 2;
constexpr int pause_turns = 20;  // that others take while a process stands still
constexpr int max_depth = 3;     // turns within commits within turns
constexpr std::string_view lease_table = "coordination.k8s.io/leases";

// Each fault is on in half of the runs and rare to frequent where it is: runs that combine everything at one rate all
// look alike.
Faults draw_faults(Dice& dice) {
    const auto rate = [&dice](unsigned most) {
        return dice.chance(500) ? static_cast<unsigned>(dice.between(1, most)) : 0U;
    };
    Faults faults;
    faults.refuse = rate(120);
    faults.lose = rate(60);
    faults.forget_answer = rate(60);
    faults.late = rate(40);
    faults.crash_before = rate(25);
    faults.crash_after = rate(25);
    faults.yield = rate(400);
    faults.pause = rate(400);
    faults.read = rate(30);
    faults.drop_watch = rate(60);
    faults.delay_watch = rate(150);
    faults.delay_wake = rate(200);
    return faults;
}

// Small enough that watches which stay away for a while meet compaction, in two thirds of the runs.
store::HistoryLimits draw_history(Dice& dice) {
    store::HistoryLimits limits;
    if (dice.below(3) != 0) limits.events = dice.between(3, 60);
    return limits;
}

Reply call(apiserver::Rest& rest, const Request& request) {
    const apiserver::Body body{request.body, request.content_type};
    switch (request.verb) {
        case Verb::get:
            return rest.get(request.target, request.options);
        case Verb::list:
            return rest.list(request.target, request.options, {});
        case Verb::create: {
            auto target = request.target;
            target.name.clear();
            return rest.create(target, request.options, body);
        }
        case Verb::update:
            return rest.update(request.target, request.options, body);
        case Verb::patch:
            return rest.patch(request.target, request.options, body);
        case Verb::remove:
            return rest.remove(request.target, request.options, body);
        case Verb::remove_collection:
            return rest.remove_collection(request.target, request.options, body);
        case Verb::watch:
            break;
    }
    return {};
}

}  // namespace

World::World(const Settings& settings, Surroundings& around)
    : journal(settings.keep_lines, settings.print),
      dice(settings.seed),
      ledger(journal, store),
      leadership(journal),
      collection(journal, around.kinds),
      settings_(settings),
      around_(around) {
    faults_ = draw_faults(dice);
    chaos_rate_ = dice.chance(700) ? static_cast<unsigned>(dice.between(5, 60)) : 0;
    turns_ = dice.between(40, 300);
    SimStore::Hooks hooks;
    hooks.yield = [this](const Writer&) { yield(); };
    hooks.pause = [this](const Writer& writer) { pause(writer); };
    hooks.crash = [this](int process) { kill(*processes[static_cast<std::size_t>(process)]); };
    hooks.inspect = [this](const Writer& writer, const std::vector<store::Op>& ops) {
        leadership.inspect(writer, ops, truth(), now_);
        collection.inspect(writer, ops, truth());
    };
    hooks.changed = [this](const Writer& writer, const Key& key, const Change& change) {
        if (key.table != lease_table) last_change_ = now_;
        collection.changed(key, change);
        if (writer.role == Writer::Role::client) ledger.changed(writer.request, key, change);
    };
    const auto history = draw_history(dice);
    auto backing = settings.embedded.empty() ? make_memory_backing(history, settings.defects.below)
                                             : make_embedded_backing(settings.embedded, history, around);
    store = std::make_unique<SimStore>(std::move(backing), dice, journal, std::move(hooks));
    for (int i = 0; i < process_count; ++i) {
        processes.push_back(std::make_unique<Process>(i));
        // Two machines never agree about the time.
        processes.back()->clock.jump(seconds(dice.between(0, 3600)));
        start(*processes.back());
    }
    store->set_faults(faults_);
    for (const auto& process : processes) actors_.push_back(std::make_unique<ControllersActor>(*process));
    for (int i = 0; i < clients; ++i) actors_.push_back(std::make_unique<Client>(i));
    struct Watched {
        std::string_view group, plural, ns;
    };
    const std::vector<Watched> watched{{"", "secrets", ""},       {"", "endpoints", "north"},
                                       {"", "namespaces", ""},    {"", "secrets", "default"},
                                       {"", "endpoints", ""},     {"route.openshift.io", "routes", ""},
                                       {"", "events", "default"}, {"fairlead.dev", "clusters", ""}};
    for (int i = 0; i < watchers; ++i) {
        const auto& [group, plural, ns] = dice.pick(watched);
        actors_.push_back(
            std::make_unique<Watcher>(i, *kinds().find(group, "v1", plural), std::string(ns), dice.chance(250)));
    }
}

World::~World() = default;

Process* World::any_process() {
    std::vector<Process*> live;
    for (const auto& process : processes) {
        if (process->answers(now_)) live.push_back(process.get());
    }
    return live.empty() ? nullptr : dice.pick(live);
}

std::optional<Reply> World::send(Process& process, const Request& request, std::string_view who) {
    const auto instance = process.instance;  // it may die meanwhile, and must stay until we are back
    const auto id = next_request_++;
    ledger.begin(id);
    Reply reply;
    {
        const SimStore::Scope scope(*store, {Writer::Role::client, process.number(), id, std::string(who), {}});
        reply = call(instance->rest, request);
    }
    const bool answered = !instance->dead();
    if (answered) {
        journal.line(fmt::format("{} to {}: {} -> {}", who, process.name(), request.text(), reply.code));
    } else {
        journal.line(fmt::format("{} to {}: {} -> no answer", who, process.name(), request.text()));
    }
    ledger.answered(id, request, answered ? &reply : nullptr, who);
    if (!answered) return std::nullopt;
    return reply;
}

void World::start(Process& process) {
    ++process.starts;
    process.instance =
        std::make_shared<Instance>(around_, store->open(process.number()), settings_.defects, process.clock, dice,
                                   fmt::format("{}/{}", process.name(), process.starts));
    const auto instance = process.instance;
    const SimStore::Scope scope(*store, {Writer::Role::startup, process.number(), 0, process.name() + " starting", {}});
    const auto prepared = instance->rest.prepare();
    if (instance->dead()) return;
    journal.line(
        fmt::format("{} {}", process.name(), prepared ? "starts" : "cannot start: " + prepared.error().text()));
    if (!prepared) kill(process);
}

void World::kill(Process& process) {
    if (!process.instance) return;
    process.instance->handle->die();
    process.instance.reset();
    process.paused_until = SimTime(0);
    process.restart_at = now_ + milliseconds(dice.between(1, faulty_ ? 20'000 : 1'000));
}

void World::power_loss() {
    journal.line("everything loses its power");
    for (const auto& process : processes) kill(*process);
    store->reopen();
}

void World::chaos() {
    auto& process = *dice.pick(processes);
    const auto what = dice.below(100);
    if (what < 30) {
        if (!process.instance) return;
        journal.line(process.name() + " is killed");
        kill(process);
    } else if (what < 40) {
        if (depth_ == 0) power_loss();
    } else if (what < 65) {
        process.paused_until = now_ + milliseconds(dice.between(100, 60'000));
        journal.line(process.name() + " is paused");
    } else {
        const auto by = milliseconds(dice.between(1, 7'200'000));
        const bool back = dice.chance(500);
        process.clock.jump(back ? -by : by);
        journal.line(fmt::format("the clock of {} jumps by {}{} ms", process.name(), back ? "-" : "", by.count()));
    }
}

void World::move_to(SimTime time) {
    now_ = std::max(now_, time);
    journal.set_time(now_);
    for (const auto& process : processes) process->clock.set(now_);
    store->tick(now_);
    for (const auto& process : processes) {
        if (!process->instance && now_ >= process->restart_at) start(*process);
    }
}

void World::pass_time() {
    const auto kind = dice.below(100);
    std::uint64_t ms = 0;
    if (kind < 60) {
        ms = dice.between(0, 20);
    } else if (kind < 90) {
        ms = dice.between(20, 500);
    } else if (kind < 99) {
        ms = dice.between(500, 5'000);
    } else {
        ms = dice.between(5'000, 40'000);
    }
    move_to(now_ + milliseconds(ms));
}

void World::check_actors() {
    for (const auto& actor : actors_) actor->check(*this);
}

void World::take_turn(Actor& actor) {
    actor.busy = true;
    actor.step(*this);
    actor.busy = false;
}

void World::step() {
    if (faulty_ && dice.chance(chaos_rate_)) chaos();
    std::vector<Actor*> ready;
    for (const auto& actor : actors_) {
        if (!actor->busy && actor->ready(*this)) ready.push_back(actor.get());
    }
    if (!ready.empty()) take_turn(*dice.pick(ready));
    pass_time();
}

void World::yield() {
    if (depth_ >= max_depth) return;
    ++depth_;
    const SimStore::Scope nobody(*store, {});
    const auto turns = dice.between(1, 4);
    for (std::uint64_t turn = 0; turn < turns; ++turn) step();
    --depth_;
}

// Between what a controller knows and what it writes: what fencing is for.
void World::pause(const Writer& writer) {
    if (depth_ >= max_depth) return;
    ++depth_;
    const SimStore::Scope nobody(*store, {});
    auto& process = *processes[static_cast<std::size_t>(writer.process)];
    const auto pause = milliseconds(dice.between(2'000, 60'000));
    const auto until = now_ + pause;
    process.paused_until = until;
    journal.line(fmt::format("{} is paused in the middle of a write of {}", process.name(), writer.name));
    while (now_ < until) {
        step();
        move_to(std::min(until, now_ + pause / pause_turns));
    }
    --depth_;
}

SimTime World::next_due() const {
    SimTime due = store->next_due();
    for (const auto& process : processes) {
        if (!process->instance) due = std::min(due, process->restart_at);
    }
    for (const auto& actor : actors_) due = std::min(due, actor->due(*this));
    return due;
}

bool World::somebody_leads() const {
    return std::any_of(processes.begin(), processes.end(), [](const auto& process) {
        return process->instance && process->instance->manager.leading() && process->instance->manager.synced();
    });
}

void World::become_quiet(SimTime long_enough) {
    faulty_ = false;
    store->settle();
    for (const auto& process : processes) process->paused_until = SimTime(0);
    last_change_ = now_;
    for (std::size_t turn = 0; turn < settings_.quiet_steps && !failed(); ++turn) {
        std::vector<Actor*> ready;
        for (const auto& actor : actors_) {
            if (actor->ready(*this)) ready.push_back(actor.get());
        }
        if (!ready.empty()) {
            take_turn(*dice.pick(ready));
            move_to(now_ + milliseconds(dice.below(3)));
            continue;
        }
        if (!somebody_leads()) last_change_ = now_;  // silence without a leader says nothing
        if (now_ - last_change_ >= long_enough) return;
        move_to(std::clamp(next_due(), now_ + milliseconds(1), last_change_ + long_enough));
    }
    if (failed()) return;
    journal.violate(
        Invariant::collection_converges,
        fmt::format("{} turns after everything went well again, somebody still writes", settings_.quiet_steps));
}

}  // namespace fairlead::simulation
