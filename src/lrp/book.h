// What is known of processes and instances, from events and from whole passes in any order: versions decide, not
// arrival. Pure; used by the emitter and the router's agent, each on one thread.
//
// A pass reads everything while events go on: begin_pass() opens a log, every event that comes until end_pass() is
// applied at once and kept in the log in order; end_pass(snapshot) takes the snapshot as the state and applies the log
// on top; end_pass() without one (it failed) keeps everything as it is. So that no event waits for a pass over hundreds
// of thousands, most of the snapshot may be handed over before, in parts: what agrees with what is held, which is
// nearly all, is done with at once and changes nothing; the rest waits for the end. What becomes of it is the same.
//
// Nothing live goes: names of a process that is missing from a snapshot stay while its domain is not fresh, an instance
// and its evacuating twin count as one, one that is evacuated counts beside the one that takes over until its record
// goes, and indices from the desired count on are left out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lrp/lrp.h"

namespace fairlead::lrp {

// Everything, as one reading found it.
struct Snapshot {
    std::vector<Desired> desired{};
    std::vector<Actual> actual{};
    std::set<std::string> fresh_domains{};
};

// Where a port of a process is reached now.
struct Endpoint {
    std::string instance_guid{};
    std::int32_t index = 0;
    std::string address{};
    std::uint16_t port = 0, tls_port = 0;
    bool operator==(const Endpoint&) const = default;
};

class Book {
public:
    Book();
    ~Book();
    Book(Book&&) noexcept;
    Book& operator=(Book&&) noexcept;

    // News. Older ones than what is held change nothing.
    void put(Desired desired);
    void erase(const Desired& desired);  // by key and tag
    void put(const Actual& actual);
    void erase(const Actual& actual);  // by process, index, evacuating, instance_guid and tag

    void begin_pass();
    // A part of the snapshot, without domains. Before any pass has ended well it is taken at once, and events wait:
    // what is there until then is not everything, whatever it is.
    void found(Snapshot part);
    // When all parts were found: looks for what was not among them, so many processes at a time. True: it is through.
    // What is left of this end_pass() does.
    bool look_for_missing(std::size_t processes);
    void end_pass(std::optional<Snapshot> rest);
    // Domains whose owners have said lately that they know all of theirs, when that changes between passes; a pass
    // brings its own. A process that was kept because its domain was not fresh then makes wants_pass().
    void set_fresh_domains(std::set<std::string> domains);

    [[nodiscard]] const std::set<std::string>& fresh_domains() const;

    // Processes whose routes or endpoints may have changed since the last call, each once, in the order in which they
    // became known.
    std::vector<ProcessKey> take_touched();
    // Something came that only a pass can explain: an instance of a process that is not known, another epoch of what is
    // held and was not removed; or a pass has failed that was wanted.
    [[nodiscard]] bool wants_pass() const;

    [[nodiscard]] bool knows(const ProcessKey& process) const;
    // Made anew from a smaller form at each call. Nothing if it is not known.
    [[nodiscard]] std::optional<Desired> desired(const ProcessKey& process) const;
    // Running, below the desired count: one per index (which came last; of twins the ordinary one), and after it
    // another that is evacuated; an address that another process has taken over since (by `since` of the instances) is
    // its alone. In order of index.
    [[nodiscard]] std::vector<Endpoint> endpoints(const ProcessKey& process, std::uint16_t container_port) const;
    [[nodiscard]] std::size_t processes() const;  // that are known
    [[nodiscard]] std::size_t instances() const;  // that run, each index once
    // Evacuating records that the last pass may have left out: nobody can say whether they are there still.
    [[nodiscard]] std::size_t hidden() const;
    // Addresses that two processes claim now.
    [[nodiscard]] std::size_t collisions() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::lrp
