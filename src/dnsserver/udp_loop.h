// Answers what comes to one UDP socket: a batch of packets is received, answered and sent with few system calls.
// Packets of one asker that the kernel has put together (UDP_GRO) are taken as one and answered one by one. Nothing is
// allocated, no clock read, nothing logged per packet.
//
// Threads: run() on a thread of its own; stop() and the counters from any.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "dnsserver/udp_outbox.h"
#include "dnsserver/worker.h"
#include "net/handles.h"

namespace fairlead::dnsserver {

class UdpLoop {
public:
    // A socket that tells with each packet which address was asked (open_listeners asks those of all addresses to) gets
    // replies that come from there.
    UdpLoop(net::Fd socket, bool v6, const WorkerParts& parts);
    ~UdpLoop();
    UdpLoop(const UdpLoop&) = delete;
    UdpLoop& operator=(const UdpLoop&) = delete;

    // Until stop().
    void run();
    // What was received is still answered.
    void stop();
    [[nodiscard]] const UdpCounts& counts() const { return counts_; }

private:
    struct Inbox;
    void answer_all(std::size_t received);
    void answer(std::string_view packet, const Asker& asker, const ReplyTo& to);

    net::Fd socket_;
    Worker worker_;
    UdpCounts counts_;
    std::unique_ptr<Inbox> inbox_;
    UdpOutbox outbox_;
    std::string special_;
    std::atomic<bool> stopping_{false};
};

}  // namespace fairlead::dnsserver
