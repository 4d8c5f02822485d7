#include "dnsserver/udp_loop.h"

#include <netinet/udp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "dnsserver/socket_address.h"

namespace fairlead::dnsserver {
namespace {

constexpr std::size_t batch_messages = 64;     // one system call for this many; more gain nothing measurable
constexpr std::size_t message_bytes = 65'536;  // as many packets as the kernel puts together, or one
// A cache line more than a power of two, or the first lines of all packets would compete for the same places in cache.
constexpr std::size_t message_stride = message_bytes + 64;
constexpr int error_pause_ms = 10;

// Where the packet was sent to, and so where the reply must come from; and how long the packets are in one message.
struct alignas(cmsghdr) Control {
    std::array<char, CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(int))> bytes;
};

// What came with a message.
struct Attached {
    std::size_t segment = 0;      // how long each packet is; 0: there is one
    std::span<const char> asked;  // the address that was asked, ready to be sent back
};

Attached read_control(msghdr& message) {
    Attached attached;
    for (auto* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        // The route back is the system's choice, except where the address alone does not say the link.
        if (part->cmsg_level == SOL_UDP && part->cmsg_type == UDP_GRO) {
            int segment = 0;
            std::memcpy(&segment, CMSG_DATA(part), sizeof segment);
            attached.segment = static_cast<std::size_t>(segment);
        } else if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            in_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(part), sizeof info);
            info.ipi_ifindex = 0;
            std::memcpy(CMSG_DATA(part), &info, sizeof info);
            attached.asked = {reinterpret_cast<const char*>(part), CMSG_SPACE(sizeof info)};
        } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
            in6_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(part), sizeof info);
            if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) info.ipi6_ifindex = 0;
            std::memcpy(CMSG_DATA(part), &info, sizeof info);
            attached.asked = {reinterpret_cast<const char*>(part), CMSG_SPACE(sizeof info)};
        }
    }
    return attached;
}

}  // namespace

struct UdpLoop::Inbox {
    explicit Inbox(bool v6) : name_size(size_of(v6)), bytes(new char[batch_messages * message_stride]) {
        for (std::size_t i = 0; i < batch_messages; ++i) {
            parts[i] = {bytes.get() + i * message_stride, message_bytes};
            auto& message = received[i].msg_hdr;
            message = {};
            message.msg_name = &askers[i];
            message.msg_iov = &parts[i];
            message.msg_iovlen = 1;
            message.msg_control = controls[i].bytes.data();
            renew(message);
        }
    }
    // The kernel writes into both.
    void renew(msghdr& message) const {
        message.msg_namelen = name_size;
        message.msg_controllen = sizeof(Control);
    }

    socklen_t name_size;
    std::unique_ptr<char[]> bytes;  // not a vector: that would touch all of it
    std::array<SocketAddress, batch_messages> askers;
    std::array<Control, batch_messages> controls;
    std::array<iovec, batch_messages> parts;
    std::array<mmsghdr, batch_messages> received;
};

UdpLoop::UdpLoop(net::Fd socket, bool v6, const WorkerParts& parts)
    : socket_(std::move(socket)),
      worker_(parts),
      inbox_(std::make_unique<Inbox>(v6)),
      outbox_(socket_.get(), v6, counts_) {
    // Where the system does not know it, packets come one by one.
    const int on = 1;
    (void)setsockopt(socket_.get(), SOL_UDP, UDP_GRO, &on, sizeof on);
}

UdpLoop::~UdpLoop() = default;

void UdpLoop::run() {
    while (!stopping_.load(std::memory_order_relaxed)) {
        const int received = recvmmsg(socket_.get(), inbox_->received.data(), batch_messages, MSG_WAITFORONE, nullptr);
        if (received < 0) {
            if (errno == EAGAIN || errno == EINTR) continue;  // nothing came for a while
            counts_.receive_errors.add();
            (void)::poll(nullptr, 0, error_pause_ms);  // whatever it is, it is not to take the whole core
            continue;
        }
        worker_.pin();
        answer_all(static_cast<std::size_t>(received));
        worker_.unpin();
        outbox_.flush();
    }
}

void UdpLoop::stop() {
    stopping_.store(true, std::memory_order_relaxed);
    // Wakes the thread up (it says ENOTCONN all the same). Were it not so, it would look within a second.
    (void)::shutdown(socket_.get(), SHUT_RD);
}

void UdpLoop::answer_all(std::size_t received) {
    auto& inbox = *inbox_;
    Asker asker;
    for (std::size_t i = 0; i < received; ++i) {
        auto& message = inbox.received[i];
        std::string_view packets(static_cast<char*>(inbox.parts[i].iov_base), message.msg_len);
        const auto attached = read_control(message.msg_hdr);
        asker.address = from_socket(inbox.askers[i]);
        const ReplyTo to{&inbox.askers[i], attached.asked};
        if (attached.segment == 0) {
            answer(packets, asker, to);
        } else {
            for (; !packets.empty(); packets.remove_prefix(std::min(attached.segment, packets.size()))) {
                answer(packets.substr(0, attached.segment), asker, to);
            }
        }
        inbox.renew(message.msg_hdr);
    }
}

void UdpLoop::answer(std::string_view packet, const Asker& asker, const ReplyTo& to) {
    const auto room = outbox_.room();
    const auto reply = worker_.answer(packet, asker, room);
    if (reply.kind == Reply::Kind::message) return outbox_.add(reply.size, to);
    if (reply.kind == Reply::Kind::silence) return;
    const auto source = worker_.special(packet, asker);
    if (!source || !source->next(special_) || special_.size() > room.size()) return;
    std::memcpy(room.data(), special_.data(), special_.size());
    outbox_.add(special_.size(), to);
}

}  // namespace fairlead::dnsserver
