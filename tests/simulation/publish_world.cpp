#include "simulation/publish_world.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "plan/owner_text.h"
#include "plan/registry.h"
#include "publish/memory_zone.h"
#include "publish/zone_runner.h"
#include "simulation/dice.h"

namespace fairlead::simulation {
namespace {

using namespace std::chrono_literals;
using publish::Fault;
using publish::MemoryProvider;
using publish::MemoryZone;
using Key = MemoryZone::Key;

constexpr const char* apex = "example.com";
constexpr std::array<const char*, 2> owners{"blue", "green"};
constexpr std::size_t actions = 60;
constexpr auto calm = std::chrono::hours(3);  // longer than a record that would not stay is left alone
constexpr std::size_t max_steps = 20'000;

class NoWaiting final : public provider::Waiter {
public:
    bool wait(std::chrono::nanoseconds) override { return true; }
};

bool is_ownership(const Key& key) { return std::get<1>(key) == "TXT"; }

std::string spell(const dns::Endpoint& one) {
    return fmt::format("{} {} [{}] {}", one.record_type, one.dns_name, one.set_identifier, join(one.targets, ","));
}

class PublishWorld;

// A provider that looks at each group before and after, and dies when its process does.
class WatchedProvider final : public provider::Provider {
public:
    WatchedProvider(PublishWorld& world, std::size_t owner);
    [[nodiscard]] provider::Supports supports() const override { return memory_.supports(); }
    Result<provider::Listing> list(const std::optional<std::vector<std::string>>& names) override;
    [[nodiscard]] Result<dns::Endpoint> canonicalise(const dns::Endpoint& endpoint) const override {
        return memory_.canonicalise(endpoint);
    }
    std::vector<provider::Outcome> apply(std::span<const plan::ChangeGroup> groups) override;

private:
    PublishWorld& world_;
    std::size_t owner_;
    MemoryProvider memory_;
};

class PublishWorld {
public:
    explicit PublishWorld(std::uint64_t seed) : dice(seed) {
        report.seed = seed;
        hooks.reads_names = dice.chance(500);
        hooks.on_list = [this] { return faulty && dice.chance(80) ? fault(Fault::before) : Fault::none; };
        fussy = dice.chance(500);
        hooks.on_apply = [this](const plan::ChangeGroup& group) {
            const bool refused = std::any_of(group.changes.begin(), group.changes.end(), [this](const auto& change) {
                return change.after && unwelcome(*change.after);
            });
            if (refused) return fault(Fault::refuse);
            if (!faulty || !dice.chance(250)) return Fault::none;
            static constexpr std::array kinds{Fault::before, Fault::after, Fault::refuse, Fault::conflict};
            return fault(dice.pick(kinds));
        };
        for (std::size_t i = 0; i < owners.size(); ++i) {
            sides[i].providers.add(
                "memory", [this, i](const provider::ZoneSettings&) -> Result<std::unique_ptr<provider::Provider>> {
                    return std::make_unique<WatchedProvider>(*this, i);
                });
            auto& order = sides[i].order;
            order.key = fmt::format("default/{}", owners[i]);
            order.settings.key = order.key;
            order.settings.provider = "memory";
            order.settings.apex = *dns::Name::parse(apex);
            order.registry.owner = owners[i];
            order.guard.max_percent = dice.chance(500) ? 100 : 30;
            order.guard.minimum = 2;
            start(i);
        }
    }

    PublishReport run() {
        for (std::size_t i = 0; i < actions && !report.violation; ++i) act();
        faulty = false;
        settle();
        if (!report.violation) check_rest();
        return std::move(report);
    }

    void violate(std::string what) {
        if (!report.violation) report.violation = std::move(what);
    }
    // What the provider never takes, in about half of the worlds: others of the same name must land all the same.
    [[nodiscard]] bool unwelcome(const dns::Endpoint& one) const {
        return fussy && (one.targets.front().ends_with("3") || one.targets.front() == "lb3.example.net");
    }
    void note(std::string line) { report.trace += line + '\n'; }
    void edit_as_foreigner();
    void check_foreign(std::string_view when);

