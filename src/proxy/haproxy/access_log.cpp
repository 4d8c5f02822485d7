#include "proxy/haproxy/access_log.h"
#include "net/socket_wait.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace fairlead::proxy::haproxy {

namespace {

constexpr int receive_bytes = 4 << 20;            // some 10,000 lines: a second of a busy proxy
constexpr std::size_t max_line_bytes = 8192 + 1;  // as in HAProxy's file
constexpr std::size_t batch_bytes = 256UL << 10;

}  // namespace

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::filesystem::path& socket, std::filesystem::path file,
                                                   Metrics& metrics) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto name = socket.string();
    if (name.size() >= sizeof(address.sun_path)) return fail(Errc::invalid, fmt::format("{}: too long", name));
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    net::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::unlink(name.c_str());
    if (fd.get() < 0 || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return fail(Errc::unavailable, fmt::format("{}: {}", name, net::system_error_text(errno)));
    }
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    net::Fd stop(::eventfd(0, EFD_CLOEXEC));
    std::unique_ptr<AccessLog> log(new AccessLog(std::move(fd), std::move(stop), std::move(file), metrics));
    if (!log->reopen()) {
        return fail(Errc::unavailable, "access log",
                    fmt::format("{}: {}", log->file_.string(), net::system_error_text(errno)));
    }
    log->thread_ = std::thread([raw = log.get()] { raw->run(); });
    return log;
}

AccessLog::AccessLog(net::Fd socket, net::Fd stop, std::filesystem::path file, Metrics& metrics)
    : socket_(std::move(socket)),
      stop_(std::move(stop)),
      file_(std::move(file)),
      lines_(metrics.counter("fairlead_proxy_access_log_lines_total", "Lines of the access log.")),
      lost_(metrics.counter("fairlead_proxy_access_log_lost_total", "Lines that could not be written.")) {}

AccessLog::~AccessLog() {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
}

bool AccessLog::reopen() {
    if (file_ == "-") {
        if (out_.get() < 0) out_ = net::Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
        return out_.get() >= 0;
    }
    struct stat now {};
    if (out_.get() >= 0 && ::stat(file_.c_str(), &now) == 0 && now.st_ino == inode_) return true;
    net::Fd fd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
    if (fd.get() < 0 || ::fstat(fd.get(), &now) != 0) return false;
    out_ = std::move(fd);
    inode_ = now.st_ino;
    return true;
}

void AccessLog::write(std::string_view lines) {
    while (!lines.empty()) {
        const auto done = ::write(out_.get(), lines.data(), lines.size());
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            lost_.add();
            return;
        }
        lines.remove_prefix(static_cast<std::size_t>(done));
    }
}

void AccessLog::run() {
    std::array<char, max_line_bytes> buffer{};
    std::string lines;
    for (bool stopping = false; !stopping;) {
        std::array<pollfd, 2> both{pollfd{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
        if (::poll(both.data(), both.size(), -1) < 0) continue;
        stopping = both[1].revents != 0;
        lines.clear();
        while (lines.size() < batch_bytes) {
            const auto got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
            if (got <= 0) break;
            lines.append(buffer.data(), static_cast<std::size_t>(got));
            if (lines.back() != '\n') lines += '\n';
            lines_.add();
        }
        if (lines.empty()) continue;
        if (reopen()) {
            write(lines);
        } else {
            lost_.add();
        }
    }
}

}  // namespace fairlead::proxy::haproxy
