// How an agent follows our own API; shared by Source and LrpSource.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "cluster/list_watch.h"

namespace fairlead::router {

inline constexpr std::size_t max_objects = 1'000'000;  // of one kind; a Service takes some 500 bytes here

// Our own API is near, and everything waits for it.
inline cluster::FollowerOptions follower_options() {
    cluster::FollowerOptions options;
    options.max_objects = max_objects;
    options.arrivals_per_step = 256;
    options.backoff = {.base = std::chrono::milliseconds(100), .cap = std::chrono::seconds(2)};
    return options;
}

inline cluster::Topic topic_of(const resource::Kind& kind, std::string query = {}) {
    auto topic = cluster::topic_of(kind);
    topic.query = std::move(query);
    return topic;
}

// What comes first counts.
inline void sooner(Step& step, const Step& other) {
    step.more = step.more || other.more;
    if (other.due && (!step.due || *other.due < *step.due)) step.due = other.due;
}

}  // namespace fairlead::router
