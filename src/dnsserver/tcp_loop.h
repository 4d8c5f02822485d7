// All TCP connections of the server on one thread: accepts, waits for sockets that are ready, and ends those who keep
// it waiting. When all places are taken, the longest idle gives way.
//
// Threads: run() on a thread of its own; stop() and the counters from any.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/result.h"
#include "dnsserver/tally.h"
#include "dnsserver/tcp_connection.h"
#include "dnsserver/worker.h"
#include "net/handles.h"

namespace fairlead::dnsserver {

struct TcpCounts {
    Cell accepted;
    Cell refused;        // no place, and nobody idle to give one
    Cell accept_errors;  // usually: out of file descriptors
    std::array<Cell, tcp_ends> ended;
    std::atomic<std::uint64_t> open{0};
};

class TcpLoop {
public:
    // Errors: internal (no epoll or eventfd to be had).
    static Result<std::unique_ptr<TcpLoop>> make(std::vector<net::Fd> listeners, const TcpLimits& limits,
                                                 const WorkerParts& parts, const Clock& clock, Log& log);
    ~TcpLoop();
    TcpLoop(const TcpLoop&) = delete;
    TcpLoop& operator=(const TcpLoop&) = delete;

    // Until stop(), which ends all connections.
    void run();
    void stop();
    [[nodiscard]] const TcpCounts& counts() const { return counts_; }

private:
    struct Guest {
        std::unique_ptr<TcpConnection> connection;
        unsigned events = 0;  // what epoll was asked for
    };
    using Guests = std::unordered_map<int, Guest>;  // by descriptor

    TcpLoop(std::vector<net::Fd> listeners, net::Fd epoll, net::Fd wake, const TcpLimits& limits,
            const WorkerParts& parts, const Clock& clock, Log& log);
    [[nodiscard]] int patience(MonotonicTime now) const;
    [[nodiscard]] bool listens(int descriptor) const;
    void handle(int descriptor, unsigned events, MonotonicTime now);
    void accept_clients(int listener, MonotonicTime now);
    void pause_accepting(int error, MonotonicTime now);
    void listen_again();
    void admit(net::Fd socket, const dns::Address& client, MonotonicTime now);
    // One idle connection ends; of `client` alone if given. False: there is none.
    bool make_place(const dns::Address* client);
    void settle(Guests::iterator guest);
    void remove(Guests::iterator guest, TcpEnd why);
    void look_around(MonotonicTime now);

    const std::vector<net::Fd> listeners_;
    net::Fd epoll_, wake_;
    const TcpLimits limits_;
    Worker worker_;
    const Clock& clock_;
    Log& log_;
    TcpCounts counts_;
    std::vector<char> scratch_;
    Guests guests_;
    std::map<dns::Address, std::size_t> per_client_;
    std::chrono::milliseconds tick_;
    MonotonicTime looked_{};
    std::optional<MonotonicTime> paused_, warned_;
    std::atomic<bool> stopping_{false};
};

}  // namespace fairlead::dnsserver
