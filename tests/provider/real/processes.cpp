#include "provider/real/processes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "net/handles.h"
#include "net/tcp_client.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace fairlead::provider {

namespace {

constexpr std::chrono::seconds patience{20};

int spawn(const std::vector<std::string>& command, int in, int out) {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, out, 2);
    int pid = 0;
    const int failed = posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    EXPECT_EQ(failed, 0) << command[0];
    return failed == 0 ? pid : 0;
}

int bound_socket(int type, int port) {
    const int made = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(made, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return made;
    ::close(made);
    return -1;
}

}  // namespace

TempDir::TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "fairlead-provider-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
}

TempDir::~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void TempDir::write(const std::string& name, const std::string& text) const {
    const auto written = write_file(path_ / name, text);
    EXPECT_TRUE(written) << written.error().text();
}

std::string TempDir::read(const std::string& name) const { return read_file(path_ / name).value_or(""); }

int free_port() {
    while (true) {
        const net::Fd tcp(bound_socket(SOCK_STREAM, 0));
        sockaddr_in address{};
        socklen_t size = sizeof(address);
        ::getsockname(tcp.get(), reinterpret_cast<sockaddr*>(&address), &size);
        const net::Fd udp(bound_socket(SOCK_DGRAM, ntohs(address.sin_port)));
        if (udp.get() >= 0) return ntohs(address.sin_port);
    }
}

bool installed(const std::string& program) {
    const char* path = std::getenv("PATH");
    for (const auto folder : split(path != nullptr ? path : "/usr/bin", ':')) {
        if (::access((std::string(folder) + "/" + program).c_str(), X_OK) == 0) return true;
    }
    return false;
}

Process::Process(const std::vector<std::string>& command, const std::filesystem::path& log) {
    const net::Fd in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const net::Fd out(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    pid_ = spawn(command, in.get(), out.get());
}

void Process::stop() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGTERM);
    int status = 0;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > until) ::kill(pid_, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    pid_ = 0;
}

bool Process::running() const { return pid_ != 0 && ::kill(pid_, 0) == 0; }

Ran run(const std::vector<std::string>& command, const std::string& input) {
    const TempDir dir;
    dir.write("in", input);
    Ran ran;
    {
        const net::Fd in(::open((dir.path() / "in").c_str(), O_RDONLY | O_CLOEXEC));
        const net::Fd out(::open((dir.path() / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        const int pid = spawn(command, in.get(), out.get());
        int status = -1;
        if (pid != 0) ::waitpid(pid, &status, 0);
        ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    ran.out = dir.read("out");
    return ran;
}

std::vector<std::string> dig(int port, const std::string& name, const std::string& type) {
    const auto ran =
        run({"dig", "+short", "+tries=2", "+time=5", "@127.0.0.1", "-p", std::to_string(port), name, type});
    std::vector<std::string> lines;
    for (const auto line : split(ran.out, '\n')) {
        if (!line.empty()) lines.emplace_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

bool wait_for_port(int port) {
    const auto until = std::chrono::steady_clock::now() + patience;
    const net::HostPort to{"127.0.0.1", static_cast<std::uint16_t>(port)};
    while (std::chrono::steady_clock::now() < until) {
        if (net::TcpClient::connect(to, std::chrono::seconds{1})) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
}

}  // namespace fairlead::provider
