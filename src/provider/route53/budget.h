// How many requests an account may send: Route 53 takes five in a second from all of its clients together. One object
// for the process, shared by the zones of all accounts. Thread-safe; nobody waits in here: who asks is told how long
// to.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "base/clock.h"

namespace fairlead::provider::route53 {

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

}  // namespace fairlead::provider::route53
