// A Stream over a plain TCP socket.
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "net/stream.h"

namespace fairlead::net {
namespace {

class TcpStream final : public Stream {
public:
    explicit TcpStream(int socket) : socket_(socket) {}

    Outcome handshake() override { return {State::done}; }

    Outcome read(std::span<char> into) override {
        for (;;) {
            const auto got = ::recv(socket_, into.data(), into.size(), 0);
            if (got > 0) return {State::done, static_cast<std::size_t>(got)};
            if (got == 0) return {State::end};
            if (errno == EINTR) continue;
            if (errno == EAGAIN) return {State::want_read};
            error_ = errno;
            return {State::failed};
        }
    }

    Outcome write(std::string_view bytes) override {
        for (;;) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent >= 0) return {State::done, static_cast<std::size_t>(sent)};
            if (errno == EINTR) continue;
            if (errno == EAGAIN) return {State::want_write};
            error_ = errno;
            return {State::failed};
        }
    }

    [[nodiscard]] bool has_buffered() const override { return false; }
    void finish() override { ::shutdown(socket_, SHUT_WR); }
    void identify(Peer&) const override {}
    [[nodiscard]] std::string error() const override { return std::generic_category().message(error_); }

private:
    int socket_;
    int error_ = 0;
};

}  // namespace

std::unique_ptr<Stream> make_tcp_stream(int socket) { return std::make_unique<TcpStream>(socket); }

}  // namespace fairlead::net
