#include "proxy/haproxy/access_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "net/socket_wait.h"

namespace fairlead::proxy::haproxy {

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::filesystem::path& socket, std::filesystem::path file,
                                                   Metrics& metrics) {
    std::unique_ptr<AccessLog> log(new AccessLog(std::move(file), metrics));
    if (!log->reopen()) {
        return fail(Errc::unavailable, "access log",
                    fmt::format("{}: {}", log->file_.string(), net::system_error_text(errno)));
    }
    auto opened = LineSocket::open(
        socket, [raw = log.get()](std::string_view lines, std::size_t count) { raw->take(lines, count); });
    if (!opened) return fail(opened.error());
    log->socket_ = std::move(*opened);
    return log;
}

AccessLog::AccessLog(std::filesystem::path file, Metrics& metrics)
    : file_(std::move(file)),
      lines_(metrics.counter("fairlead_proxy_access_log_lines_total", "Lines of the access log.")),
      lost_(metrics.counter("fairlead_proxy_access_log_lost_total", "Lines that could not be written.")) {}

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

void AccessLog::take(std::string_view lines, std::size_t count) {
    lines_.add(static_cast<double>(count));
    if (reopen()) {
        write(lines);
    } else {
        lost_.add();
    }
}

}  // namespace fairlead::proxy::haproxy
