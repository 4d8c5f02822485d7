#include "simulation/emitter_world.h"

#include <algorithm>

#include "simulation/emitter_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

constexpr auto between_prunes = 30s;
constexpr auto between_greetings = 10s;
constexpr auto between_audits = 60s;
// Two passes, a round of everything, and what is pruned: 120 s after its last registration, looked at every 30 s.
constexpr auto calm = 420s;
constexpr std::size_t max_rounds = 100'000;

}  // namespace

EmitterWorld::EmitterWorld(std::uint64_t seed, EmitterSurroundings& around, const EmitterDefects& defects)
    : defects_(defects),
      dice_(seed),
      around_(around),
      agenda_(clock_),
      api_(around.kinds, clock_, dice_, dice_.chance(300) ? 100 : 10'000),
      network_(clock_, dice_),
      receptor_(truth_, agenda_, clock_, dice_, report_),
      audit_dice_(~seed) {
    report_.seed = seed;
    // Where nobody looks, only who knows what was there can say that it is gone.
    audited_ = audit_dice_.chance(700);
    over_api_ = dice_.chance(400);
    crashes_ = dice_.chance(750);
    if (!over_api_ && dice_.chance(700)) receptor_.loses = dice_.chance(500) ? 60 : 300;
    // A watch that says nothing is believed for 25 s. An event that was lost is found by the next pass, 60 s after the
    // one before and the 60 s that this one may take.
    blind_ = over_api_ ? 28s : receptor_.loses > 0 ? 122s : 1s;
    for (const auto* space : {"kube-system", "diego"}) {
        send("POST", "/api/v1/namespaces",
             json::Object{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::Object{{"name", space}}}});
    }
    routers_.resize(2);
    for (std::size_t i = 0; i < routers_.size(); ++i) {
        routers_[i].id = fmt::format("{}", i);
        routers_[i].model = fairlead::gorouter::RouterModel({.suspends_pruning = dice_.chance(500)});
        tell_foreign(routers_[i]);
    }
    for (const auto* name : {"emitter-a", "emitter-b"}) {
        SimEmitter emitter;
        emitter.name = name;
        network_.add(emitter.name, api_);
        network_.add(emitter.lease(), api_);
        emitters_.push_back(std::move(emitter));
    }
    for (const auto* guid : {"p1", "p2", "p3"}) make_process(guid);
    for (auto& emitter : emitters_) start(emitter);
}

EmitterReport EmitterWorld::run() {
    pass(std::chrono::seconds(dice_.between(5, 40)));
    const auto actions = dice_.between(10, 60);
    for (std::size_t i = 0; i < actions && !report_.violation; ++i) {
        ++report_.actions;
        dice_.chance(250) ? disturb() : act();
        const auto most = dice_.chance(100) ? 90'000U : dice_.chance(300) ? 10'000U : 1'000U;
        pass(std::chrono::milliseconds(dice_.below(most)));
    }
    heal();
    pass(calm);
    if (!report_.violation) check_end();
    return std::move(report_);
}

void EmitterWorld::start(SimEmitter& emitter) {
    emitter.starts.reset();
    emitter.audits = clock_.monotonic() + between_audits;
    emitter.connected = nats_up_;
    auto publisher = std::make_unique<SimPublisher>(
        clock_, dice_, defects_, [this, name = emitter.name](const auto& message) { publish(name, message); });
    publisher->connected(nats_up_);
    emitter.knowledge = std::make_unique<Knowledge>();
    emitter.leads.reset();
    EmitterProcess::Ways ways;
    ways.api = listen_in(network_.link(emitter.name), *emitter.knowledge, revisions_);
    ways.lease = network_.link(emitter.lease());
    if (!over_api_) ways.receptor = receptor_.link(emitter.name, *emitter.knowledge);
    emitter::ElectorOptions election{.identity = fmt::format("{}-{}", emitter.name, ++emitter.born)};
    if (defects_.keep_lease) election.patience = 24h;
    emitter.process = std::make_unique<EmitterProcess>(election, std::move(ways), std::move(publisher), clock_, dice_,
                                                       around_.log, defects_);
}

