// Which names gorouters should be told of, and when: from a RoutingTable to register and unregister messages. Pure: no
// I/O, and time and chance come in. Used by the driver's thread, and by the simulator.
//
// A pair is a name and an address (IP and port; the TLS port if the member has one), which is all that a gorouter goes
// by when it forgets. A pair is live when the table leads its name to a member there that is ready and has a weight.
// What holds after every call:
// - take() never gives a withdrawal of a live pair, nor a registration of one that is not.
// - A pair that became live or changed its attributes is in the next messages, as one registration, without withdrawal.
// - A pair that ceased to be live is withdrawn in the next messages, and again until it is live once more or the time
//   for repeating is over.
// - Every live pair is registered at least once in an interval, if the pace allows.
//
// A change costs what it touches: a pool its members and names, a name its pool. Texts are kept once, however many
// pairs they are in: pairs take no memory unless they are withdrawn.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "proxy/gorouter/messages.h"
#include "traffic/table.h"

namespace fairlead::proxy::gorouter {

struct Settings {
    std::string prefix = "router";  // of the subjects
    // Of one message. Names of one endpoint with the same attributes go together: a router pays per message.
    std::size_t max_names = 100;
    std::size_t max_bytes = 32 * 1024;  // NATS takes 1 MiB
    // A router drops what waits beyond 131,072 messages or 128 MiB, so a message costs one for each KiB begun. A router
    // that takes half of this pace has 125,000 waiting after a whole emission of 250,000: still none lost.
    double messages_per_second = 10'000;
    std::size_t burst = 2'000;                  // that may go at once after a pause
    std::chrono::seconds interval{20};          // until a router asks for another
    double start_jitter = 0.2;                  // part of the interval, by chance, before all is sent to a new router
    std::chrono::seconds repeat{30};            // withdrawals
    std::chrono::seconds repeat_for{600};       // routers drop what is not registered anew in much less
    std::chrono::seconds repeat_tls_for{3600};  // they never drop endpoints with TLS
    std::size_t max_withdrawals = 2'000'000;    // that are remembered; more are not sent
    std::size_t max_routers = 10'000;
    bool operator==(const Settings&) const = default;
};

// A name as gorouters keep it ("foo.com/path", "*.foo.com", lower case), and where it leads ("10.0.0.1:61001").
struct Pair {
    std::string name, address;
    auto operator<=>(const Pair&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct Figures {
    std::size_t names = 0, endpoints = 0, pairs = 0;  // that are live; endpoints: addresses with their attributes
    std::size_t waiting = 0;                          // changes that were not taken yet, and endpoints of an emission
    std::size_t withdrawals = 0;                      // that are remembered
    std::size_t texts = 0;                            // that are kept for all of these
    std::size_t routers = 0;
    std::chrono::seconds interval{0};
    std::uint64_t register_messages = 0, unregister_messages = 0, names_registered = 0, names_withdrawn = 0, bytes = 0;
    std::uint64_t rounds = 0;  // everything was emitted so often
    bool late = false;         // everything takes longer than the interval at this pace
};

class Registrations {
public:
    explicit Registrations(Settings settings);
    ~Registrations();
    Registrations(const Registrations&) = delete;
    Registrations& operator=(const Registrations&) = delete;

    // The whole table, in place of what was there: what differs is sent.
    void reset(traffic::RoutingTable table);
    void change(const traffic::TableDiff& change);

    // A router answered a greeting.
    void router_spoke(const RouterHello& hello, MonotonicTime now);
    // A router came up or back, with an empty table: everything is emitted after a while by chance, at full pace.
    void router_started(const RouterHello& hello, MonotonicTime now, Random& random);
    // What was sent may be lost (NATS was away): everything is emitted from now on, withdrawals too.
    void everything(MonotonicTime now);
    // Nothing can be sent, and everything() will be called when that is over: what waits to be registered needs no list
    // until then. Withdrawals wait.
    void cut_off();
    // An audit found that a router lacks this pair, or holds it though it was withdrawn: sent again if that is right.
    void mend(std::string_view name, std::string_view address);

    // Says in every registration from now on whose it is (messages.h); empty: does not.
    void mark(std::string mark);
    [[nodiscard]] const std::string& mark() const;
    // Withdrawn once, though it was never ours: what somebody with our mark has left behind. False: it lives, is being
    // withdrawn already, or is no pair.
    bool withdraw_leftover(const Pair& pair);

    // False: withdrawals wait, their repetitions too, until it is true again, as at first. What lives then is not among
    // them any more.
    void withdraw(bool may);

    // What is to be sent now, in order; to be published before anything else is called here. At most `max_messages`,
    // of them at most `max_repeated` of what was said before, and what is left of the endpoint at that point. Changes
    // come first, and what is repeated leaves half of the burst for them.
    std::vector<Message> take(MonotonicTime now, std::size_t max_messages,
                              std::size_t max_repeated = std::numeric_limits<std::size_t>::max());
    // When take() has something to give again.
    [[nodiscard]] std::optional<MonotonicTime> next_due(MonotonicTime now) const;
    // Every change so far has been given out.
    [[nodiscard]] bool settled() const;

    // The minimum of what the routers ask for.
    [[nodiscard]] std::chrono::seconds interval() const;
    // A router has spoken lately.
    [[nodiscard]] bool routers_known() const;

    [[nodiscard]] bool live(std::string_view name, std::string_view address) const;
    // Of a pair that is not live: withdrawn so lately that it is repeated still.
    [[nodiscard]] bool withdrawn(std::string_view name, std::string_view address) const;
    // Where a name leads, in no order.
    struct Target {
        std::string address;
        std::string_view instance;
    };
    [[nodiscard]] std::vector<Target> targets(std::string_view name) const;
    // All names, in parts: those of the slots from..to that lead somewhere; there are name_slots() now.
    [[nodiscard]] std::vector<std::string_view> names(std::size_t from, std::size_t to) const;
    [[nodiscard]] std::size_t name_slots() const;
    [[nodiscard]] std::optional<std::size_t> name_slot(std::string_view name) const;
    // Live pairs, in order: for tests and small tables.
    [[nodiscard]] std::vector<Pair> pairs() const;
    // By owner: what gorouters cannot be told.
    [[nodiscard]] const std::map<std::string, std::string>& problems() const;
    [[nodiscard]] Figures figures() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::proxy::gorouter
