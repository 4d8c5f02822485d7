#include "proxy/haproxy/cli.h"
#include "net/socket_wait.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace fairlead::proxy::haproxy {

namespace {

constexpr std::string_view prompt = "\n> ";
constexpr std::size_t max_answer_bytes = 256UL << 20;  // show servers state: 100 bytes a server

Result<net::Fd> open_socket(const std::filesystem::path& path, std::chrono::milliseconds timeout) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto text = path.string();
    if (text.size() >= sizeof(address.sun_path))
        return fail(Errc::invalid, fmt::format("{}: too long for a socket", text));
    std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
    net::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd.get() < 0) return fail(Errc::internal, fmt::format("socket: {}", net::system_error_text(errno)));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
    const timeval limit{.tv_sec = seconds.count(),
                        .tv_usec = std::chrono::duration_cast<std::chrono::microseconds>(timeout - seconds).count()};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return fail(Errc::unavailable, fmt::format("cannot connect to {}: {}", text, net::system_error_text(errno)));
    }
    return fd;
}

Result<void> send_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0)
            return fail(Errc::unavailable, fmt::format("haproxy's socket: {}", net::system_error_text(errno)));
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

// Appends what there is; false at the end.
Result<bool> receive_some(int fd, std::string& out) {
    std::array<char, 65'536> buffer;
    for (;;) {
        const auto got = ::recv(fd, buffer.data(), buffer.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return fail(Errc::timeout, "haproxy does not answer");
        if (got < 0) return fail(Errc::unavailable, fmt::format("haproxy's socket: {}", net::system_error_text(errno)));
        out.append(buffer.data(), static_cast<std::size_t>(got));
        if (out.size() > max_answer_bytes) return fail(Errc::too_large, "haproxy's answer has no end");
        return got > 0;
    }
}

}  // namespace

Result<Cli> Cli::connect(const std::filesystem::path& socket, std::chrono::milliseconds timeout) {
    auto fd = open_socket(socket, timeout);
    if (!fd) return fail(fd.error());
    Cli cli(std::move(*fd));
    if (auto greeted = cli.ask("prompt"); !greeted) return fail(greeted.error());
    return cli;
}

Result<void> Cli::send(std::string_view text) { return send_all(socket_.get(), text); }

Result<std::vector<std::string>> Cli::answers(std::size_t count) {
    std::vector<std::string> found;
    found.reserve(count);
    std::size_t begin = 0;
    for (std::size_t from = 0; found.size() < count;) {
        const auto end = received_.find(prompt, from);
        if (end != std::string::npos) {
            found.push_back(received_.substr(begin, end - begin));
            begin = from = end + prompt.size();
            continue;
        }
        // The beginning of a prompt may be at the end of what was received.
        from = std::max(begin, received_.size() - std::min(received_.size(), prompt.size() - 1));
        auto more = receive_some(socket_.get(), received_);
        if (!more) return fail(more.error());
        if (!*more) return fail(Errc::unavailable, "the haproxy worker went away");
    }
    received_.erase(0, begin);
    return found;
}

Result<std::vector<std::string>> Cli::run(std::span<const Command> commands) {
    std::vector<std::string> all;
    all.reserve(commands.size());
    std::string line;
    std::size_t in_line = 0;
    const auto flush = [&]() -> Result<void> {
        if (in_line == 0) return {};
        line += '\n';
        if (auto sent = send(line); !sent) return sent;
        auto found = answers(in_line);
        if (!found) return fail(found.error());
        std::move(found->begin(), found->end(), std::back_inserter(all));
        line.clear();
        in_line = 0;
        return {};
    };
    for (const auto& command : commands) {
        if (command.text.size() + 1 > max_line_bytes) {
            return fail(Errc::too_large, fmt::format("a command of {} bytes", command.text.size()));
        }
        if (line.size() + command.text.size() + 2 > max_line_bytes) {
            if (auto flushed = flush(); !flushed) return fail(flushed.error());
        }
        if (in_line > 0) line += ';';
        line += command.text;
        ++in_line;
    }
    if (auto flushed = flush(); !flushed) return fail(flushed.error());
    return all;
}

Result<std::string> Cli::ask(std::string_view command, std::string_view payload) {
    auto text = std::string(command);
    if (!payload.empty()) {
        text += " <<\n";
        text += payload;
        if (!payload.ends_with('\n')) text += '\n';
    }
    text += '\n';
    if (text.size() > max_line_bytes + 512)
        return fail(Errc::too_large, fmt::format("a command of {} bytes", text.size()));
    if (auto sent = send(text); !sent) return fail(sent.error());
    auto found = answers(1);
    if (!found) return fail(found.error());
    auto answer = std::move(found->front());
    // A "+ " for each line of the payload.
    std::size_t begin = 0;
    while (!payload.empty() && answer.compare(begin, 2, "+ ") == 0) begin += 2;
    return answer.substr(begin);
}

Result<std::string> ask_once(const std::filesystem::path& socket, std::string_view command,
                             std::chrono::milliseconds timeout) {
    auto fd = open_socket(socket, timeout);
    if (!fd) return fail(fd.error());
    if (auto sent = send_all(fd->get(), std::string(command) + "\n"); !sent) return fail(sent.error());
    std::string answer;
    for (;;) {
        auto more = receive_some(fd->get(), answer);
        if (!more) return fail(more.error());
        if (!*more) return answer;
    }
}

}  // namespace fairlead::proxy::haproxy
