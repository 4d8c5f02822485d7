#include "dnsserver/tcp_connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace fairlead::dnsserver {
namespace {

constexpr std::size_t length_bytes = 2;
constexpr std::size_t read_bytes = 16UL * 1'024;  // at a time, so that one client does not keep the others waiting
constexpr int rounds = 16;                        // of answering and writing at a time, for the same reason

std::size_t length_at(const std::string& bytes, std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])) << 8 |
           static_cast<unsigned char>(bytes[at + 1]);
}

}  // namespace

TcpConnection::TcpConnection(net::Fd socket, const dns::Address& client, const TcpLimits& limits, MonotonicTime now)
    : socket_(std::move(socket)),
      limits_(limits),
      asker_{client, true},
      opened_(now),
      quiet_since_(now),
      window_since_(now),
      source_since_(now) {}

bool TcpConnection::wants_to_read() const { return !last_ && !source_ && has_room() && !front(); }

bool TcpConnection::wants_to_write() const { return waiting() > 0 || source_ || front(); }

std::optional<std::string_view> TcpConnection::front() const {
    const auto held = in_.size() - taken_;
    if (held < length_bytes) return std::nullopt;
    const auto length = length_at(in_, taken_);
    if (held < length_bytes + length) return std::nullopt;
    return std::string_view(in_).substr(taken_ + length_bytes, length);
}

void TcpConnection::readable(Worker& worker, std::span<char> scratch, MonotonicTime now) {
    if (ended_ || !wants_to_read()) return;
    std::array<char, read_bytes> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): recv fills it
    const auto got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0) {
        if (errno != EAGAIN && errno != EINTR) end(TcpEnd::client);
        return;
    }
    if (got == 0) {
        last_ = TcpEnd::client;  // it may still want to read what it asked for
    } else {
        in_.append(bytes.data(), static_cast<std::size_t>(got));
    }
    go_on(worker, scratch, now);
}

void TcpConnection::writable(Worker& worker, std::span<char> scratch, MonotonicTime now) {
    if (ended_) return;
    flush(now);
    go_on(worker, scratch, now);
}

// Answers and writes in turns, until the client does not take more or there is nothing to do.
void TcpConnection::go_on(Worker& worker, std::span<char> scratch, MonotonicTime now) {
    for (int round = 0; round < rounds && !ended_; ++round) {
        if (!has_room() || (!source_ && !front())) break;
        answer_waiting(worker, scratch, now);
        flush(now);
    }
    if (last_ && waiting() == 0 && !source_ && !front()) end(*last_);
}

void TcpConnection::answer_waiting(Worker& worker, std::span<char> scratch, MonotonicTime now) {
    worker.pin();
    while (has_room()) {
        if (source_) {
            pull_source(now);
            continue;
        }
        const auto packet = front();
        if (!packet) break;
        taken_ += length_bytes + packet->size();
        answer_one(worker, *packet, scratch, now);
    }
    worker.unpin();
    in_.erase(0, taken_);
    taken_ = 0;
}

void TcpConnection::answer_one(Worker& worker, std::string_view packet, std::span<char> scratch, MonotonicTime now) {
    quiet_since_ = now;
    const auto reply = worker.answer(packet, asker_, scratch);
    switch (reply.kind) {
        case Reply::Kind::message:
            queue({scratch.data(), reply.size}, now);
            break;
        case Reply::Kind::special:
            source_ = worker.special(packet, asker_);
            source_since_ = now;
            break;
        case Reply::Kind::silence:
            // Over UDP anybody may be made to send us such things; here the client did it.
            last_ = TcpEnd::garbage;
            break;
    }
    if (++queries_ >= limits_.max_queries && !last_) last_ = TcpEnd::queries;
    if (last_ == TcpEnd::garbage || last_ == TcpEnd::queries) taken_ = in_.size();  // the rest is not answered
}

void TcpConnection::pull_source(MonotonicTime now) {
    if (source_->next(message_) && message_.size() <= max_message_bytes) {
        queue(message_, now);
        return;
    }
    source_.reset();
    message_ = {};
    quiet_since_ = now;
}

void TcpConnection::queue(std::string_view message, MonotonicTime now) {
    if (waiting() == 0) {
        window_since_ = now;
        window_bytes_ = 0;
    }
    out_.push_back(static_cast<char>(message.size() >> 8));
    out_.push_back(static_cast<char>(message.size() & 0xff));
    out_.append(message);
}

void TcpConnection::flush(MonotonicTime now) {
    while (waiting() > 0) {
        const auto sent = ::send(socket_.get(), out_.data() + written_, waiting(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN) end(TcpEnd::client);
            break;
        }
        written_ += static_cast<std::size_t>(sent);
        window_bytes_ += static_cast<std::size_t>(sent);
    }
    if (waiting() > 0) {
        // What the client is slow to take is kept once, at the front.
        if (written_ >= limits_.max_waiting_bytes) {
            out_.erase(0, written_);
            written_ = 0;
        }
        return;
    }
    if (!out_.empty()) quiet_since_ = now;
    out_.clear();
    written_ = 0;
}

void TcpConnection::check(MonotonicTime now) {
    if (now - opened_ >= limits_.lifetime && !source_) return end(TcpEnd::lifetime);
    if (source_ && now - source_since_ >= limits_.transfer) return end(TcpEnd::transfer);
    if (waiting() > 0) {
        if (now - window_since_ < limits_.progress) return;
        if (window_bytes_ < limits_.min_progress_bytes) return end(TcpEnd::slow);
        window_since_ = now;
        window_bytes_ = 0;
        return;
    }
    if (!source_ && now - quiet_since_ >= limits_.idle) end(TcpEnd::idle);
}

}  // namespace fairlead::dnsserver
