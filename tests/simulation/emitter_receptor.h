// A Receptor as emitters see it over a bad network: answers come late, the parts of a pass are of different times,
// reads fail; events come late, twice, in another order or not at all, and streams break. No replay, as Diego's. One
// thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "emitter/receptor_link.h"
#include "simulation/dice.h"
#include "simulation/emitter_truth.h"
#include "simulation/emitter_world.h"

namespace fairlead::simulation {

// Things that happen at their time, in the order that they were asked for.
class Agenda {
public:
    explicit Agenda(const Clock& clock) : clock_(clock) {}
    void in(std::chrono::nanoseconds time, std::function<void()> what) {
        tasks_.emplace(clock_.monotonic() + time, std::move(what));
    }
    // Does one that is due; false: none is.
    bool run_one();
    [[nodiscard]] std::optional<MonotonicTime> due() const;

private:
    const Clock& clock_;
    std::multimap<MonotonicTime, std::function<void()>> tasks_;
};

class SimReceptor {
public:
    SimReceptor(const LrpTruth& truth, Agenda& agenda, const Clock& clock, Dice& dice, EmitterReport& report)
        : truth_(truth), agenda_(agenda), clock_(clock), dice_(dice), report_(report) {}

    std::unique_ptr<emitter::ReceptorLink> link(const std::string& who);
    // Something changed: those who listen hear of it, more or less.
    void tell(const std::string& name, const json::Object& data);
    // Streams of one break; while it is cut, nothing is answered.
    void cut(const std::string& who, bool is);
    void break_streams(const std::string& who);

    bool faulty = true;
    unsigned loses = 0;  // events, of a thousand

private:
    struct Stream {
        std::string who;
        bool open = true;
        bool silenced = false;  // nobody listens any more
        int number = 0;
        MonotonicTime last;  // what was sent arrives after this, unless it is reordered
        emitter::StreamEars ears;
    };
    class Call;
    class Link;

    void get(const std::string& who, const std::string& path, const std::shared_ptr<bool>& silenced,
             const std::function<void(Result<std::string>)>& done);
    [[nodiscard]] std::string answer(const std::string& path) const;
    void send(const std::shared_ptr<Stream>& stream, const std::string& text);

    const LrpTruth& truth_;
    Agenda& agenda_;
    const Clock& clock_;
    Dice& dice_;
    EmitterReport& report_;
    std::set<std::string> cut_;
    std::vector<std::shared_ptr<Stream>> streams_;
};

}  // namespace fairlead::simulation
