// The emitter: from LRPs as a Source tells of them, through lrp::Book and lrp::Front, to the publisher that keeps
// routers on NATS in step. It goes on emitting what it knows while the source is away. Used by `fairlead emitter`.
//
// Nothing is emitted before everything was read once: half a table would withdraw nothing, but say of a standby that
// it can take over, and who leads would keep one that knows everything from saying so; until then it does not stand for
// election either. What is gone is only said by one that leads and whose source is current.
//
// Threads: step() on one (a StepThread, or the simulator's); the rest from any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "emitter/fwd.h"
#include "lrp/fwd.h"
#include "proxy/gorouter/driver.h"

namespace fairlead::emitter {

struct EmitterParts {
    Source& source;
    lrp::Book& book;  // the source's
    proxy::gorouter::Publisher& publisher;
    Elector* elector = nullptr;  // null: this one is the active one
    // By which we know what emitters before us have registered, with the same source; empty: by the lease, if there is
    // one, else not at all.
    std::string mark{};
    const Clock& clock;
    Log& log;
    Metrics& metrics;
};

// What it does now.
enum class Duty {
    waits,      // it has not read everything yet
    standby,    // follows, and says nothing
    registers,  // says what lives, and of nothing that it is gone
    settles,    // another leads, and may not know of what has gone since the one before: withdraws that, and no more
    leads,
};
std::string_view name_of(Duty duty);

class Emitter {
public:
    explicit Emitter(const EmitterParts& parts);
    ~Emitter();
    Emitter(const Emitter&) = delete;
    Emitter& operator=(const Emitter&) = delete;

    Step step();

    [[nodiscard]] Duty duty() const;
    // It has read everything, and reaches NATS.
    [[nodiscard]] bool ready() const;
    // What is in the way, for people; empty: nothing.
    [[nodiscard]] std::string problem() const;
    // Gives the lease back, if there is one, in the steps that follow. True: it is done.
    bool leave();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::emitter
