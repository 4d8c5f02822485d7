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
#include "proxy/gorouter/registrations.h"
#include "simulation/cluster_api.h"
#include "simulation/dice.h"
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
    void active(bool active) override;
    void withdraw(bool may) override;
    [[nodiscard]] proxy::gorouter::Figures emitted() const override { return registrations_.figures(); }

    void connected(bool is);
    void heard(const std::string& hello, bool start);
    // False: nothing was sent.
    bool step();
    [[nodiscard]] std::optional<MonotonicTime> due() const;

private:
    const Clock& clock_;
    Dice& dice_;
    const EmitterDefects& defects_;
    Publish publish_;
    proxy::gorouter::Registrations registrations_;
    traffic::RoutingTable table_;  // for the defects
    bool active_ = false, connected_ = false;
};

// One `fairlead emitter`.
class EmitterProcess {
public:
    struct Ways {
        std::unique_ptr<cluster::Link> api;
        std::unique_ptr<emitter::ReceptorLink> receptor;  // null: the API is the source
    };
    EmitterProcess(const std::string& name, Ways ways, std::unique_ptr<SimPublisher> publisher, const Clock& clock,
                   Dice& dice, Log& log);
    // True: there was something to do.
    bool step();
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    [[nodiscard]] SimPublisher& publisher() { return *publisher_; }
    [[nodiscard]] emitter::Duty duty() const { return emitter_->duty(); }

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
    std::unique_ptr<EmitterProcess> process;  // null: it is dead
    std::optional<MonotonicTime> starts, heals;
    bool connected = true;  // as it knows
    int born = 0;
    MonotonicTime last_sent{};  // messages of one arrive in their order
};

struct SimRouter {
    std::string id;
    fairlead::gorouter::RouterModel model{{}};
    MonotonicTime since{};  // its last start
    int starts = 0;
    std::set<LivePair> proven;  // lives that it has held when they were old enough
};

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
    void pass(std::chrono::nanoseconds time);
    void wake_up();
    void heal();
    void publish(const std::string& emitter, const proxy::gorouter::Message& message);
    void hello(SimRouter& router, bool start);
    void nats(bool up);
    void prune();
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
    void check_withdrawal(const std::string& emitter, const fairlead::gorouter::RouterMessage& message);
    void check_routers();
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
    SimReceptor receptor_;
    bool over_api_ = false, crashes_ = true;
    std::chrono::seconds lag_{0};  // how long news may take at most while all is well
    std::vector<SimEmitter> emitters_;
    std::vector<SimRouter> routers_;
    bool nats_up_ = true;
    MonotonicTime nats_since_{}, disturbed_{}, next_prune_{}, next_greeting_{};
    std::optional<MonotonicTime> nats_heals_;
    std::int64_t serial_ = 0;
    std::string last_leader_;
};

}  // namespace fairlead::simulation
