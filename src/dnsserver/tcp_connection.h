// One TCP connection of DNS (RFC 7766): messages behind their lengths, many at a time, answers in the order of the
// questions; what the client does not read is not made. Knows its own limits; TcpLoop tells it when the socket is ready
// and what time it is.
//
// Threads: that of the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "dnsserver/answer.h"
#include "dnsserver/message_source.h"
#include "dnsserver/worker.h"
#include "net/handles.h"

namespace fairlead::dnsserver {

struct TcpLimits {
    std::size_t max_connections = 1'000;  // at up to 200 KiB each for those who send much and read nothing: 200 MB
    std::size_t max_per_address = 250;    // an IPv6 client is its /64; a resolver needs a handful
    std::size_t max_queries = 1'000'000;  // of one connection
    // From one complete query to the next, whatever else was sent (RFC 7766 section 6.2.3 wants seconds).
    std::chrono::milliseconds idle{10'000};
    // While bytes wait for the client, it takes at least min_progress_bytes, or all, in each such time.
    std::chrono::milliseconds progress{10'000};
    std::size_t min_progress_bytes = 4'096;
    std::chrono::milliseconds lifetime{3'600'000};
    std::chrono::milliseconds transfer{600'000};   // of one answer of many messages
    std::size_t max_waiting_bytes = 64UL * 1'024;  // for the client; then nothing more is read or made
};

// Why a connection ended.
enum class TcpEnd {
    client,    // it closed, or the line broke
    idle,      // no query for too long
    slow,      // it does not take its answers
    lifetime,  // open for too long
    queries,   // it asked enough
    transfer,  // one answer took too long
    garbage,   // what it sent is no query
    place,     // it was idle and another needed its place
};
inline constexpr std::size_t tcp_ends = 8;

class TcpConnection {
public:
    TcpConnection(net::Fd socket, const dns::Address& client, const TcpLimits& limits, MonotonicTime now);

    // Reads what there is, answers, writes. `scratch` holds max_message_bytes, for one answer at a time.
    void readable(Worker& worker, std::span<char> scratch, MonotonicTime now);
    // Writes, and goes on with what had to wait for that.
    void writable(Worker& worker, std::span<char> scratch, MonotonicTime now);
    // Ends it if a limit has been reached.
    void check(MonotonicTime now);

    [[nodiscard]] std::optional<TcpEnd> ended() const { return ended_; }
    // Owes nothing and is owed a query: may give its place to another.
    [[nodiscard]] bool idle() const { return waiting() == 0 && !source_; }
    [[nodiscard]] MonotonicTime quiet_since() const { return quiet_since_; }
    [[nodiscard]] const dns::Address& client() const { return asker_.address; }
    [[nodiscard]] int socket() const { return socket_.get(); }
    [[nodiscard]] bool wants_to_read() const;
    [[nodiscard]] bool wants_to_write() const;

private:
    [[nodiscard]] std::size_t waiting() const { return out_.size() - written_; }
    [[nodiscard]] bool has_room() const { return waiting() < limits_.max_waiting_bytes; }
    // The complete message at the front of what was read, without its length.
    [[nodiscard]] std::optional<std::string_view> front() const;
    void go_on(Worker& worker, std::span<char> scratch, MonotonicTime now);
    void answer_waiting(Worker& worker, std::span<char> scratch, MonotonicTime now);
    void answer_one(Worker& worker, std::string_view packet, std::span<char> scratch, MonotonicTime now);
    void pull_source(MonotonicTime now);
    void queue(std::string_view message, MonotonicTime now);
    void flush(MonotonicTime now);
    void end(TcpEnd why) {
        if (!ended_) ended_ = why;
    }

    net::Fd socket_;
    const TcpLimits& limits_;
    Asker asker_;
    std::string in_;
    std::size_t taken_ = 0;  // of in_
    std::string out_;
    std::size_t written_ = 0;                // of out_
    std::unique_ptr<MessageSource> source_;  // of the answer that is being sent
    std::string message_;                    // from the source
    std::size_t queries_ = 0;
    std::optional<TcpEnd> last_;  // no more queries are taken; ends with this once all is written
    std::optional<TcpEnd> ended_;
    MonotonicTime opened_, quiet_since_, window_since_, source_since_;
    std::size_t window_bytes_ = 0;  // written since window_since_
};

}  // namespace fairlead::dnsserver
