// The source over a Receptor: carries what ReceptorSync asks for over a ReceptorLink, and hands it what comes. Used by
// Emitter.
//
// Threads: callbacks of the link read what comes of a pass, and fill the inbox; everything else on the caller's of
// step(). What the stream tells goes before what a pass has read, which is taken in for a fraction of a millisecond at
// a time: an event does not wait for a pass.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <variant>

#include "emitter/receptor_link.h"
#include "emitter/receptor_sync.h"
#include "emitter/source.h"

namespace fairlead::emitter {

class ReceptorSource final : public Source {
public:
    ReceptorSource(const ReceptorOptions& options, ReceptorLink& link, lrp::Book& book, const Clock& clock,
                   Random& random, Log& log, std::function<void()> wake);
    ~ReceptorSource() override;

    Step step() override;
    [[nodiscard]] bool complete() const override { return sync_.complete(); }
    [[nodiscard]] bool current() const override { return sync_.current(); }
    void confirm() override { sync_.confirm(clock_.monotonic()); }
    [[nodiscard]] bool confirmed() const override { return sync_.confirmed(); }
    [[nodiscard]] traffic::Certainty certainty() const override { return sync_.certainty(); }
    [[nodiscard]] std::string problem() const override { return sync_.problem(); }
    void resync() override { sync_.resync(clock_.monotonic()); }
    [[nodiscard]] SourceFigures figures() const override { return sync_.figures(); }

private:
    // Of the stream.
    struct Arrival {
        enum class Kind { opened, bytes, ended } kind = Kind::opened;
        std::uint64_t call = 0;
        Result<std::string> text = std::string();
    };
    // Of a pass: something that was read, or how a part of it ended.
    struct Reading {
        std::uint64_t call = 0;
        std::variant<lrp::Snapshot, Result<PartRead>> what;
    };
    struct Inbox;

    void take(const Arrival& arrival);
    void take(Reading reading);
    void start(const ReceptorAsk& ask);
    void start_stream(const ReceptorAsk& ask);

    ReceptorLink& link_;
    const Clock& clock_;
    ReceptorSync sync_;
    std::shared_ptr<Inbox> inbox_;
    std::map<std::uint64_t, std::unique_ptr<cluster::Call>> calls_;  // last: silenced before anything else goes
};

}  // namespace fairlead::emitter
