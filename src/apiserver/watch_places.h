// How many watches are open, in all and per user. Thread-safe; each watch holds its place, possibly longer than the API
// server lives.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/result.h"

namespace fairlead::apiserver {

class WatchPlaces {
public:
    WatchPlaces(std::size_t max_in_all, std::size_t max_per_user, Metrics& metrics);

    // Given back when the returned value goes. Error: too_large, with a text for the client.
    Result<std::shared_ptr<void>> take(std::string_view user);

private:
    struct Counts {
        std::mutex mutex;
        std::size_t in_all = 0;
        std::map<std::string, std::size_t, std::less<>> per_user;  // only those above 0
    };

    std::size_t max_in_all_, max_per_user_;
    Counter refused_all_, refused_user_;
    std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace fairlead::apiserver
