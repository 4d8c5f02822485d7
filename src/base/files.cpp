#include "base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace fairlead {
namespace {

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

tl::unexpected<Error> failed(std::string_view what, const std::filesystem::path& path) {
    const int error = errno;
    return fail(error == ENOENT ? Errc::not_found : Errc::internal,
                fmt::format("cannot {} {}: {}", what, path.string(), std::generic_category().message(error)));
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return failed("open", path);
    std::string content;
    std::array<char, 65536> buffer;
    while (true) {
        const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed("read", path);
        if (got == 0) return content;
        content.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

std::string file_stamp(const std::filesystem::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return {};
    return fmt::format("{}.{}/{}/{}", info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size, info.st_ino);
}

Result<void> write_file(const std::filesystem::path& path, std::string_view content, mode_t mode) {
    const std::filesystem::path beside = path.string() + fmt::format(".{}.tmp", ::getpid());
    {
        const Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
        if (file.get() < 0) return failed("create", beside);
        if (::fchmod(file.get(), mode) != 0) return failed("set the mode of", beside);  // the umask does not decide
        while (!content.empty()) {
            const ssize_t put = ::write(file.get(), content.data(), content.size());
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return failed("write", beside);
            content.remove_prefix(static_cast<std::size_t>(put));
        }
        if (::fsync(file.get()) != 0) return failed("sync", beside);
    }
    if (::rename(beside.c_str(), path.c_str()) != 0) return failed("rename to", path);
    return {};
}

void notify_service_manager(std::string_view state) {
    const char* socket_path = std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe): nobody sets variables
    if (socket_path == nullptr) return;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t size = std::strlen(socket_path);
    if (size == 0 || size >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, socket_path, size);
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // systemd's way to write an abstract socket
    const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) return;
    // Best effort: a service manager that does not listen must not stop us.
    (void)::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size));
}

}  // namespace fairlead
