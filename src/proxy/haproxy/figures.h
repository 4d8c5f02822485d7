// Figures of pools from HAProxy's counters, which belong to backends and begin again with each worker: what grew since
// the last look is the pool's that has (or had a moment ago) the backend. Pure; used by the driver's thread alone.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "proxy/driver.h"
#include "proxy/haproxy/book.h"

namespace fairlead::proxy::haproxy {

class Figures {
public:
    // `csv` is the answer of `show stat`, of the worker with this process id. Often enough that a backend is not given
    // to another pool between two looks.
    void take(std::string_view csv, int pid, const Book& book);
    [[nodiscard]] const std::map<std::string, PoolFigures>& pools() const { return pools_; }

private:
    int pid_ = 0;
    std::map<std::string, PoolFigures> backends_;  // as they were at the last look
    std::map<std::string, PoolFigures> pools_;
};

// By backend. Lines that are no pool's are left out.
std::map<std::string, PoolFigures> parse_statistics(std::string_view csv);

}  // namespace fairlead::proxy::haproxy
