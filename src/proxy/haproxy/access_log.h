// The access log: HAProxy sends a datagram for each request to a UNIX socket of ours (line_socket.h), and they are
// written as lines.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/fwd.h"
#include "base/metrics.h"
#include "base/result.h"
#include "net/handles.h"
#include "proxy/line_socket.h"

namespace fairlead::proxy::haproxy {

class AccessLog {
public:
    // `file` "-" is standard output; another is appended to, and opened again when it was moved away (logrotate).
    // Errors: unavailable, naming the file or socket.
    static Result<std::unique_ptr<AccessLog>> open(const std::filesystem::path& socket, std::filesystem::path file,
                                                   Metrics& metrics);
    AccessLog(const AccessLog&) = delete;
    AccessLog& operator=(const AccessLog&) = delete;

private:
    AccessLog(std::filesystem::path file, Metrics& metrics);
    bool reopen();
    void take(std::string_view lines, std::size_t count);
    void write(std::string_view lines);

    std::filesystem::path file_;
    net::Fd out_;
    std::uint64_t inode_ = 0;
    Counter lines_, lost_;
    std::unique_ptr<LineSocket> socket_;  // the last: its thread uses the others
};

}  // namespace fairlead::proxy::haproxy
