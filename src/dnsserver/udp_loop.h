// Answers what comes to one UDP socket: a batch of packets is received, answered and sent with one system call each.
// Nothing is allocated, no clock read, nothing logged per packet.
//
// Threads: run() on a thread of its own; stop() and the counters from any.
#pragma once

#include <atomic>
#include <memory>

#include "dnsserver/tally.h"
#include "dnsserver/worker.h"
#include "net/handles.h"

namespace fairlead::dnsserver {

struct UdpCounts {
    Cell dropped;         // replies that the socket did not take in time
    Cell send_errors;     // replies that the system refused to send
    Cell receive_errors;  // failed calls
};

class UdpLoop {
public:
    // `wildcard`: bound to all addresses, so that each reply says from which of them it comes.
    UdpLoop(net::Fd socket, bool v6, bool wildcard, const WorkerParts& parts);
    ~UdpLoop();
    UdpLoop(const UdpLoop&) = delete;
    UdpLoop& operator=(const UdpLoop&) = delete;

    // Until stop().
    void run();
    // What was received is still answered.
    void stop();
    [[nodiscard]] const UdpCounts& counts() const { return counts_; }

private:
    struct Batch;
    // How many replies the first `received` packets of the batch got.
    std::size_t answer(std::size_t received);
    void send(std::size_t replies);
    bool wait_for_room(int& patience) const;

    net::Fd socket_;
    bool v6_;
    bool wildcard_;
    Worker worker_;
    UdpCounts counts_;
    std::unique_ptr<Batch> batch_;
    std::atomic<bool> stopping_{false};
};

}  // namespace fairlead::dnsserver
