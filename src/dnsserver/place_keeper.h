// Keeps the geo table that workers read in step with its file: loads it at start, notices when the file is replaced or
// rewritten, and publishes the new table under the workers. A file that cannot be read leaves the old table in force.
//
// Threads: everything here belongs to the one thread that maintains the process; loading blocks it for a second or two.
// Workers read through published().
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "dnsserver/places.h"
#include "geo/table.h"

namespace fairlead::dnsserver {

struct PlaceOptions {
    std::filesystem::path file;  // empty: none
    std::vector<geo::Override> overrides;
};

class PlaceKeeper {
public:
    // Errors: those of geo::Table::load.
    static Result<std::unique_ptr<PlaceKeeper>> start(PlaceOptions options, const Clock& clock, Log& log,
                                                      Metrics& metrics);

    // Holds null if there is neither a file nor an override.
    Places& published() { return places_; }

    // To be called every few seconds: loads the file if it has changed and then stood still since the last call, so
    // that a file that is being written is not read half.
    void check();
    // Loads it in any case.
    void reload();

private:
    struct Figures {
        explicit Figures(Metrics& metrics);
        Gauge networks4, networks6, places, seconds, success, loaded_at;
        Counter loads, failures;
    };
    PlaceKeeper(PlaceOptions options, const Clock& clock, Log& log, Metrics& metrics);
    Result<std::shared_ptr<const geo::Table>> load();
    void load_and_publish();

    PlaceOptions options_;
    const Clock& clock_;
    Log& log_;
    Figures figures_;
    Places places_;
    std::string tried_;    // the stamp of the file that was loaded last, well or not
    std::string pending_;  // the stamp at the last look
};

}  // namespace fairlead::dnsserver
