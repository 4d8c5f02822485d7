// Follows one kind of another cluster: lists it page by page, watches from there, resumes watches that the server ends,
// lists again on 410 and after failures, with backoff. A state machine without threads of its own; used by Follower.
//
// A watch that is quiet looks like one whose server has died. So each is asked for a short time only: the server ends
// it, which is a sign of life, and one that says nothing past that time has failed.
//
// Threads: callbacks of the link only fill the inbox; everything else on the caller's of step().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "cluster/link.h"
#include "json/value.h"
#include "resource/kind.h"

namespace fairlead::cluster {

struct FollowerOptions {
    std::size_t page = 500;                        // objects per list call
    std::size_t max_objects = 100'000;             // of one kind
    std::size_t max_waiting = 64UL * 1024 * 1024;  // bytes of one kind that have come and are not taken in
    std::size_t arrivals_per_step = 64;
    std::chrono::seconds watch_for{20};
    std::chrono::seconds silence{25};      // of a watch; at least watch_for, and time for the server's last words
    std::chrono::seconds list_within{35};  // a page, in case the link never answers
    std::chrono::seconds proven{1};        // a watch that lasts that long after a failure works
    Backoff backoff{.base = std::chrono::milliseconds(500), .cap = std::chrono::seconds(30)};
};

// Where objects go, on the thread of step().
class Sink {
public:
    virtual ~Sink() = default;
    // Keys are "namespace/name", or "name".
    virtual void put(const std::string& key, const json::Value& object) = 0;
    virtual void erase(const std::string& key) = 0;
    // A list has come to its end: what is not in it is gone.
    virtual void keep_only(const std::set<std::string>& keys) = 0;
};

// What of a cluster is followed.
struct Topic {
    std::string path;      // "/apis/gateway.networking.k8s.io/v1/gateways"
    std::string plural;    // "gateways.gateway.networking.k8s.io", for messages
    std::string query{};   // more of the question, encoded: "fieldSelector=type%3Dkubernetes.io%2Ftls"; empty: all
    std::string remedy{};  // what to do where it is not served, for people
};
Topic topic_of(const resource::Kind& kind);

struct ListWatchParts {
    Link& link;
    const Clock& clock;
    Random& random;
    Sink& sink;
    std::function<void()> wake;  // from any thread: step() has something to do
};

class ListWatch {
public:
    ListWatch(Topic topic, const ListWatchParts& parts, const FollowerOptions& options);
    ~ListWatch();
    ListWatch(const ListWatch&) = delete;
    ListWatch& operator=(const ListWatch&) = delete;

    Step step();

    [[nodiscard]] bool listed() const { return listed_; }  // at least once
    [[nodiscard]] bool up() const { return up_; }
    [[nodiscard]] MonotonicTime lost() const { return lost_; }  // since when it is not up
    [[nodiscard]] const std::string& problem() const { return problem_; }
    // What was last taken in; everything before it too. Empty until there is a list.
    [[nodiscard]] const std::string& revision() const { return revision_; }
    // The server says that we may not (401, 403); it is asked again all the same.
    [[nodiscard]] bool refused() const { return refused_; }
    // The server does not know the kind (404); it is asked again all the same.
    [[nodiscard]] bool absent() const { return absent_; }
    [[nodiscard]] std::uint64_t relists() const { return relists_; }
    [[nodiscard]] std::uint64_t events() const { return events_; }

private:
    enum class Phase { waiting, listing, watching };
    struct Arrival {
        enum class Kind { page, line, ended } kind = Kind::page;
        std::uint64_t call = 0;
        std::string text;
        std::optional<Error> error;
        MonotonicTime at;
    };
    struct Inbox;

    void take(const Arrival& arrival);
    void take_page(const Arrival& arrival);
    void take_line(const Arrival& arrival);
    void take_end(const Arrival& arrival);
    bool put_items(const json::Value& list);
    void start_list(std::string continue_token);
    void start_watch();
    void relist(MonotonicTime now);
    void failed(const Error& error, MonotonicTime lost);
    void works();
    void allow_for_sleep(MonotonicTime now);
    [[nodiscard]] MonotonicTime next_due() const;

    Topic topic_;
    ListWatchParts parts_;
    FollowerOptions options_;
    std::shared_ptr<Inbox> inbox_;
    Phase phase_ = Phase::waiting;
    std::uint64_t call_number_ = 0;
    std::string revision_;
    std::set<std::string> seen_;  // keys of the list that is being read
    bool whole_list_ = false;     // pages went out of date while they were read: ask for all at once
    bool listed_ = false, up_ = false, spoke_ = false, refused_ = false, absent_ = false;
    bool forgiven_ = false;  // silence, since the last word
    int failures_ = 0;
    std::uint64_t relists_ = 0, events_ = 0;
    MonotonicTime due_, began_, heard_, lost_;
    std::optional<MonotonicTime> last_relist_;
    std::optional<MonotonicTime> expected_;  // when step() should have come at the latest
    std::string problem_;
    std::unique_ptr<Call> call_;  // last: silenced before anything else goes
};

// "namespace/name", or "name"; empty if the object has no name.
std::string key_of(const json::Value& object);

}  // namespace fairlead::cluster
