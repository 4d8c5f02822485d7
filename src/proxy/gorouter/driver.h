// The driver for gorouters: keeps what a RoutingTable says registered with all routers that listen on NATS, as Diego's
// route emitter does. Used by `fairlead emitter`.
//
// Threads: every function from any thread and short. One thread of its own publishes; libnats has some of its own; the
// audit has one if it is wanted.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "proxy/driver.h"
#include "proxy/gorouter/leftovers.h"
#include "proxy/gorouter/registrations.h"

namespace fairlead::proxy::gorouter {

// How NATS is reached. Credentials may also stand in the URLs ("nats://user:password@host:4222").
struct NatsOptions {
    std::vector<std::string> urls;  // "nats://host:4222", "tls://host:4222"; tried by turns
    std::string user{}, password{};
    std::string token{};
    std::filesystem::path credentials{};  // file with a JWT and an NKey seed
    std::filesystem::path nkey_seed{};    // file with an NKey seed alone
    bool tls = false;                     // also without tls:// or any of the files
    std::filesystem::path ca{}, certificate{}, key{};
    std::string server_name{};                         // that the certificate must have; empty: the host of the URL
    std::string name = "fairlead-emitter";             // how nats-server lists us
    std::chrono::milliseconds connect_timeout{2'000};  // of each URL
    std::chrono::milliseconds max_backoff{5'000};      // between tries, which never end
    std::chrono::milliseconds ping_interval{5'000};    // two unanswered: the connection is lost
};

struct AuditOptions {
    // Status URLs of gorouters, "http://user:password@10.0.0.5:8080": their /routes is compared with the table.
    std::vector<std::string> urls{};
    std::chrono::seconds interval{60};
};

struct Options {
    NatsOptions nats;
    Settings settings{};
    AuditOptions audit{};
    // Follows the table and listens, but publishes nothing until it is made active.
    bool standby = false;
};

// What is published of what there is to say.
enum class Activity { none, withdrawals, all };

class Publisher : public Driver {
public:
    // Two emitters, one of them active: who becomes active emits everything, withdrawals of late included; who is only
    // to withdraw, those.
    virtual void active(Activity activity) = 0;
    // False: withdrawals wait, their repetitions too. For one that is cut off from its source, or from the lease that
    // makes it the active one: what it calls gone may live again. True at first.
    virtual void withdraw(bool may) = 0;
    // Whose registrations are ours (messages.h), those of emitters before us too. Empty, as at first: nobody can tell.
    virtual void mark(std::string mark) = 0;
    // What the table says of what is not in it, from time to time; nothing, as at first: nobody is to go by that. What
    // emitters before us have left in routers is withdrawn by it, if audits find some.
    virtual void certain(std::optional<traffic::Certainty> certainty) = 0;
    [[nodiscard]] virtual Figures emitted() const = 0;
};

// Never waits for NATS: until it is there, progress() says what is in the way. At its end nothing is withdrawn: the
// routers are not ours. Errors: a URL, file or setting that cannot be used (named).
Result<std::unique_ptr<Publisher>> start(Options options, const Clock& clock, Random& random, Log& log,
                                         Metrics& metrics);

}  // namespace fairlead::proxy::gorouter
