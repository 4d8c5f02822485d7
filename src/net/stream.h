// Bytes to and from one connected, non-blocking socket, plain or TLS. A call does what can be done now and says what to
// wait for; the session does the waiting. That keeps the event loop out of TLS, and each implementation small.
// Not thread-safe: a stream belongs to its session's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/http.h"

namespace fairlead::net {

class Stream {
public:
    enum class State {
        done,        // `bytes` were moved (or the handshake is complete)
        want_read,   // call again when the socket is readable
        want_write,  // call again when the socket is writable
        end,         // the peer will send no more
        failed,      // the connection is of no use any more
    };
    struct Outcome {
        State state;
        std::size_t bytes = 0;
    };

    virtual ~Stream() = default;
    virtual Outcome handshake() = 0;
    virtual Outcome read(std::span<char> into) = 0;
    // May take less than given. After want_*, call again with the same bytes (they may have moved in memory).
    virtual Outcome write(std::string_view bytes) = 0;
    // True if bytes wait inside the stream, which no poll of the socket would announce.
    [[nodiscard]] virtual bool has_buffered() const = 0;
    // Tells the peer that nothing more will be written; best effort.
    virtual void finish() = 0;
    // Fills in what the transport knows about the peer. After the handshake.
    virtual void identify(Peer& peer) const = 0;
    // Why the last call failed, for logs.
    [[nodiscard]] virtual std::string error() const = 0;
};

// The socket stays the caller's and outlives the stream.
std::unique_ptr<Stream> make_tcp_stream(int socket);

}  // namespace fairlead::net
