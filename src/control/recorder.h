// Tells people what happened to an object, as core/v1 Events. The same thing again raises the count of the event that
// is there; many similar things become one; an object that has too much to say is cut short. Recording never blocks and
// never fails a reconciler: events wait in a bounded queue, and one that cannot be written is counted.
//
// Used on the manager's thread; Manager writes them between reconciliations.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/metrics.h"
#include "control/client.h"
#include "control/spam_filter.h"
#include "resource/kinds/event.h"

namespace fairlead::control {

enum class EventType { normal, warning };

struct RecorderLimits {
    std::size_t queued = 1'000;  // about 1 KiB each
    int attempts = 12;           // as client-go
    SpamLimits spam;
};

class EventSink {
public:
    EventSink(Client client, const resource::Kind& events, const Clock& clock, Random& random, Metrics& metrics,
              RecorderLimits limits = {});

    void add(const resource::ObjectReference& about, std::string_view component, EventType type,
             std::string_view reason, std::string_view message);

    // Some are written, if there are any: new ones together, so that they wait for the disk once.
    [[nodiscard]] bool ready() const;
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    void flush();
    [[nodiscard]] std::size_t queued() const { return queue_.size(); }

private:
    // One that is there already is counted up; nothing: it is not.
    std::optional<Result<void>> count_up(const Sighting& sighting);
    [[nodiscard]] Request creation(const Sighting& sighting);
    // True: it is done with, written or not.
    bool conclude(Sighting& sighting, const Result<void>& result);
    void create_some();
    std::string unique_name(const Sighting& sighting);

    Client client_;
    const resource::Kind& kind_;
    const Clock& clock_;
    Random& random_;
    RecorderLimits limits_;
    SpamFilter filter_;
    std::deque<Sighting> queue_;
    Backoff backoff_{.base = std::chrono::milliseconds(500), .cap = std::chrono::seconds(10)};
    int failures_ = 0;
    MonotonicTime retry_at_;
    std::int64_t last_stamp_ = 0;
    Counter written_, dropped_, failed_;
};

// What one controller holds.
class EventRecorder {
public:
    EventRecorder(EventSink& sink, std::string component) : sink_(sink), component_(std::move(component)) {}
    void normal(const json::Value& object, std::string_view reason, std::string_view message);
    void warning(const json::Value& object, std::string_view reason, std::string_view message);
    // For objects that are at hand as structs only.
    void record(const resource::ObjectReference& about, EventType type, std::string_view reason,
                std::string_view message);

private:
    EventSink& sink_;
    std::string component_;
};

resource::ObjectReference reference_to(const json::Value& object);
resource::ObjectReference reference_to(const resource::Kind& kind, const resource::ObjectMeta& metadata);

}  // namespace fairlead::control
