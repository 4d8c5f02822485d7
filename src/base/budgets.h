// How many requests an account may send: clouds count those of all of its clients together (Route 53 takes
// five in a second). One object per service and process, shared by all accounts. Thread-safe; nobody waits in here: who
// asks is told how long to.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "base/clock.h"

namespace fairlead {

class Budgets {
public:
    // Takes the next place for a request of the account, and says how long it is until then. In no second are there
    // more than `per_second` places; an account that was quiet gets them at once.
    std::chrono::nanoseconds reserve(const std::string& account, double per_second, MonotonicTime now);
    // After the service has said that there were too many: nobody of the account sends before `until`.
    void hold(const std::string& account, MonotonicTime until);

private:
    struct Account {
        std::deque<MonotonicTime> places;  // the last ones, as many as fit into one window
        MonotonicTime held{};
    };
    std::mutex mutex_;
    std::map<std::string, Account> accounts_;
};

}  // namespace fairlead
