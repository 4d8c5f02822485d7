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
    // `ns` empty: all namespaces.
    Watcher(int number, const resource::Kind& kind, std::string ns);
    ~Watcher() override;
    [[nodiscard]] bool ready(const World& world) const override;
    void step(World& world) override;

private:
    void list(World& world);
    void finish_list(World& world, Revision revision);
    void open(World& world);
    void pull(World& world);
    // Reads the frames that arrived; false when the stream is over.
    bool take(World& world, std::string_view text);
    bool take_other(World& world, std::string_view frame);
    void disconnect();
    [[nodiscard]] bool concerns(std::string_view name) const { return name.substr(0, prefix_.size()) == prefix_; }
    // Nothing happened that it has not seen.
    [[nodiscard]] bool caught_up(const World& world) const;
    // The place of the next change that concerns us, from `place_` on.
    [[nodiscard]] std::size_t next_place(const Truth& truth) const;
    void wrong(World& world, const std::string& what);

    std::string name_;
    const resource::Kind& kind_;
    std::string prefix_;                     // of the names that concern it
    bool listed_ = false;                    // knows a revision to watch from
    std::string continue_;                   // a list under way
    std::map<std::string, Revision> page_;   // of that list
    Revision seen_ = 0;                      // everything up to here has been seen
    std::size_t place_ = 0;                  // in the truth's changes: the first one not yet seen
    std::map<std::string, Revision> known_;  // name -> revision
    std::shared_ptr<Instance> instance_;     // where the stream comes from
    const Process* process_ = nullptr;
    std::unique_ptr<apiserver::WatchStream> stream_;
};

}  // namespace fairlead::simulation
