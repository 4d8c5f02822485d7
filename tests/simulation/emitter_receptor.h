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
#include "simulation/emitter_knowledge.h"
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

    // `knowledge` hears what arrives there, and outlives the link.
    std::unique_ptr<emitter::ReceptorLink> link(const std::string& who, Knowledge& knowledge);
    // A record changed, which was the change of that number: those who listen hear of it, more or less.
    struct News {
        std::string record;
        std::uint64_t number = 0;
    };
    void tell(const std::string& name, const json::Object& data, const News& news);
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
        Knowledge* knowledge = nullptr;
        emitter::StreamEars ears;
    };
    class Call;
    class Link;
    // Of everything, which counts when all of its parts have come.
    struct Reading {
        std::size_t parts = 0;
        std::uint64_t processes = 0, instances = 0;  // the last changes that the parts show
        HiddenRecords hidden;
    };
    struct Question {
        std::string who, path;
        std::shared_ptr<bool> silenced;
        std::shared_ptr<Reading> reading;
        Knowledge* knowledge = nullptr;
        emitter::AnswerEars ears;
    };

    void get(const Question& question);
    [[nodiscard]] std::string answer(const Question& question) const;
    void send(const std::shared_ptr<Stream>& stream, const std::string& text, const News& news);

    const LrpTruth& truth_;
    Agenda& agenda_;
    const Clock& clock_;
    Dice& dice_;
    EmitterReport& report_;
    std::set<std::string> cut_;
    std::vector<std::shared_ptr<Stream>> streams_;
};

}  // namespace fairlead::simulation
