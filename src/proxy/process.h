// A proxy's master process: started in a session of its own, so that it outlives us; found again by its pid file; told
// by signals. It may inherit listening sockets, which we keep too: when it dies, clients wait in the queue for the next
// one instead of being refused. Used by the drivers of HAProxy and nginx, each by its own thread alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "net/handles.h"

namespace fairlead::proxy {

// Number of the first inherited socket in the master; the others follow.
inline constexpr int first_socket = 200;
inline constexpr std::size_t max_sockets = 64;

// "127.0.0.1:8080" or "[::1]:8080". Errors: invalid, or unavailable ("127.0.0.1:8080: Address already in use").
Result<net::Fd> open_listener(const std::string& address);

// What is started, and where it leaves its traces.
struct Program {
    std::vector<std::string> words;    // the program's path first
    std::filesystem::path directory;   // where it works; empty: where we do
    std::filesystem::path log;         // what it says, cut at every start
    std::filesystem::path pid_file{};  // written by us; empty: none
};

class Process {
public:
    // Starts it with the sockets as `first_socket` and following. Errors: internal.
    static Result<Process> spawn(const Program& program, const std::vector<net::Fd>& sockets);
    // The one of this pid file, if it runs and has `mark` in its command line: the number may be somebody else's.
    static std::optional<Process> adopt(const std::filesystem::path& pid_file, std::string_view mark);

    [[nodiscard]] pid_t pid() const { return pid_; }
    // Reads a descriptor that is readable when the process has ended.
    [[nodiscard]] int watch() const { return pidfd_.get(); }
    [[nodiscard]] bool alive();
    void signal(int number) const;
    // A copy of one of its sockets; nothing if the kernel forbids it.
    [[nodiscard]] std::optional<net::Fd> socket(int number) const;
    // True: it has ended within that time.
    bool wait(std::chrono::milliseconds timeout);

private:
    Process(pid_t pid, net::Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
    pid_t pid_;
    net::Fd pidfd_;
};

// Runs a program to its end: how a proxy is asked about its files.
struct Ended {
    bool good = false;  // exit status 0
    std::string said;
};
Ended run_to_end(const Program& program, const std::vector<net::Fd>& sockets);

// A folder of one driver: made (0700, with these folders in it), and locked while the handle lives. Errors: invalid for
// a name that a proxy's file or a socket cannot have; conflict: another driver has it; unavailable.
Result<net::Fd> take_directory(const std::filesystem::path& directory, const std::vector<std::string>& parts);

// Writes the file, unless it already says so: fewer writes, and its time tells when it changed.
Result<void> put_file(const std::filesystem::path& path, std::string_view text);

// A thread that calls when the process has ended, once.
class DeathWatch {
public:
    DeathWatch(const Process& process, std::function<void()> call);
    ~DeathWatch();
    DeathWatch(const DeathWatch&) = delete;
    DeathWatch& operator=(const DeathWatch&) = delete;

private:
    net::Fd process_, stop_;
    std::thread thread_;
};

}  // namespace fairlead::proxy
