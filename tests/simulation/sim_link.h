// The network between a hub and its clusters, as cluster::Link sees it: what is asked arrives late, is refused, is
// never answered, and watches break in the middle, are said to be too old (410) or hang without a word. What happens
// comes from the dice. One thread: pump() delivers what is due.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cluster/link.h"
#include "simulation/cluster_api.h"
#include "simulation/dice.h"

namespace fairlead::simulation {

class Network {
public:
    enum class Cut {
        none,
        refused,  // every attempt fails at once, and what was open breaks
        silent,   // nothing arrives, and nobody is told
    };
    struct Figures {
        std::uint64_t lists = 0, writes = 0, watches = 0, lines = 0, broken = 0, expired = 0;
    };

    Network(const Clock& clock, Dice& dice) : clock_(clock), dice_(dice) {}

    void add(const std::string& server, ClusterApi& api) { ends_[server].api = &api; }
    std::unique_ptr<cluster::Link> link(const std::string& server);

    void cut(const std::string& server, Cut how);
    [[nodiscard]] Cut cut_of(const std::string& server) const { return ends_.at(server).cut; }
    // Somebody has written there: those who watch hear of it, in a while.
    void changed(const std::string& server);
    // Breaks what is open, or says that its place is too old.
    void disturb(const std::string& server);

    // Delivers what is due.
    void pump();
    // When there is something to deliver.
    [[nodiscard]] std::optional<MonotonicTime> due() const;

    bool faulty = true;
    bool loses_lines = false;  // a defect: changes are left out, and nobody is told
    [[nodiscard]] const Figures& figures() const { return figures_; }

private:
    struct Open;
    class SimCall;
    class SimLink;
    struct End {
        ClusterApi* api = nullptr;
        Cut cut = Cut::none;
        std::list<std::shared_ptr<Open>> open;
    };

    std::unique_ptr<cluster::Call> start(const std::string& server, std::shared_ptr<Open> open);
    void deliver(End& end, Open& open);
    void deliver_lines(Open& open);
    void deliver_write(End& end, Open& open);
    [[nodiscard]] MonotonicTime soon();

    const Clock& clock_;
    Dice& dice_;
    std::map<std::string, End> ends_;
    Figures figures_;
};

}  // namespace fairlead::simulation
