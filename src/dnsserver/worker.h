// What every loop has of its own: readers of zones and places, an Answerer, a Tally. A loop pins, answers what it has,
// and unpins before it waits for anything.
//
// Threads: one. Makers of workers outlive them with all that `WorkerParts` names.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "dnsserver/answer.h"
#include "dnsserver/message_source.h"
#include "dnsserver/places.h"
#include "dnsserver/tally.h"
#include "dnsserver/zone_set.h"

namespace fairlead::dnsserver {

struct WorkerParts {
    Published<Snapshot>& zones;
    Places& places;
    const AnswerSettings& settings;
    const AnswerSpecial& special;  // empty: such packets get no answer
    FastRandom random;
    Tally& tally;
};

class Worker {
public:
    explicit Worker(const WorkerParts& parts)
        : zones_(parts.zones),
          places_(parts.places),
          special_(parts.special),
          tally_(parts.tally),
          answerer_(parts.settings, parts.random, parts.tally) {}

    void pin() {
        snapshot_ = &zones_.pin();
        table_ = places_.pin().get();
    }
    void unpin() {
        zones_.unpin();
        places_.unpin();
    }
    // While pinned.
    Reply answer(std::string_view packet, const Asker& asker, std::span<char> out) {
        return answerer_.answer(*snapshot_, table_, packet, asker, out);
    }
    // Pinned or not; may allocate.
    [[nodiscard]] std::unique_ptr<MessageSource> special(std::string_view packet, const Asker& asker) const {
        auto source = special_ ? special_(packet, asker) : nullptr;
        if (!source) tally_.ignored.add();
        return source;
    }

private:
    ZoneSet::Reader zones_;
    Places::Reader places_;
    const Snapshot* snapshot_ = nullptr;
    const geo::Table* table_ = nullptr;
    const AnswerSpecial& special_;
    Tally& tally_;
    Answerer answerer_;
};

}  // namespace fairlead::dnsserver
