// Replies of one UDP socket on their way out. Replies to one asker that are equally long leave as one send, which the
// kernel cuts apart again (UDP_SEGMENT): through its layers once instead of once per reply. Forwarders and load
// balancers that ask from few ports get most of that; an asker with a port per question gets what it always got.
//
// Threads: that of the loop, whose counters it writes.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <memory>
#include <span>

#include "dnsserver/answer.h"
#include "dnsserver/socket_address.h"
#include "dnsserver/tally.h"

namespace fairlead::dnsserver {

struct UdpCounts {
    Cell dropped;         // replies that the socket did not take in time
    Cell send_errors;     // replies that the system refused to send
    Cell receive_errors;  // failed calls
};

// Who gets a reply, and from which of our addresses (wildcard sockets; the option as it was received).
struct ReplyTo {
    SocketAddress* address = nullptr;
    std::span<const char> from;
};

class UdpOutbox {
public:
    UdpOutbox(int socket, bool v6, UdpCounts& counts);

    // Room for one more reply, at least max_message_bytes.
    std::span<char> room();
    // The reply is in the first `size` bytes of room().
    void add(std::size_t size, const ReplyTo& to);
    // Sends everything.
    void flush();

private:
    static constexpr std::size_t max_runs = 64;  // one system call for this many; more gain nothing measurable
    static constexpr std::size_t control_bytes = CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(std::uint16_t));

    // Replies side by side to one asker, all as long as the first, but for the last, which may be shorter.
    struct Run {
        ReplyTo to;
        std::size_t segment = 0;
        std::size_t count = 0;
        bool closed = false;
    };
    void prepare(std::size_t i);
    void refused(std::size_t i);
    bool wait_for_room(int& patience) const;

    int socket_;
    UdpCounts& counts_;
    std::unique_ptr<char[]> bytes_;  // not a vector: that would touch all of it
    char* free_;
    std::size_t runs_ = 0;
    std::array<Run, max_runs> run_;
    std::array<iovec, max_runs> parts_;
    std::array<mmsghdr, max_runs> messages_;
    struct alignas(cmsghdr) Control {
        std::array<char, control_bytes> bytes;
    };
    std::array<Control, max_runs> controls_;
};

}  // namespace fairlead::dnsserver
