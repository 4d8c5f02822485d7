// What an emitter was told of processes and instances, whatever it made of that: by events, by passes that came to
// their end, by lists and watches. Every change of a record has a number, the same for all emitters. Private to the
// world of emitters. Pure, one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster/link.h"
#include "simulation/emitter_truth.h"

namespace fairlead::simulation {

// Records that are behind others: what a pass shows is the same whether they are there or not.
struct HiddenRecords {
    std::set<std::string> there, gone;
};

class Knowledge {
public:
    // An event of this record has come.
    void told(const std::string& record, std::uint64_t number);
    // All records of a kind, as they were after this change. Of some it cannot be seen whether they are there still:
    // what was known of those counts on for so many passes as an emitter remembers it.
    void read(RecordKind kind, std::uint64_t number, const HiddenRecords& hidden = {});

    // Since when it has not known how the record is now; nothing: it knows; the end of time: it cannot, as it is not
    // shown.
    [[nodiscard]] std::optional<MonotonicTime> lacks(const Record& record) const;
    // The same of whether the pair lives: of all that could speak against it, through the owner that it knows best.
    [[nodiscard]] std::optional<MonotonicTime> lacks(const LrpTruth& truth, const Life& life) const;

private:
    struct Hidden {
        std::uint64_t shown = 0;  // what was read last before
        int passes = 0;           // since an event spoke of it
        bool now = false, gone = false;
    };

    std::map<std::string, std::uint64_t> told_;
    std::map<RecordKind, std::uint64_t> read_;
    std::map<std::string, Hidden> hidden_;
};

// Which revision of the API a change was.
class Revisions {
public:
    void add(std::uint64_t revision, std::uint64_t number) { numbers_[revision] = number; }
    // The last change up to this revision.
    [[nodiscard]] std::uint64_t number(std::uint64_t revision) const;

private:
    std::map<std::uint64_t, std::uint64_t> numbers_;
};

// The same way to the API, of which `knowledge` hears what arrives. All of them outlive it.
std::unique_ptr<cluster::Link> listen_in(std::unique_ptr<cluster::Link> link, Knowledge& knowledge,
                                         const Revisions& revisions);

}  // namespace fairlead::simulation
