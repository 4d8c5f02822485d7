// Real programs for tests: started in a folder of their own, on free ports of loopback, stopped by their id.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fairlead::provider {

// A folder that goes with the object.
class TempDir {
public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    void write(const std::string& name, const std::string& text) const;
    [[nodiscard]] std::string read(const std::string& name) const;

private:
    std::filesystem::path path_;
};

// A port that is free for UDP and TCP at 127.0.0.1.
int free_port();
// Whether the program can be started at all.
bool installed(const std::string& program);

// A process in the background; its output goes to `log`.
class Process {
public:
    Process() = default;
    Process(const std::vector<std::string>& command, const std::filesystem::path& log);
    ~Process() { stop(); }
    Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
    Process& operator=(Process&& other) noexcept {
        stop();
        pid_ = std::exchange(other.pid_, 0);
        return *this;
    }
    void stop();
    [[nodiscard]] bool running() const;

private:
    int pid_ = 0;
};

struct Ran {
    int code = 0;
    std::string out;  // both outputs
};
// Waits for its end.
Ran run(const std::vector<std::string>& command, const std::string& input = {});
// Lines of `dig +short` at 127.0.0.1, sorted.
std::vector<std::string> dig(int port, const std::string& name, const std::string& type);
// Until somebody listens there; false after 20 seconds.
bool wait_for_port(int port);

}  // namespace fairlead::provider
