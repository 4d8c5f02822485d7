#include "dnsserver/udp_loop.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "dnsserver/socket_address.h"

namespace fairlead::dnsserver {
namespace {

constexpr std::size_t batch_packets = 64;       // one system call for this many; more gain nothing measurable
constexpr std::size_t max_query_bytes = 2'048;  // queries are far below, signed ones too; longer ones are cut: FORMERR
// A cache line more than a power of two, or the first lines of all packets would compete for the same places in cache.
constexpr std::size_t query_stride = max_query_bytes + 64;
constexpr int room_wait_ms = 10;
constexpr int room_waits = 10;  // then the rest of a batch is dropped: resolvers ask again, and newer queries wait
constexpr int error_pause_ms = 10;

// Where the packet was sent to, and so where the reply must come from.
union Control {
    cmsghdr header;  // aligns
    std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> bytes;
};

// The route back is the system's choice, except where the address alone does not say the link.
void free_interface(msghdr& message) {
    for (auto* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            in_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(part), sizeof info);
            info.ipi_ifindex = 0;
            std::memcpy(CMSG_DATA(part), &info, sizeof info);
        } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
            in6_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(part), sizeof info);
            if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) info.ipi6_ifindex = 0;
            std::memcpy(CMSG_DATA(part), &info, sizeof info);
        }
    }
}

}  // namespace

struct UdpLoop::Batch {
    Batch(bool v6, bool wildcard) : queries(batch_packets * query_stride), replies(new char[replies_bytes]) {
        for (std::size_t i = 0; i < batch_packets; ++i) {
            query_parts[i] = {queries.data() + i * query_stride, max_query_bytes};
            auto& in = received[i].msg_hdr;
            in = {};
            in.msg_name = &askers[i];
            in.msg_namelen = size_of(v6);
            in.msg_iov = &query_parts[i];
            in.msg_iovlen = 1;
            if (wildcard) in.msg_control = controls[i].bytes.data();
            auto& out = to_send[i].msg_hdr;
            out = {};
            out.msg_namelen = size_of(v6);
            out.msg_iov = &reply_parts[i];
            out.msg_iovlen = 1;
            if (wildcard) in.msg_controllen = sizeof(Control);
        }
    }

    // Replies lie side by side, so that a batch of usual ones touches few pages; the rest is never touched.
    static constexpr std::size_t replies_bytes = batch_packets * (max_message_bytes + 1);

    std::vector<char> queries;
    std::unique_ptr<char[]> replies;  // not a vector: that would touch all of it
    std::array<SocketAddress, batch_packets> askers;
    std::array<Control, batch_packets> controls;
    std::array<iovec, batch_packets> query_parts, reply_parts;
    std::array<mmsghdr, batch_packets> received, to_send;
    std::string special;
};

UdpLoop::UdpLoop(net::Fd socket, bool v6, bool wildcard, const WorkerParts& parts)
    : socket_(std::move(socket)),
      v6_(v6),
      wildcard_(wildcard),
      worker_(parts),
      batch_(std::make_unique<Batch>(v6, wildcard)) {}

UdpLoop::~UdpLoop() = default;

void UdpLoop::run() {
    while (!stopping_.load(std::memory_order_relaxed)) {
        const int received = recvmmsg(socket_.get(), batch_->received.data(), batch_packets, MSG_WAITFORONE, nullptr);
        if (received < 0) {
            if (errno == EAGAIN || errno == EINTR) continue;  // nothing came for a while
            counts_.receive_errors.add();
            (void)::poll(nullptr, 0, error_pause_ms);  // whatever it is, it is not to take the whole core
            continue;
        }
        worker_.pin();
        const auto replies = answer(static_cast<std::size_t>(received));
        worker_.unpin();
        send(replies);
    }
}

void UdpLoop::stop() {
    stopping_.store(true, std::memory_order_relaxed);
    // Wakes the thread up (it says ENOTCONN all the same). Were it not so, it would look within a second.
    (void)::shutdown(socket_.get(), SHUT_RD);
}

std::size_t UdpLoop::answer(std::size_t received) {
    auto& batch = *batch_;
    std::size_t replies = 0;
    char* free = batch.replies.get();
    char* const end = free + Batch::replies_bytes;
    Asker asker;
    for (std::size_t i = 0; i < received; ++i) {
        auto& in = batch.received[i];
        const std::string_view packet(batch.queries.data() + i * query_stride, in.msg_len);
        asker.address = from_socket(batch.askers[i]);
        auto reply = worker_.answer(packet, asker, {free, end});
        if (reply.kind == Reply::Kind::special) {
            const auto source = worker_.special(packet, asker);
            if (source && source->next(batch.special) && batch.special.size() <= max_message_bytes) {
                std::memcpy(free, batch.special.data(), batch.special.size());
                reply = {Reply::Kind::message, batch.special.size()};
            }
        }
        if (reply.kind == Reply::Kind::message) {
            batch.reply_parts[replies] = {free, reply.size};
            auto& out = batch.to_send[replies].msg_hdr;
            out.msg_name = &batch.askers[i];
            if (wildcard_) {
                free_interface(in.msg_hdr);
                out.msg_control = in.msg_hdr.msg_control;
                out.msg_controllen = in.msg_hdr.msg_controllen;
            }
            free += reply.size;
            ++replies;
        }
        in.msg_hdr.msg_namelen = size_of(v6_);
        if (wildcard_) in.msg_hdr.msg_controllen = sizeof(Control);
    }
    return replies;
}

void UdpLoop::send(std::size_t replies) {
    int patience = room_waits;
    for (std::size_t sent = 0; sent < replies;) {
        const int done =
            sendmmsg(socket_.get(), batch_->to_send.data() + sent, static_cast<unsigned>(replies - sent), MSG_DONTWAIT);
        if (done > 0) {
            sent += static_cast<std::size_t>(done);
        } else if (errno == EAGAIN) {
            if (wait_for_room(patience)) continue;
            counts_.dropped.add(replies - sent);
            return;
        } else if (errno != EINTR) {
            // The first of the rest: an asker that nothing can be sent to, such as one with port 0.
            counts_.send_errors.add();
            ++sent;
        }
    }
}

bool UdpLoop::wait_for_room(int& patience) const {
    while (patience-- > 0) {
        pollfd room{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
        if (::poll(&room, 1, room_wait_ms) > 0) return true;
    }
    return false;
}

}  // namespace fairlead::dnsserver
