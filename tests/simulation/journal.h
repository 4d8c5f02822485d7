// What happened in a run, one line per step, and the first invariant that did not hold. Kept short: the last lines are
// what a person reads, the hash of all of them is what two runs of one seed must agree on. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::simulation {

using SimTime = std::chrono::nanoseconds;  // virtual, since the beginning of the run; the same for all processes

// The promises that a run is checked against.
enum class Invariant { writes_kept, watches_exact, collection_converges, one_leader, controllers_converge };
std::string_view name_of(Invariant invariant);

struct Violation {
    Invariant invariant;
    std::string what;
};

class Journal {
public:
    Journal(std::size_t keep, bool print) : keep_(keep), print_(print) {}

    void set_time(SimTime now) { now_ = now; }
    void line(std::string_view text);
    // The first violation counts: whatever follows it may be its consequence.
    void violate(Invariant invariant, std::string what);

    [[nodiscard]] const std::optional<Violation>& violation() const { return violation_; }
    [[nodiscard]] std::uint64_t hash() const { return hash_; }
    [[nodiscard]] std::uint64_t lines() const { return lines_; }
    [[nodiscard]] const std::deque<std::string>& tail() const { return tail_; }

private:
    std::size_t keep_;
    bool print_;
    SimTime now_{0};
    std::uint64_t hash_ = 14'695'981'039'346'656'037U;
    std::uint64_t lines_ = 0;
    std::deque<std::string> tail_;
    std::optional<Violation> violation_;
};

}  // namespace fairlead::simulation
