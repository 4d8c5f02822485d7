#include "proxy/line_socket.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "net/socket_wait.h"

namespace fairlead::proxy {

namespace {

constexpr int receive_bytes = 4 << 20;            // some 10,000 lines: a second of a busy proxy
constexpr std::size_t max_line_bytes = 8192 + 1;  // as in HAProxy's file
constexpr std::size_t batch_bytes = 256UL << 10;

}  // namespace

Result<std::unique_ptr<LineSocket>> LineSocket::open(const std::filesystem::path& path, Take take) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto name = path.string();
    if (name.size() >= sizeof(address.sun_path)) return fail(Errc::invalid, fmt::format("{}: too long", name));
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    net::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::unlink(name.c_str());
    // Sockets speak sockaddr.
    const auto* where =
        reinterpret_cast<const sockaddr*>(&address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    if (fd.get() < 0 || ::bind(fd.get(), where, sizeof address) != 0) {
        return fail(Errc::unavailable, fmt::format("{}: {}", name, net::system_error_text(errno)));
    }
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    net::Fd stop(::eventfd(0, EFD_CLOEXEC));
    return std::unique_ptr<LineSocket>(new LineSocket(std::move(fd), std::move(stop), std::move(take)));
}

LineSocket::LineSocket(net::Fd socket, net::Fd stop, Take take)
    : socket_(std::move(socket)), stop_(std::move(stop)), take_(std::move(take)), thread_([this] { run(); }) {}

LineSocket::~LineSocket() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
}

void LineSocket::run() {
    std::array<char, max_line_bytes> buffer{};
    std::string lines;
    for (bool stopping = false; !stopping;) {
        std::array<pollfd, 2> both{pollfd{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
        if (::poll(both.data(), both.size(), -1) < 0) continue;
        stopping = both[1].revents != 0;
        lines.clear();
        std::size_t count = 0;
        while (lines.size() < batch_bytes) {
            const auto got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
            if (got <= 0) break;
            lines.append(buffer.data(), static_cast<std::size_t>(got));
            if (lines.back() != '\n') lines += '\n';
            ++count;
        }
        if (count > 0) take_(lines, count);
    }
}

}  // namespace fairlead::proxy
