// A real nats-server for tests, on a free port of loopback, that can be stopped and started again.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::gorouter {

inline bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    for (const auto deadline = std::chrono::steady_clock::now() + limit; !holds();) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

inline std::uint16_t free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(fd);
    return ntohs(address.sin_port);
}

class TempDir {
public:
    TempDir() {
        std::string path = (std::filesystem::temp_directory_path() / "gorouter-XXXXXX").string();
        path_ = ::mkdtemp(path.data());
    }
    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

inline pid_t run(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    return ::posix_spawnp(&pid, words[0].c_str(), nullptr, nullptr, arguments.data(), environ) == 0 ? pid : -1;
}

class NatsServer {
public:
    explicit NatsServer(std::vector<std::string> more = {}) : port_(free_port()), more_(std::move(more)) { start(); }
    ~NatsServer() { stop(); }
    void start() {
        std::vector<std::string> words = {"nats-server",         "-a", "127.0.0.1", "-p",
                                          std::to_string(port_), "-l", "/dev/null"};
        words.insert(words.end(), more_.begin(), more_.end());
        pid_ = run(words);
        EXPECT_GT(pid_, 0) << "nats-server is not installed";
    }
    void stop() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    [[nodiscard]] std::string url(const std::string& scheme = "nats") const {
        return scheme + "://127.0.0.1:" + std::to_string(port_);
    }

private:
    std::uint16_t port_;
    std::vector<std::string> more_;
    pid_t pid_ = 0;
};

}  // namespace fairlead::gorouter
