#include "provider/zonefile/command.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/text.h"
#include "net/handles.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace fairlead::provider::zonefile {

namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

// In a process group of its own, so that a time limit ends its children too.
Result<pid_t> start(const std::vector<std::string>& words, int output) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: C wants it so
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);  // our threads block signals
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    pid_t pid = 0;
    const int failed = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == 0) return pid;
    return fail(Errc::unavailable, fmt::format("cannot start {}: {}", words[0], error_text(failed)));
}

// What is there to be read, for at most `time`; false: the other side is closed.
bool read_some(int from, std::chrono::milliseconds time, std::string& out) {
    std::array<char, 4096> buffer{};
    pollfd waiting{from, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(time.count())) <= 0) return true;
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got <= 0) return got < 0 && errno == EINTR;
    const auto room = max_output_bytes - std::min(max_output_bytes, out.size());
    out.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
    return true;
}

// Until the program has ended, whatever it has left behind that may still write; false: the time is over.
bool wait_for_end(pid_t pid, int from, MonotonicTime deadline, const Clock& clock, std::string& out, int& status) {
    constexpr std::chrono::milliseconds look{20};
    for (bool open = true;;) {
        if (open) open = read_some(from, look, out);
        if (::waitpid(pid, &status, WNOHANG) == pid) {
            if (open) (void)read_some(from, std::chrono::milliseconds{0}, out);
            return true;
        }
        if (clock.monotonic() >= deadline) return false;
        if (!open) ::poll(nullptr, 0, static_cast<int>(look.count()));
    }
}

}  // namespace

Result<void> run_command(const std::vector<std::string>& words, std::chrono::milliseconds limit, const Clock& clock) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return fail(Errc::unavailable, fmt::format("cannot start {}: {}", words[0], error_text(errno)));
    }
    const net::Fd from(ends[0]);
    net::Fd to(ends[1]);
    const auto pid = start(words, to.get());
    to = net::Fd();
    if (!pid) return fail(pid.error());
    std::string output;
    int status = 0;
    const bool ended = wait_for_end(*pid, from.get(), clock.monotonic() + limit, clock, output, status);
    if (!ended) {
        ::kill(-*pid, SIGKILL);
        while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    const auto text = valid_utf8(trim(output));
    const auto told = text.empty() ? std::string() : fmt::format(": {}", text);
    if (!ended) {
        return fail(Errc::unavailable, fmt::format("{} takes longer than {} ms{}", words[0], limit.count(), told));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (WIFSIGNALED(status)) {
        return fail(Errc::unavailable, fmt::format("{} was ended by signal {}{}", words[0], WTERMSIG(status), told));
    }
    return fail(Errc::unavailable, fmt::format("{} ended with code {}{}", words[0], WEXITSTATUS(status), told));
}

}  // namespace fairlead::provider::zonefile
