// What selectors ask of the last versions of objects, so that an event is parsed once and not once for every watch that
// looks at it. Used by watches and by the hub that wakes them. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "resource/selector.h"
#include "store/object.h"

namespace fairlead::apiserver {

class SelectableMemory {
public:
    // Some 500 bytes for a version of an object with few labels: the last 16,000, some seconds of a busy table.
    static constexpr std::size_t usual_bytes = 8UL * 1024 * 1024;
    explicit SelectableMemory(std::size_t max_bytes = usual_bytes) : max_bytes_(max_bytes) {}

    // Null: it cannot be read. `kind` outlives the memory.
    std::shared_ptr<const resource::Selectable> of(const resource::Kind& kind, const store::Object& object);

    // How many versions were parsed, for tests.
    [[nodiscard]] std::size_t parsed() const;

private:
    // One version of one object. A commit may write several, with the same revision.
    struct Version {
        const resource::Kind* kind = nullptr;
        store::Revision modified = 0;
        std::string_view name;
        bool operator==(const Version&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Version& version) const;
    };
    struct Entry {
        std::string name;
        std::shared_ptr<const resource::Selectable> selectable;
        std::size_t bytes = 0;
    };

    const std::size_t max_bytes_;
    mutable std::mutex mutex_;
    std::unordered_map<Version, std::unique_ptr<Entry>, Hash> entries_;  // their keys' names are in the entries
    std::deque<Version> order_;                                          // the oldest first
    std::size_t bytes_ = 0, parsed_ = 0;
};

}  // namespace fairlead::apiserver
