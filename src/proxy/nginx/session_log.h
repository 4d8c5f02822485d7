// What nginx says of the clients of UDP ports: a line to a UNIX socket of ours (line_socket.h) when a client has been
// silent for the port's timeout, or its worker ends. Counted by port; what is under way shows when it is over.
//
// Threads: figures() from any; the socket has its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "proxy/driver.h"
#include "proxy/line_socket.h"

namespace fairlead::proxy::nginx {

// Names of the socket, in nginx's working directory, and of the format: port, bytes from and to the client, status.
inline constexpr std::string_view session_socket = "sessions.sock";
inline constexpr std::string_view session_format = "$server_port $bytes_received $bytes_sent $status";

using PortFigures = std::map<std::uint16_t, PoolFigures>;
// Adds what a line says: "<190>Nov 17 15:00:00 nginx: 43218 12 40 200". Anything else is left out. Pure.
void count_session(std::string_view line, PortFigures& figures);

class SessionLog {
public:
    // Errors: the socket cannot be made.
    static Result<std::unique_ptr<SessionLog>> open(const std::filesystem::path& directory);
    SessionLog(const SessionLog&) = delete;
    SessionLog& operator=(const SessionLog&) = delete;
    // Since it was opened.
    [[nodiscard]] PortFigures figures() const;

private:
    SessionLog() = default;
    void take(std::string_view lines);

    mutable std::mutex mutex_;
    PortFigures figures_;
    std::unique_ptr<LineSocket> socket_;  // the last: its thread uses the others
};

}  // namespace fairlead::proxy::nginx
