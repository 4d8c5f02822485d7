// An emulator of tests/integration as a process, for tests in C++.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "json/value.h"
#include "net/client.h"
#include "paths/paths.h"

namespace fairlead::emulator {

// Until the end of the test. It prints "ready URL", and ends when its standard input does.
class Process {
public:
    explicit Process(const std::string& name, const std::vector<std::string>& arguments = {}) {
        int in[2] = {-1, -1};
        int out[2] = {-1, -1};
        if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
        const std::string script = paths::sources() / "tests/integration" / name;
        std::vector<std::string> words{"python3", "-B", script};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        for (auto& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            execvp(argv[0], argv.data());
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        input_ = in[1];
        std::string line;
        char c = 0;
        while (read(out[0], &c, 1) == 1 && c != '\n') line += c;
        close(out[0]);
        if (line.starts_with("ready ")) url = line.substr(6);
    }
    ~Process() {
        if (input_ >= 0) close(input_);
        if (pid_ > 0) {
            kill(pid_, SIGTERM);
            waitpid(pid_, nullptr, 0);
        }
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    json::Value post(const std::string& what, const std::string& body) const {
        net::ClientOptions options;
        options.base_url = url;
        net::ClientRequest request;
        request.method = body.empty() ? "GET" : "POST";
        request.target = "/_emulator/" + what;
        request.body = body;
        const auto response = net::Client(std::move(options)).send(request);
        EXPECT_TRUE(response && response->status == 200)
            << what << (response ? response->body : response.error().text());
        return response ? json::parse(response->body).value_or(json::Value()) : json::Value();
    }
    void configure(const std::string& json) const { (void)post("config", json); }
    [[nodiscard]] json::Value state() const { return post("state", ""); }
    [[nodiscard]] std::int64_t requests(const std::string& operation) const {
        const auto now = state();
        const auto* count = now.at("requests").get_object().if_contains(operation);
        return count == nullptr ? 0 : count->to_number<std::int64_t>();
    }

    std::string url;

private:
    pid_t pid_ = -1;
    int input_ = -1;
};

}  // namespace fairlead::emulator
