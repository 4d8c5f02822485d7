// The access log: HAProxy sends a datagram for each request to a UNIX socket of ours, and a thread of ours writes them
// as lines. HAProxy never waits for it: what does not fit into the socket's buffer is lost, and so is what comes while
// no driver is there.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "base/fwd.h"
#include "base/metrics.h"
#include "base/result.h"
#include "net/handles.h"

namespace fairlead::proxy::haproxy {

class AccessLog {
public:
    // `file` "-" is standard output; another is appended to, and opened again when it was moved away (logrotate).
    // Errors: unavailable, naming the file or socket.
    static Result<std::unique_ptr<AccessLog>> open(const std::filesystem::path& socket, std::filesystem::path file,
                                                   Metrics& metrics);
    ~AccessLog();
    AccessLog(const AccessLog&) = delete;
    AccessLog& operator=(const AccessLog&) = delete;

private:
    AccessLog(net::Fd socket, net::Fd stop, std::filesystem::path file, Metrics& metrics);
    void run();
    bool reopen();
    void write(std::string_view lines);

    net::Fd socket_, stop_;
    std::filesystem::path file_;
    net::Fd out_;
    std::uint64_t inode_ = 0;
    Counter lines_, lost_;
    std::thread thread_;
};

}  // namespace fairlead::proxy::haproxy
