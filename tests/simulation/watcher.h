// Lists, watches, and follows one kind as an informer does: resumes from the last revision it has seen when its
// connection goes, lists again when it is told 410. Every list must be one snapshot, every event must be the next one
// that happened, and what it knows in the end must be what is there. One thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "apiserver/watch.h"
#include "simulation/world.h"

namespace fairlead::simulation {

class Watcher final : public Actor {
public:
    // `ns` empty: all namespaces. `labelled`: only what carries the label "turn", which objects get and lose.
    Watcher(int number, const resource::Kind& kind, std::string ns, bool labelled);
    ~Watcher() override;
    [[nodiscard]] bool ready(const World& world) const override;
    void step(World& world) override;
    void check(World& world) const override;

private:
    void list(World& world);
    void finish_list(World& world, Revision revision);
    void open(World& world);
    void pull(World& world);
    // Reads the frames that arrived; false when the stream is over.
    bool take(World& world, std::string_view text);
    bool take_other(World& world, std::string_view frame);
    void disconnect();
    // What a watcher is told of a change; empty if it does not concern it.
    [[nodiscard]] std::string frame_of(const Change& change) const;
    [[nodiscard]] bool concerns(const Change& change) const;
    [[nodiscard]] bool selects(std::string_view name, const std::string& bytes) const;
    [[nodiscard]] apiserver::QueryOptions options() const;
    [[nodiscard]] apiserver::Target target() const;
    // Nothing happened that it has not seen.
    [[nodiscard]] bool caught_up(const World& world) const;
    // The place of the next change that concerns us, from `place_` on.
    [[nodiscard]] std::size_t next_place(const Truth& truth) const;
    void wrong(World& world, const std::string& what) const;

    std::string name_;
    const resource::Kind& kind_;
    std::string prefix_;  // of the names that concern it
    bool labelled_;
    bool listed_ = false;                    // knows a revision to watch from
    std::string continue_;                   // a list under way
    std::map<std::string, Revision> page_;   // of that list
    Revision seen_ = 0;                      // everything up to here has been seen
    mutable std::size_t place_ = 0;          // in the truth's changes: the first one not yet seen that may concern it
    std::map<std::string, Revision> known_;  // name -> revision
    std::shared_ptr<Instance> instance_;     // where the stream comes from
    const Process* process_ = nullptr;
    std::unique_ptr<apiserver::WatchStream> stream_;
};

}  // namespace fairlead::simulation
