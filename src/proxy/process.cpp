#include "proxy/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/files.h"
#include "base/text.h"
#include "net/socket_wait.h"

extern char** environ;

namespace fairlead::proxy {

namespace {

// A UNIX socket's path has 107 bytes, and HAProxy binds to a longer name before it renames it.
constexpr std::size_t max_directory_bytes = 80;

net::Fd open_pidfd(pid_t pid) { return net::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

bool readable(int fd, std::chrono::milliseconds timeout) {
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, static_cast<int>(timeout.count())) > 0;
}

struct Actions {
    Actions() {
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawnattr_init(&attributes);
        // Signals as a program expects them, whatever we block or handle ourselves.
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        sigdelset(&all, SIGKILL);
        sigdelset(&all, SIGSTOP);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    }
    ~Actions() {
        ::posix_spawn_file_actions_destroy(&files);
        ::posix_spawnattr_destroy(&attributes);
    }
    void redirect(const Program& program) {
        if (!program.directory.empty()) {
            ::posix_spawn_file_actions_addchdir_np(&files, program.directory.c_str());
        }
        ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&files, 1, program.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        ::posix_spawn_file_actions_adddup2(&files, 1, 2);
    }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
};

// The sockets under the numbers that the file has for them. What is returned must live until the process is started.
std::vector<net::Fd> pass(const std::vector<net::Fd>& sockets, Actions& actions) {
    // Away from the numbers that they get there, so that none is overwritten before its turn.
    std::vector<net::Fd> high;
    high.reserve(sockets.size());
    for (std::size_t i = 0; i < sockets.size(); ++i) {
        high.emplace_back(::fcntl(sockets[i].get(), F_DUPFD_CLOEXEC, first_socket + static_cast<int>(max_sockets)));
        ::posix_spawn_file_actions_adddup2(&actions.files, high.back().get(), first_socket + static_cast<int>(i));
    }
    return high;
}

Result<pid_t> run(const std::vector<std::string>& words, Actions& actions) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t pid = 0;
    const auto error =
        ::posix_spawn(&pid, words[0].c_str(), &actions.files, &actions.attributes, arguments.data(), environ);
    if (error != 0) return fail(Errc::internal, fmt::format("{}: {}", words[0], net::system_error_text(error)));
    return pid;
}

}  // namespace

Result<net::Fd> open_listener(const std::string& address) {
    const auto colon = address.rfind(':');
    if (colon == std::string::npos) return fail(Errc::invalid, fmt::format("'{}' is not ADDRESS:PORT", address));
    auto host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found) != 0) {
        return fail(Errc::invalid, fmt::format("'{}' is not ADDRESS:PORT", address));
    }
    const std::unique_ptr<addrinfo, net::Free<::freeaddrinfo>> owner(found);
    net::Fd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (found->ai_family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd.get(), 4096) != 0) {
        return fail(Errc::unavailable, fmt::format("{}: {}", address, net::system_error_text(errno)));
    }
    return fd;
}

Result<Process> Process::spawn(const Program& program, const std::vector<net::Fd>& sockets) {
    Actions actions;
    actions.redirect(program);
    const auto high = pass(sockets, actions);
    const auto pid = run(program.words, actions);
    if (!pid) return fail(pid.error());
    if (!program.pid_file.empty()) {
        if (auto written = write_file(program.pid_file, fmt::format("{}\n", *pid), 0600); !written) {
            ::kill(*pid, SIGKILL);
            ::waitpid(*pid, nullptr, 0);
            return fail(written.error());
        }
    }
    return Process(*pid, open_pidfd(*pid));
}

std::optional<Process> Process::adopt(const std::filesystem::path& pid_file, std::string_view mark) {
    const auto text = read_file(pid_file);
    if (!text) return std::nullopt;
    const auto pid = parse_int(trim(*text));
    if (!pid || *pid <= 1) return std::nullopt;
    auto pidfd = open_pidfd(static_cast<pid_t>(*pid));
    if (pidfd.get() < 0) return std::nullopt;
    const auto command = read_file(fmt::format("/proc/{}/cmdline", *pid));
    if (!command || command->find(mark) == std::string::npos) return std::nullopt;
    return Process(static_cast<pid_t>(*pid), std::move(pidfd));
}

bool Process::alive() {
    if (!readable(pidfd_.get(), std::chrono::milliseconds(0))) return true;
    ::waitpid(pid_, nullptr, WNOHANG);  // if it is our child
    return false;
}

void Process::signal(int number) const { ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0); }

std::optional<net::Fd> Process::socket(int number) const {
    net::Fd fd(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd_.get(), number, 0)));
    if (fd.get() < 0) return std::nullopt;
    ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
    return fd;
}

bool Process::wait(std::chrono::milliseconds timeout) {
    if (!readable(pidfd_.get(), timeout)) return false;
    ::waitpid(pid_, nullptr, WNOHANG);
    return true;
}

Ended run_to_end(const Program& program, const std::vector<net::Fd>& sockets) {
    Actions actions;
    actions.redirect(program);
    const auto high = pass(sockets, actions);
    const auto pid = run(program.words, actions);
    if (!pid) return {.said = pid.error().text()};
    int status = 0;
    while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
    }
    return {.good = WIFEXITED(status) && WEXITSTATUS(status) == 0, .said = read_file(program.log).value_or("")};
}

Result<net::Fd> take_directory(const std::filesystem::path& directory, const std::vector<std::string>& parts) {
    std::error_code error;
    const auto text = directory.string();
    const auto plain = [](char c) { return c > ' ' && c < 0x7f && std::strchr("\"'\\#,;${}", c) == nullptr; };
    if (text.size() > max_directory_bytes || !std::all_of(text.begin(), text.end(), plain)) {
        return fail(Errc::invalid, "directory",
                    fmt::format("'{}' is longer than {} bytes, or has characters that a proxy's file cannot have", text,
                                max_directory_bytes));
    }
    auto all = parts;
    all.insert(all.begin(), "");
    for (const auto& part : all) {
        std::filesystem::create_directories(directory / part, error);
        if (error) return fail(Errc::unavailable, "directory", fmt::format("{}: {}", text, error.message()));
        std::filesystem::permissions(directory / part, std::filesystem::perms::owner_all, error);
    }
    net::Fd lock(::open((directory / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (lock.get() < 0) {
        return fail(Errc::unavailable, "directory", fmt::format("{}/lock: {}", text, net::system_error_text(errno)));
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        return fail(Errc::conflict, "directory", fmt::format("{} is in use by another router", text));
    }
    return lock;
}

Result<void> put_file(const std::filesystem::path& path, std::string_view text) {
    if (const auto now = read_file(path); now && *now == text) return {};
    return write_file(path, text, 0600);
}

DeathWatch::DeathWatch(const Process& process, std::function<void()> call)
    : process_(::fcntl(process.watch(), F_DUPFD_CLOEXEC, 0)), stop_(::eventfd(0, EFD_CLOEXEC)) {
    thread_ = std::thread([this, call = std::move(call)] {
        std::array<pollfd, 2> both{pollfd{.fd = process_.get(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
        while (::poll(both.data(), both.size(), -1) < 0 && errno == EINTR) {
        }
        if (both[1].revents == 0) call();
    });
}

DeathWatch::~DeathWatch() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
}

}  // namespace fairlead::proxy