// Each router gets what one emitter sends in its order; of two emitters nothing is said.
void EmitterWorld::publish(const std::string& emitter, const proxy::gorouter::Message& message) {
    const auto read = fairlead::gorouter::read_message(message.body);
    if (!read) return violate(fmt::format("routers cannot read {}", message.body));
    const bool withdrawal = message.subject.ends_with(".unregister");
    (withdrawal ? report_.withdrawn : report_.registered) += read->uris.size();
    const auto from =
        std::find_if(emitters_.begin(), emitters_.end(), [&emitter](const auto& each) { return each.name == emitter; });
    note_leader();  // it may have come to lead just now
    if (withdrawal) check_withdrawal(*from, *read);
    if (!nats_up_) return;  // nobody knows it yet
    const auto now = clock_.monotonic();
    from->last_sent = std::max(from->last_sent, now + std::chrono::microseconds(dice_.between(200, 20'000)));
    agenda_.in(from->last_sent - now, [this, subject = std::string(message.subject), body = message.body] {
        for (auto& router : routers_) router.model.message(subject, body, clock_.monotonic());
    });
}

void EmitterWorld::hello(SimRouter& router, bool start) {
    if (!nats_up_) return;
    const auto text = router.model.hello(fmt::format("{}-{}", router.id, router.starts));
    for (auto& emitter : emitters_) {
        if (emitter.process && emitter.connected) emitter.process->publisher().heard(text, start);
    }
}

void EmitterWorld::nats(bool up) {
    note(up ? "NATS is back" : "NATS is away");
    nats_up_ = up;
    if (up) {
        for (auto& router : routers_) hello(router, true);
    }
    for (auto& emitter : emitters_) {
        // Until two pings are unanswered, what is sent is lost without a word; those who know come back in a while.
        const auto notices = std::chrono::milliseconds(up ? dice_.below(5'000) : dice_.below(10'000));
        agenda_.in(notices, [this, &emitter, up] {
            if (nats_up_ != up) return;
            emitter.connected = up;
            if (emitter.process) emitter.process->publisher().connected(up);
            if (!up || !emitter.process) return;
            for (auto& router : routers_) hello(router, false);
        });
    }
}

void EmitterWorld::prune() {
    next_prune_ = clock_.monotonic() + between_prunes;
    for (auto& router : routers_) router.model.prune(clock_.monotonic(), nats_up_);
}

void EmitterWorld::tell_foreign(SimRouter& router) {
    for (const auto& [name, address] : foreign_pairs) {
        const auto host = address.substr(0, address.find(':'));
        const auto* const mark =
            host.ends_with('9') ? R"("fairlead":"another/apps")" : R"("component":"route-emitter")";
        router.model.message(
            "router.register",
            fmt::format(R"({{"host":"{}","port":80,"tls_port":443,"uris":["{}"],"tags":{{{}}}}})", host, name, mark),
            clock_.monotonic());
    }
}

// What a router answers is from when it was asked, and comes later.
void EmitterWorld::audit(SimEmitter& emitter) {
    emitter.audits = clock_.monotonic() + between_audits;
    for (const auto& router : routers_) {
        agenda_.in(std::chrono::milliseconds(audit_dice_.between(1, 2'000)),
                   [this, &emitter, born = emitter.born, id = router.id, routes = router.model.routes()] {
                       if (!emitter.process || emitter.born != born) return;
                       report_.leftovers += emitter.process->publisher().audit(id, routes);
                   });
    }
}

void EmitterWorld::note_leader() {
    for (auto& emitter : emitters_) {
        if (!emitter.process || !emitter.process->leads() || emitter.leads) continue;
        note(emitter.name + " leads");
        for (auto& other : emitters_) {
            if (std::exchange(other.leads, std::nullopt)) ++report_.failovers;
        }
        emitter.leads = clock_.monotonic();
    }
}

void EmitterWorld::settle() {
    for (std::size_t round = 0; round < max_rounds && !report_.violation; ++round) {
        const auto before = api_.store().revision();
        network_.pump();
        bool more = agenda_.run_one();
        for (auto& emitter : emitters_) {
            if (emitter.process) more = emitter.process->step() || more;
        }
        note_leader();
        if (api_.store().revision() != before) {
            more = true;
            for (const auto& emitter : emitters_) network_.changed(emitter.name);
        }
        const auto due = network_.due();
        if (more || (due && *due <= clock_.monotonic())) continue;
        check_routers();
        return check_leader();
    }
    violate("they never come to rest");
}

void EmitterWorld::wake_up() {
    const auto now = clock_.monotonic();
    if (now >= next_prune_) prune();
    if (now >= next_greeting_) {
        next_greeting_ = now + between_greetings;
        for (auto& router : routers_) hello(router, false);
    }
    if (nats_heals_ && now >= *nats_heals_) {
        nats_heals_.reset();
        nats(true);
    }
    for (auto& emitter : emitters_) {
        if (emitter.starts && *emitter.starts <= now) {
            note(emitter.name + " starts");
            start(emitter);
        }
        if (emitter.heals && *emitter.heals <= now) {
            note(emitter.name + " reaches everything again");
            cut(emitter, Network::Cut::none, true, true);
        }
        if (audited_ && !defects_.no_audit && emitter.process && emitter.audits <= now) audit(emitter);
    }
}

void EmitterWorld::cut(SimEmitter& emitter, Network::Cut how, bool source, bool lease) {
    const bool is = how != Network::Cut::none;
    if (!is) emitter.heals.reset();
    if (source) {
        network_.cut(emitter.name, how);
        receptor_.cut(emitter.name, is);
        emitter.cut_source = is;
    }
    if (lease) {
        network_.cut(emitter.lease(), how);
        emitter.cut_lease = is;
    }
}

void EmitterWorld::pass(std::chrono::nanoseconds time) {
    const auto end = clock_.monotonic() + time;
    while (!report_.violation) {
        settle();
        const auto now = clock_.monotonic();
        if (now >= end) return;
        auto next = end;
        const auto at_most = [&](const std::optional<MonotonicTime>& due) {
            if (due) next = std::min(next, std::max(*due, now + 1ms));
        };
        at_most(agenda_.due());
        at_most(network_.due());
        at_most(next_prune_);
        at_most(next_greeting_);
        at_most(nats_heals_);
        for (const auto& emitter : emitters_) {
            at_most(emitter.starts);
            at_most(emitter.heals);
            if (emitter.process) at_most(emitter.process->due());
            if (emitter.process && audited_ && !defects_.no_audit) at_most(emitter.audits);
        }
        clock_.advance(next - now);
        wake_up();
    }
}

void EmitterWorld::heal() {
    note("all heals");
    network_.faulty = receptor_.faulty = false;
    if (!nats_up_) {
        nats_heals_.reset();
        nats(true);
    }
    for (auto& emitter : emitters_) {
        cut(emitter, Network::Cut::none, true, true);
        if (!emitter.process) start(emitter);
    }
}

EmitterReport simulate_emitters(std::uint64_t seed, EmitterSurroundings& around, const EmitterDefects& defects) {
    return EmitterWorld(seed, around, defects).run();
}

}  // namespace fairlead::simulation
