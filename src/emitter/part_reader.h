// What a part of a pass over a Receptor says, from its bytes as they come: LRPs and names of domains. Pure; used by
// ReceptorSource, on the thread that the bytes come from, so that following events does not wait for JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "emitter/elements.h"
#include "lrp/book.h"

namespace fairlead::emitter {

enum class ReceptorPart { desired, actual, domains };

// How the reading of a part went.
struct PartRead {
    std::size_t unreadable = 0;  // records that are left out; the others count
    std::string first{};         // what is wrong with the first of them
};

class PartReader {
public:
    explicit PartReader(ReceptorPart part);

    // What these bytes complete. Errors: it is no list.
    Result<lrp::Snapshot> add(std::string_view bytes);
    // After the last byte. Errors: it ended in the middle, or an add() had failed.
    Result<PartRead> end() const;

private:
    Result<void> take(std::string_view element, lrp::Snapshot& into) const;

    ReceptorPart part_;
    Elements elements_;
    PartRead read_;
    Result<void> state_;
};

}  // namespace fairlead::emitter
