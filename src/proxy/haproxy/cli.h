// The Runtime API of one worker: a connection to its UNIX socket that stays open. Commands go out many to a line, as
// many as fit into HAProxy's buffer; HAProxy answers each with a text and a prompt, and every one is counted. Blocking,
// with a limit on each answer; used by the driver's thread alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/handles.h"
#include "proxy/haproxy/commands.h"

namespace fairlead::proxy::haproxy {

// tune.bufsize of our file, less what HAProxy keeps for itself.
inline constexpr std::size_t max_line_bytes = 15'360;

class Cli {
public:
    // Errors: unavailable.
    static Result<Cli> connect(const std::filesystem::path& socket, std::chrono::milliseconds timeout);

    // What HAProxy said to each. Errors: unavailable (the worker went away), timeout, too_large (one command).
    Result<std::vector<std::string>> run(std::span<const Command> commands);
    // One command, with or without payload (lines; none of them empty).
    Result<std::string> ask(std::string_view command, std::string_view payload = {});

private:
    explicit Cli(net::Fd socket) : socket_(std::move(socket)) {}
    Result<void> send(std::string_view text);
    Result<std::vector<std::string>> answers(std::size_t count);

    net::Fd socket_;
    std::string received_;
};

// One command over a connection of its own, up to its end: for answers without limit.
Result<std::string> ask_once(const std::filesystem::path& socket, std::string_view command,
                             std::chrono::milliseconds timeout);

}  // namespace fairlead::proxy::haproxy
