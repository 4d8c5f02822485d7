// Where the LRPs come from: keeps an lrp::Book in step. Implemented over our API (api_source.h) and over a Receptor
// (receptor_source.h); used by Emitter.
//
// Threads: one, that of step().
#pragma once

#include <cstdint>
#include <string>

#include "base/step_thread.h"
#include "traffic/certainty.h"

namespace fairlead::emitter {

// Since the start, for metrics.
struct SourceFigures {
    std::uint64_t passes = 0, failed_passes = 0;  // everything was read, or was to be
    std::uint64_t events = 0;
    double pass_seconds = 0;  // of the last pass
    bool operator==(const SourceFigures&) const = default;
};

class Source {
public:
    virtual ~Source() = default;
    // Takes in what has come, and asks for what is due.
    virtual Step step() = 0;
    // Everything has been read at least once.
    [[nodiscard]] virtual bool complete() const = 0;
    // The book says what is there, but for the time that news take: somebody tells us of changes now. Only then can
    // something be called gone.
    [[nodiscard]] virtual bool current() const = 0;
    // Asks for certainty: what was heard may lack what was lost on the way. False until everything has been read again
    // since; a source that loses nothing without a word is always sure.
    virtual void confirm() = 0;
    [[nodiscard]] virtual bool confirmed() const = 0;
    // Of one that is current: what it means that something is not in the book, though somebody else knew of it.
    [[nodiscard]] virtual traffic::Certainty certainty() const = 0;
    // Why something cannot be read now, for people; empty: all is well.
    [[nodiscard]] virtual std::string problem() const = 0;
    // Something came that only reading everything can explain.
    virtual void resync() = 0;
    [[nodiscard]] virtual SourceFigures figures() const = 0;
};

}  // namespace fairlead::emitter
