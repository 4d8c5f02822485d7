#include "dnsserver/udp_outbox.h"

#include <netinet/udp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace fairlead::dnsserver {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t max_segments = 64;       // what every kernel with UDP_SEGMENT takes
constexpr std::size_t max_run_bytes = 65'000;  // of one datagram before it is cut
constexpr int room_wait_ms = 10;
constexpr int room_waits = 10;  // then the rest is dropped: resolvers ask again, and newer queries wait

}  // namespace

UdpOutbox::UdpOutbox(int socket, bool v6, UdpCounts& counts)
    : socket_(socket), counts_(counts), bytes_(new char[buffer_bytes]), free_(bytes_.get()) {
    for (std::size_t i = 0; i < max_runs; ++i) {
        auto& message = messages_[i].msg_hdr;
        message = {};
        message.msg_namelen = size_of(v6);
        message.msg_iov = &parts_[i];
        message.msg_iovlen = 1;
    }
}

std::span<char> UdpOutbox::room() {
    if (runs_ == max_runs || static_cast<std::size_t>(bytes_.get() + buffer_bytes - free_) < max_message_bytes) flush();
    return {free_, max_message_bytes};
}

void UdpOutbox::add(std::size_t size, const ReplyTo& to) {
    if (runs_ > 0) {
        auto& last = run_[runs_ - 1];
        const bool fits = !last.closed && last.to.address == to.address && size <= last.segment &&
                          last.count < max_segments && parts_[runs_ - 1].iov_len + size <= max_run_bytes;
        if (fits) {
            last.closed = size < last.segment;
            ++last.count;
            parts_[runs_ - 1].iov_len += size;
            free_ += size;
            return;
        }
    }
    run_[runs_] = {to, size, 1, false};
    parts_[runs_] = {free_, size};
    free_ += size;
    ++runs_;
}

void UdpOutbox::prepare(std::size_t i) {
    auto& message = messages_[i].msg_hdr;
    const auto& run = run_[i];
    message.msg_name = run.to.address;
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    if (run.count == 1 && run.to.from.empty()) return;
    char* control = controls_[i].bytes.data();
    std::copy(run.to.from.begin(), run.to.from.end(), control);
    std::size_t size = run.to.from.size();
    if (run.count > 1) {
        const auto segment = static_cast<std::uint16_t>(run.segment);
        cmsghdr header{};
        header.cmsg_level = SOL_UDP;
        header.cmsg_type = UDP_SEGMENT;
        header.cmsg_len = CMSG_LEN(sizeof segment);
        std::memcpy(control + size, &header, sizeof header);
        std::memcpy(control + size + CMSG_LEN(0), &segment, sizeof segment);
        size += CMSG_SPACE(sizeof segment);
    }
    message.msg_control = control;
    message.msg_controllen = size;
}

void UdpOutbox::flush() {
    for (std::size_t i = 0; i < runs_; ++i) prepare(i);
    int patience = room_waits;
    for (std::size_t sent = 0; sent < runs_;) {
        const int done = sendmmsg(socket_, messages_.data() + sent, static_cast<unsigned>(runs_ - sent), MSG_DONTWAIT);
        if (done > 0) {
            sent += static_cast<std::size_t>(done);
        } else if (errno == EAGAIN) {
            if (wait_for_room(patience)) continue;
            for (; sent < runs_; ++sent) counts_.dropped.add(run_[sent].count);
        } else if (errno != EINTR) {
            refused(sent++);
        }
    }
    runs_ = 0;
    free_ = bytes_.get();
}

// Not every path takes segments (one whose packets are smaller, a device without checksums): each reply by itself then.
// One that is refused by itself goes to an asker that nothing can be sent to, such as one with port 0.
void UdpOutbox::refused(std::size_t i) {
    const auto& run = run_[i];
    auto message = messages_[i].msg_hdr;
    if (run.count == 1) return counts_.send_errors.add();
    message.msg_controllen = run.to.from.size();
    if (message.msg_controllen == 0) message.msg_control = nullptr;
    const char* end = static_cast<char*>(parts_[i].iov_base) + parts_[i].iov_len;
    for (char* at = static_cast<char*>(parts_[i].iov_base); at < end; at += run.segment) {
        iovec part{at, std::min(run.segment, static_cast<std::size_t>(end - at))};
        message.msg_iov = &part;
        if (sendmsg(socket_, &message, MSG_DONTWAIT) < 0) counts_.send_errors.add();
    }
}

bool UdpOutbox::wait_for_room(int& patience) const {
    while (patience-- > 0) {
        pollfd room{.fd = socket_, .events = POLLOUT, .revents = 0};
        if (::poll(&room, 1, room_wait_ms) > 0) return true;
    }
    return false;
}

}  // namespace fairlead::dnsserver
