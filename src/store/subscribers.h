// Who wants to be woken after changes of one table. Any thread subscribes and unsubscribes; the writer wakes.
// A wake-up may end its own subscription, and subscribe; it must not wait for another thread that ends one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "store/store.h"

namespace fairlead::store {

class Subscribers {
public:
    // `self` is kept by the subscription, which may outlive the store.
    static std::unique_ptr<Subscription> subscribe(std::shared_ptr<Subscribers> self, std::function<void()> wake);
    void wake_all();

private:
    class Handle;
    struct Entry {
        std::recursive_mutex running;  // recursive, so that a wake-up may end its own subscription
        bool ended = false;
        std::function<void()> wake;
    };
    using Entries = std::vector<std::shared_ptr<Entry>>;

    std::mutex mutex_;
    std::uint64_t next_id_ = 0;
    std::map<std::uint64_t, std::shared_ptr<Entry>> entries_;
    std::shared_ptr<const Entries> in_order_;  // made when waking after a change, so that subscribing stays cheap
};

}  // namespace fairlead::store
