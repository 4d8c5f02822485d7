// Following a collection: watch from a revision, reconnect when the stream ends, list again when the revision is too
// old (410). Used by `get -w`, `watch`, `wait` and `delete --wait`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/api.h"

namespace fairlead::cli {

struct FollowOptions {
    std::string path;
    Query query;  // selectors
    std::string_view accept = accept_json;
    std::string revision;                   // of the list that came before; empty = list first
    std::optional<MonotonicTime> deadline;  // nothing = for ever
};

struct Follower {
    // Both return whether to go on.
    std::function<bool(const json::Value& event)> on_event;  // ADDED, MODIFIED, DELETED
    std::function<bool(const json::Value& list)> on_list;    // the state anew: events may have been missed
};

// True: a callback said enough. False: the deadline passed. Connection losses are retried with growing pauses; the last
// failure comes back when it lasts too long.
Answer<bool> follow(Api& api, FollowOptions options, const Follower& follower);

// metadata.resourceVersion of an object, a list, or a Table (of its first row if it says none).
std::string revision_of(const json::Value& object);

}  // namespace fairlead::cli
