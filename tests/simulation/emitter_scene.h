// The parts of emitter_world.h's world: emitters, routers and NATS between them. What users do is in emitter_users.cpp,
// what must hold in emitter_checks.cpp. Private to those. One thread.
#pragma once

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "emitter/elector.h"
#include "emitter/emitter.h"
#include "emitter/source.h"
#include "gorouter/router_model.h"
#include "lrp/book.h"
#include "proxy/gorouter/leftovers.h"
#include "proxy/gorouter/registrations.h"
#include "simulation/cluster_api.h"
#include "simulation/dice.h"
#include "simulation/emitter_knowledge.h"
#include "simulation/emitter_receptor.h"
#include "simulation/emitter_truth.h"
#include "simulation/emitter_world.h"
#include "simulation/sim_link.h"

namespace fairlead::simulation {

// The publisher of an emitter without libnats: the same Registrations, in the same order of things as the driver's.
class SimPublisher final : public proxy::gorouter::Publisher {
public:
    using Publish = std::function<void(const proxy::gorouter::Message&)>;
    SimPublisher(const Clock& clock, Dice& dice, const EmitterDefects& defects, Publish publish);
    void reset(traffic::RoutingTable table, std::uint64_t version) override;
    void change(traffic::TableDiff change, std::uint64_t version) override;
    [[nodiscard]] proxy::Progress progress() const override;
    [[nodiscard]] std::map<std::string, proxy::PoolFigures> figures() const override { return {}; }
    void on_progress(std::function<void()>) override {}
    void stop_proxy_at_end() override {}
    void active(proxy::gorouter::Activity activity) override;
    void withdraw(bool may) override;
    void mark(std::string mark) override;
    void certain(std::optional<traffic::Certainty> certainty) override;
    [[nodiscard]] proxy::gorouter::Figures emitted() const override { return registrations_.figures(); }

    void connected(bool is);
    void heard(const std::string& hello, bool start);
    // A router's /routes has come. How many pairs that others have left there are withdrawn.
    std::size_t audit(const std::string& router, std::string routes);
    // False: nothing was sent.
    bool step();
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    // Whether its table has ever led there.
    [[nodiscard]] bool had(const LivePair& pair) const { return had_.contains(pair); }

private:
    void take_note(const std::string& pool);

