#include "proxy/nginx/session_log.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <system_error>

#include "base/text.h"

namespace fairlead::proxy::nginx {

void count_session(std::string_view line, PortFigures& figures) {
    constexpr std::string_view tag = "nginx: ";
    const auto begin = line.find(tag);
    if (begin == std::string_view::npos) return;
    const auto words = split(trim(line.substr(begin + tag.size())), ' ');
    std::array<std::int64_t, 4> numbers{};
    if (words.size() != numbers.size()) return;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto number = parse_int(words[i]);
        if (!number || *number < 0) return;
        numbers[i] = *number;
    }
    const auto [port, received, sent, status] = numbers;
    if (port < 1 || port > 65535) return;
    auto& counted = figures[static_cast<std::uint16_t>(port)];
    ++counted.requests;
    counted.bytes_in += static_cast<std::uint64_t>(received);
    counted.bytes_out += static_cast<std::uint64_t>(sent);
    if (status >= 500) ++counted.connect_errors;
}

Result<std::unique_ptr<SessionLog>> SessionLog::open(const std::filesystem::path& directory) {
    std::unique_ptr<SessionLog> log(new SessionLog);
    auto socket = LineSocket::open(directory / session_socket,
                                   [raw = log.get()](std::string_view lines, std::size_t) { raw->take(lines); });
    if (!socket) return fail(socket.error());
    log->socket_ = std::move(*socket);
    // A master of root's gives its workers to another user, who must come to the socket: from inside of the directory,
    // which is where they are, so that directories above may stay closed to everybody.
    if (::geteuid() == 0) {
        using std::filesystem::perms;
        std::error_code error;
        std::filesystem::permissions(directory, perms::owner_all | perms::group_exec | perms::others_exec, error);
        if (!error) {
            std::filesystem::permissions(
                directory / session_socket,
                perms::owner_read | perms::owner_write | perms::group_write | perms::others_write, error);
        }
        if (error) {
            return fail(Errc::unavailable,
                        fmt::format("{}: {}", (directory / session_socket).string(), error.message()));
        }
    }
    return log;
}

void SessionLog::take(std::string_view lines) {
    const std::lock_guard lock(mutex_);
    for (const auto line : split(lines, '\n')) count_session(line, figures_);
}

PortFigures SessionLog::figures() const {
    const std::lock_guard lock(mutex_);
    return figures_;
}

}  // namespace fairlead::proxy::nginx