    struct Side {
        provider::Providers providers;
        publish::ZoneOrder order;
        std::unique_ptr<publish::ZoneRunner> runner;
        std::map<std::string, std::vector<dns::Endpoint>> wishes;  // by record
        std::map<std::string, publish::RecordReport> told;         // by record, the last
        bool dead = false;                                         // its process has ended, in the middle of something
    };
    Dice dice;
    PublishReport report;
    MemoryZone zone;
    MemoryProvider::Hooks hooks;
    std::array<Side, owners.size()> sides;
    std::map<Key, std::size_t> owner_of;      // whose each record is, by who created it
    std::map<Key, dns::Endpoint> foreigners;  // what somebody else has put there
    bool faulty = true, fussy = false;

private:
    Fault fault(Fault kind) {
        ++report.faults;
        return kind;
    }
    void start(std::size_t i);
    void act();
    void wish(std::size_t i);
    void step(std::size_t i);
    void settle();
    void check_rest();
    void check_wishes(std::size_t i);
    void check_told(std::size_t i);
    [[nodiscard]] bool waits_for_unwelcome(std::size_t i, const dns::Endpoint& there) const;
    void check_ownership();
    [[nodiscard]] std::set<Key> wanted_by(std::size_t i) const;

    ManualClock clock_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    NoWaiting waiter_;
    provider::Surroundings around_{clock_, dice, log_, metrics_, waiter_};
};

WatchedProvider::WatchedProvider(PublishWorld& world, std::size_t owner)
    : world_(world), owner_(owner), memory_(world.zone, world.hooks) {}

Result<provider::Listing> WatchedProvider::list(const std::optional<std::vector<std::string>>& names) {
    auto& side = world_.sides.at(owner_);
    if (world_.faulty && world_.dice.chance(20)) side.dead = true;
    if (side.dead) return fail(Errc::unavailable, "the process has ended");
    return memory_.list(names);
}

std::vector<provider::Outcome> WatchedProvider::apply(std::span<const plan::ChangeGroup> groups) {
    auto& side = world_.sides.at(owner_);
    std::vector<provider::Outcome> outcomes;
    for (const auto& group : groups) {
        if (world_.faulty && world_.dice.chance(50)) world_.edit_as_foreigner();
        if (world_.faulty && world_.dice.chance(30)) side.dead = true;
        if (side.dead) {
            outcomes.push_back({provider::Outcome::State::unavailable, {}, "the process has ended"});
            continue;
        }
        const auto before = world_.zone.sets;
        outcomes.push_back(memory_.apply(std::span(&group, 1)).front());
        if (outcomes.back().state == provider::Outcome::State::conflict) {
            world_.note(fmt::format("  {} conflicts at {}", owners.at(owner_), group.name));
            for (const auto* changes : {&group.changes, &group.ownership}) {
                for (const auto& each : *changes) {
                    world_.note(fmt::format("    {} {} -> {}", plan::action_text(each.action),
                                            each.before ? spell(*each.before) : "",
                                            each.after ? spell(*each.after) : ""));
                }
            }
        }
        for (const auto& [key, was] : before) {
            const auto now = world_.zone.sets.find(key);
            const bool changed = now == world_.zone.sets.end() || !(now->second == was);
            if (!changed || is_ownership(key)) continue;
            const auto owner = world_.owner_of.find(key);
            if (owner == world_.owner_of.end() || owner->second != owner_) {
                world_.violate(fmt::format("{} changed {}, which is not his", owners.at(owner_), spell(was)));
            }
            if (now == world_.zone.sets.end()) world_.owner_of.erase(key);
        }
        for (const auto& [key, is] : world_.zone.sets) {
            if (!before.contains(key) && !is_ownership(key)) world_.owner_of[key] = owner_;
            if (before.contains(key) && before.at(key) == is) continue;
            world_.note(fmt::format("  {} wrote {}", owners.at(owner_), spell(is)));
            ++world_.report.applied;
        }
        world_.check_foreign("after a write");
    }
    return outcomes;
}

void PublishWorld::start(std::size_t i) {
    auto& side = sides.at(i);
    side.dead = false;
    side.runner = std::make_unique<publish::ZoneRunner>(side.order, side.providers, around_);
    for (const auto& [key, endpoints] : side.wishes) {
        publish::RecordOrder record;
        record.key = key;
        record.created = 1'700'000'000;
        record.endpoints = endpoints;
        side.runner->put_record(std::move(record));
    }
}

// Changes what one of them wants: some records that share names with each other and with those of the other side.
void PublishWorld::wish(std::size_t i) {
    auto& side = sides.at(i);
    const auto key = fmt::format("default/r{}", dice.below(6));
    if (side.wishes.contains(key) && dice.chance(350)) {
        note(fmt::format("{} wants {} no more", owners.at(i), key));
        side.wishes.erase(key);
        side.runner->remove_record(key);
        return;
    }
    static constexpr std::array names{"w0", "w1", "w2", "*", "", "own"};
    dns::Endpoint one;
    std::string label = dice.pick(names);
    if (label == "own") label += owners.at(i);
    one.dns_name = label.empty() ? apex : label + "." + apex;
    one.record_type = dice.chance(700) ? "A" : dice.chance(500) ? "AAAA" : "CNAME";
    if (one.record_type == "CNAME" && label.empty()) one.record_type = "A";
    one.ttl = 60;
    const auto number = dice.below(4);
    one.targets = {one.record_type == "A"      ? fmt::format("192.0.2.{}", number)
                   : one.record_type == "AAAA" ? fmt::format("2001:db8::{}", number)
                                               : fmt::format("lb{}.example.net", number)};
    if (dice.chance(450)) {
        one.set_identifier = dice.chance(500) ? fmt::format("cluster/{}", dice.below(3))
                                              : fmt::format("global/{}-{}", owners.at(i), dice.below(2));
        one.properties = {{"weight", std::to_string(dice.below(5))}};
    }
    note(fmt::format("{} wants {}: {}", owners.at(i), key, spell(one)));
    side.wishes[key] = {one};
    publish::RecordOrder record;
    record.key = key;
    record.created = 1'700'000'000;
    record.endpoints = {one};
    side.runner->put_record(std::move(record));
}

// Somebody else writes: his own records, and now and then into ours. He takes no name that is taken, as he could not
// tell himself what would become of it.
void PublishWorld::edit_as_foreigner() {
    ++report.foreign;
    const auto pick_from = [this](auto& map) {
        auto at = map.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(dice.below(map.size())));
        return at;
    };
    if (!foreigners.empty() && dice.chance(400)) {
        const auto mine = pick_from(foreigners);
        note("a foreigner removes or changes " + spell(mine->second));
        if (dice.chance(500)) {
            zone.sets.erase(mine->first);
            foreigners.erase(mine);
        } else {
            mine->second.targets = {fmt::format("198.51.100.{}", dice.below(9))};
            zone.sets[mine->first] = mine->second;
        }
        return;
    }
    if (!owner_of.empty() && dice.chance(400)) {
        const auto theirs = pick_from(owner_of);
        auto& set = zone.sets.at(theirs->first);
        note("a foreigner meddles with " + spell(set));
        if (dice.chance(400)) {
            zone.sets.erase(theirs->first);
            owner_of.erase(theirs);
        } else {
            set.targets = {set.record_type == "CNAME" ? "elsewhere.example.net" : "203.0.113.9"};
        }
        return;
    }
    dns::Endpoint one;
    one.dns_name = fmt::format("{}.{}", dice.chance(600) ? fmt::format("f{}", dice.below(3)) : "w1", apex);
    const bool taken = std::any_of(zone.sets.begin(), zone.sets.end(), [&](const auto& each) {
        return std::get<0>(each.first).find(one.dns_name) != std::string::npos;
    });
    if (taken) return;
    one.record_type = "A";
    one.ttl = 300;
    one.targets = {"198.51.100.1"};
    note("a foreigner adds " + spell(one));
    zone.put(one);
    foreigners[MemoryZone::key_of(one)] = one;
}

void PublishWorld::check_foreign(std::string_view when) {
    for (const auto& [key, endpoint] : foreigners) {
        const auto found = zone.sets.find(key);
        if (found == zone.sets.end() || !(found->second == endpoint)) {
            violate(fmt::format("{}, the foreign {} is not as it was", when, spell(endpoint)));
        }
    }
}

void PublishWorld::step(std::size_t i) {
    auto& side = sides.at(i);
    (void)side.runner->run();
    if (!side.dead) return;
    ++report.crashes;
    note(fmt::format("{} starts anew", owners.at(i)));
    start(i);
}

void PublishWorld::act() {
    const auto i = static_cast<std::size_t>(dice.below(owners.size()));
    switch (dice.below(8)) {
        case 0:
        case 1:
        case 2:
            return wish(i);
        case 3:
            return edit_as_foreigner();
        case 4:
            clock_.advance(std::chrono::milliseconds(dice.below(20'000)));
            return;
        default:
            for (auto steps = dice.between(1, 6); steps > 0 && !report.violation; --steps) {
                clock_.advance(std::chrono::milliseconds(dice.below(300)));
                step(i);
            }
    }
}

// Without faults, until both have had time for everything that they do by the clock. What they hold back is approved.
void PublishWorld::settle() {
    const auto end = clock_.monotonic() + calm;
    for (std::size_t steps = 0; clock_.monotonic() < end && !report.violation; ++steps) {
        if (steps > max_steps) {
            for (const auto& side : sides) {
                const auto zone_report = side.runner->report();
                note(fmt::format("{}: {} {} held {} {}", side.order.key, zone_report.reason, zone_report.message,
                                 zone_report.held_digest, zone_report.held_message));
            }
            return violate("they never come to rest");
        }
        std::optional<MonotonicTime> due;
        bool more = false;
        for (auto& side : sides) {
            if (const auto held = side.runner->report().held_digest; !held.empty() && held != side.order.approved) {
                side.order.approved = held;
                side.runner->set_order(side.order);
            }
            const auto next = side.runner->run();
            for (auto& [key, told] : side.runner->take_record_reports()) side.told.insert_or_assign(key, told);
            more = more || next.more;
            if (next.due && (!due || *next.due < *due)) due = next.due;
        }
        if (!more) clock_.advance((due ? std::max(*due, clock_.monotonic() + 1ms) : end) - clock_.monotonic());
    }
}

std::set<Key> PublishWorld::wanted_by(std::size_t i) const {
    std::set<Key> keys;
    for (const auto& [key, endpoints] : sides.at(i).wishes) {
        for (const auto& each : endpoints) keys.insert(MemoryZone::key_of(each));
    }
    return keys;
}

// Each wish is there, or something stands in its way: somebody else's record at its name, or another wish.
void PublishWorld::check_wishes(std::size_t i) {
    std::vector<const dns::Endpoint*> all;
    for (const auto& [key, endpoints] : sides.at(i).wishes) {
        for (const auto& each : endpoints) all.push_back(&each);
    }
    for (const auto* each : all) {
        if (unwelcome(*each)) continue;
        const auto key = MemoryZone::key_of(*each);
        const auto found = zone.sets.find(key);
        const auto owner = owner_of.find(key);
        if (found != zone.sets.end() && owner != owner_of.end() && owner->second == i &&
            found->second.targets == each->targets && found->second.properties == each->properties) {
            continue;
        }
        const bool blocked = std::any_of(zone.sets.begin(), zone.sets.end(), [&](const auto& other) {
            const auto holder = owner_of.find(other.first);
            return std::get<0>(other.first) == std::get<0>(key) && !is_ownership(other.first) &&
                   (holder == owner_of.end() || holder->second != i);
        });
        const bool contested = std::any_of(all.begin(), all.end(), [&](const dns::Endpoint* other) {
            return other != each && plan::normal_name(other->dns_name) == std::get<0>(key) &&
                   (MemoryZone::key_of(*other) == key || plan::exclude_each_other(*other, *each));
        });
        if (!blocked && !contested) violate(fmt::format("{} does not get {}", owners.at(i), spell(*each)));
    }
}

// What was refused is told so, and only that.
void PublishWorld::check_told(std::size_t i) {
    using State = publish::RecordReport::State;
    const auto& side = sides.at(i);
    for (const auto& [key, endpoints] : side.wishes) {
        const auto& one = endpoints.front();
        const auto told = side.told.find(key);
        if (told == side.told.end()) return violate(fmt::format("{} is told nothing of {}", owners.at(i), key));
        const auto state = told->second.state;
        const auto found = zone.sets.find(MemoryZone::key_of(one));
        const auto owner = owner_of.find(MemoryZone::key_of(one));
        const bool there = found != zone.sets.end() && owner != owner_of.end() && owner->second == i &&
                           found->second.targets == one.targets && found->second.properties == one.properties;
        const bool right = unwelcome(one) ? state == State::failed || state == State::skipped
                                          : state == (there ? State::applied : State::skipped) ||
                                                (there && state == State::skipped);  // another wish of the same
        if (!right) {
            violate(fmt::format("{} is told {} {} of {}, {}", owners.at(i), told->second.reason, told->second.message,
                                spell(one), there ? "which is there" : "which is not there"));
        }
    }
}

// The last of its type at a name stays while what should take its place is refused.
bool PublishWorld::waits_for_unwelcome(std::size_t i, const dns::Endpoint& there) const {
    const auto name = plan::normal_name(there.dns_name);
    const auto& wishes = sides.at(i).wishes;
    const bool refused = std::any_of(wishes.begin(), wishes.end(), [&](const auto& wish) {
        const auto& one = wish.second.front();
        return unwelcome(one) && plan::normal_name(one.dns_name) == name &&
               (one.record_type == there.record_type || plan::exclude_each_other(one, there));
    });
    const auto wanted = wanted_by(i);
    return refused && std::none_of(wanted.begin(), wanted.end(), [&](const Key& key) {
               const auto owner = owner_of.find(key);
               return std::get<0>(key) == name && std::get<1>(key) == there.record_type && owner != owner_of.end() &&
                      owner->second == i;
           });
}

// Ownership records name exactly what is there.
void PublishWorld::check_ownership() {
    std::map<std::pair<std::string, std::string>, std::size_t> named, there;  // name, owner -> records
    auto options = sides[0].order.registry;
    options.zone = apex;
    const auto registry = plan::Registry::make(options, dice);
    std::vector<dns::Endpoint> listed;
    for (const auto& [key, endpoint] : zone.sets) listed.push_back(endpoint);
    const auto read = registry->read(listed);
    for (const auto& each : read.records()) {
        const auto key = MemoryZone::key_of(each);
        const auto owner = owner_of.find(key);
        const std::string truth = owner == owner_of.end() ? "" : owners.at(owner->second);
        if (plan::label_of(each, plan::owner_label) != truth) {
            violate(fmt::format("{} is {}'s, but ownership says \"{}\"", spell(each), truth.empty() ? "nobody" : truth,
                                plan::label_of(each, plan::owner_label)));
        }
        if (!truth.empty()) ++there[{std::get<0>(key), truth}];
    }
    for (const auto& each : read.ownership()) {
        for (const auto& target : each.targets) {
            const auto text = plan::parse_owner_text(target, {});
            if (!text) continue;
            for (const auto& name : registry->subjects(each)) named[{name, text->owner}] += text->records->size();
        }
    }
    if (named != there) violate("ownership names other records than there are");
}

void PublishWorld::check_rest() {
    check_foreign("at rest");
    for (std::size_t i = 0; i < owners.size(); ++i) {
        check_wishes(i);
        check_told(i);
    }
    for (const auto& [key, owner] : owner_of) {
        if (!wanted_by(owner).contains(key) && !waits_for_unwelcome(owner, zone.sets.at(key))) {
            violate(fmt::format("{} keeps {}, which he does not want", owners.at(owner), spell(zone.sets.at(key))));
        }
    }
    check_ownership();
    if (!report.violation) return;
    note("at rest:");
    for (const auto& [key, endpoint] : zone.sets) note("  " + spell(endpoint));
}

}  // namespace

PublishReport simulate_publishing(std::uint64_t seed) { return PublishWorld(seed).run(); }

}  // namespace fairlead::simulation