    const Clock& clock_;
    Dice& dice_;
    const EmitterDefects& defects_;
    Publish publish_;
    proxy::gorouter::Registrations registrations_;
    std::optional<traffic::Certainty> certainty_;
    proxy::gorouter::Leftovers leftovers_;
    traffic::RoutingTable table_;
    std::set<LivePair> had_;
    proxy::gorouter::Activity active_ = proxy::gorouter::Activity::none;
    bool connected_ = false;
};

// One `fairlead emitter`.
class EmitterProcess {
public:
    struct Ways {
        std::unique_ptr<cluster::Link> api, lease;
        std::unique_ptr<emitter::ReceptorLink> receptor;  // null: the API is the source
    };
    EmitterProcess(const emitter::ElectorOptions& election, Ways ways, std::unique_ptr<SimPublisher> publisher,
                   const Clock& clock, Dice& dice, Log& log, const EmitterDefects& defects);
    // True: there was something to do.
    bool step();
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    [[nodiscard]] SimPublisher& publisher() { return *publisher_; }
    [[nodiscard]] emitter::Duty duty() const { return emitter_->duty(); }
    [[nodiscard]] bool leads() const { return elector_.standing() == emitter::Standing::leads; }
    [[nodiscard]] bool holds() const { return elector_.holder() == elector_.options().identity; }  // or offers
    [[nodiscard]] bool in_step() const { return source_->current(); }

private:
    const Clock& clock_;
    Metrics metrics_;
    Ways ways_;
    lrp::Book book_;
    std::unique_ptr<SimPublisher> publisher_;
    bool woken_ = true;
    std::optional<MonotonicTime> due_;
    std::unique_ptr<emitter::Source> source_;
    emitter::Elector elector_;
    std::unique_ptr<emitter::Emitter> emitter_;  // last: it holds the others
};

struct SimEmitter {
    std::string name;
    std::unique_ptr<Knowledge> knowledge;     // of the process
    std::unique_ptr<EmitterProcess> process;  // null: it is dead
    std::optional<MonotonicTime> starts, heals;
    MonotonicTime audits{};  // when it asks routers next what they hold
    bool cut_source = false, cut_lease = false;
    std::optional<MonotonicTime> in_step;                                // since when it could lead as one should
    std::optional<MonotonicTime> leads;                                  // since when it does, and nobody else did
    [[nodiscard]] std::string lease() const { return name + "/lease"; }  // the way there
    bool connected = true;                                               // as it knows
    int born = 0;
    MonotonicTime last_sent{};  // messages of one arrive in their order
};

struct SimRouter {
    std::string id;
    fairlead::gorouter::RouterModel model{{}};
    int starts = 0;
    std::map<LivePair, MonotonicTime> missing;  // that live, and since when somebody owes them
    std::array<std::uint64_t, 4> seen{};        // when that was last looked for
};

// Endpoints of others at a name of ours, in every router: without a mark, and with that of another lease.
inline const std::set<LivePair> foreign_pairs{{"shared.com", "10.9.9.8:443"}, {"shared.com", "10.9.9.9:443"}};

class EmitterWorld {
public:
    EmitterWorld(std::uint64_t seed, EmitterSurroundings& around, const EmitterDefects& defects);
    EmitterReport run();

private:
    void violate(std::string what) {
        if (!report_.violation) report_.violation = std::move(what);
    }
    void note(std::string_view line) {
        const auto seconds = std::chrono::duration<double>(clock_.monotonic().time_since_epoch()).count();
        report_.trace += fmt::format("{:9.3f} {}\n", seconds, line);
    }
    // emitter_world.cpp
    void start(SimEmitter& emitter);
    void settle();
    void note_leader();
    void pass(std::chrono::nanoseconds time);
    void wake_up();
    void heal();
    void publish(const std::string& emitter, const proxy::gorouter::Message& message);
    void hello(SimRouter& router, bool start);
    void nats(bool up);
    void cut(SimEmitter& emitter, Network::Cut how, bool source, bool lease);
    void prune();
    void audit(SimEmitter& emitter);
    void tell_foreign(SimRouter& router);
    // emitter_users.cpp
    void act();
    void disturb();
    void make_process(const std::string& guid);
    void change_process(TrueProcess& process);
    void remove_process(const std::string& guid);
    void start_instance(const std::string& guid, std::int32_t index);
    void stop_instance(const InstanceKey& key);
    void evacuate(const InstanceKey& key);
    void place(TrueInstance& instance);
    void put(const TrueProcess& process, const TrueProcess* before);
    void put(const TrueInstance& instance, const TrueInstance* before);
    void take_away(const TrueProcess& process);
    void take_away(const TrueInstance& instance);
    void changed() {
        truth_.settle(clock_.monotonic());
        for (const auto& emitter : emitters_) network_.changed(emitter.name);
    }
    void send(std::string_view method, const std::string& path, const json::Value& body);
    [[nodiscard]] std::vector<TrueRoute> some_routes(const std::string& guid);
    // emitter_checks.cpp
    void check_withdrawal(const SimEmitter& emitter, const fairlead::gorouter::RouterMessage& message);
    [[nodiscard]] bool owed(const Life& life) const;
    void check_routers();
    void check_leader();
    void check_end();

    const EmitterDefects& defects_;
    ManualClock clock_;
    Dice dice_;
    EmitterSurroundings& around_;
    EmitterReport report_;
    Agenda agenda_;
    LrpTruth truth_;
    ClusterApi api_;
    Network network_;
    Revisions revisions_;
    SimReceptor receptor_;
    Dice audit_dice_;  // of its own: what audits do changes little else of a seed
    bool audited_ = true;
    bool over_api_ = false, crashes_ = true;
    std::chrono::seconds blind_{0};  // how long one that is in step may not know of something, at most
    std::vector<SimEmitter> emitters_;
    std::vector<SimRouter> routers_;
    bool nats_up_ = true;
    MonotonicTime led_{}, next_prune_{}, next_greeting_{};  // led_: when somebody who is in step led last
    std::optional<MonotonicTime> nats_heals_;
    std::int64_t serial_ = 0;
    std::map<std::string, std::vector<TrueRoute>> earlier_;  // of processes
};

}  // namespace fairlead::simulation
