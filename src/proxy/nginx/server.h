// One nginx as files and processes: tests what it shall read, starts it, reloads it gracefully, knows for certain what
// is in force, finds the one that a former driver left, starts it again. Knows nothing of tables: what it serves is the
// text inside of "stream { ... }" or "http { ... }". Blocking, with limits; used by one thread alone.
//
// What is in force: every configuration has a generation, and a UNIX socket of nginx's says which one answers. That and
// that no older worker takes anything in any more (its process says that it shuts down) mean that the new one holds.
//
// Files, all in `directory` (0700, of root's 0711: session_log.h): nginx.conf, nginx.conf.new while it is tested,
// error.log, generation.sock, lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "proxy/process.h"

namespace fairlead::proxy::nginx {

enum class Serves { stream, http };

struct ServerOptions {
    std::filesystem::path binary = "/usr/sbin/nginx";
    std::filesystem::path stream_module = "/usr/lib/nginx/modules/ngx_stream_module.so";
    std::filesystem::path directory;
    int workers = 0;  // 0: as many as there are cores
    // Of each worker. A client takes two: 8,000 clients at once for 10 MB.
    int worker_connections = 16'384;
    std::chrono::seconds drain{30};  // of what old workers still have
    Serves serves = Serves::stream;
};

// The whole file. Pure.
std::string render_file(const ServerOptions& options, std::string_view generation, std::string_view text);

class Server {
public:
    // `on_death` from any thread.
    Server(ServerOptions options, const Clock& clock, std::function<void()> on_death);

    // The directory is ours. Errors: it cannot be used.
    Result<void> prepare();
    // Errors: not_found; no nginx, or not its module for streams where it needs it; says how to install it.
    [[nodiscard]] Result<void> installed() const;

    // Takes over the running master. False: there is none.
    bool adopt();
    // Starts it with what the files of a former one say. Errors: there are none, or it does not start.
    Result<void> start_from_files();
    // Brings this text in force, with a start or a reload, unless it is already. True: it was a reload. Errors: nginx
    // refuses it (what was in force stays so), does not start, or does not do it in time.
    Result<bool> bring(std::string_view text);
    // What nginx has against this text; empty: nothing. What is in force stays so.
    [[nodiscard]] Result<std::string> test(std::string_view text);
    // Whether this text is in force.
    [[nodiscard]] bool holds(std::string_view text) const { return in_force_ == digest(text); }

    [[nodiscard]] bool alive() { return process_ && process_->alive(); }
    [[nodiscard]] bool ever_ran() const { return process_.has_value(); }
    // The master died. Its workers go on until the next one is up.
    void forget_dead();
    [[nodiscard]] std::set<pid_t> processes() const;  // all that are of this nginx
    // Lets old connections end within the time, then ends it.
    void stop(std::chrono::milliseconds limit);

private:
    [[nodiscard]] std::string digest(std::string_view text) const;
    [[nodiscard]] Program program(std::vector<std::string> arguments, const char* log) const;
    Result<void> spawn(const std::string& generation);
    Result<void> reload(const std::string& generation);
    Result<void> confirm(const std::string& generation, const std::set<pid_t>& old_workers, std::size_t log_from);
    // What nginx has against the file; empty: nothing.
    [[nodiscard]] std::string complaint(const std::filesystem::path& file) const;
    [[nodiscard]] Result<std::string> answering() const;  // generation
    [[nodiscard]] std::string written() const;            // generation of the file; empty: no file of ours
    void end_orphans();
    void pause(std::chrono::milliseconds time);
    [[nodiscard]] std::filesystem::path at(const char* file) const { return options_.directory / file; }

    ServerOptions options_;
    const Clock& clock_;
    std::function<void()> on_death_;
    net::Fd lock_;
    std::uint64_t number_ = 0;  // of the last generation
    std::string in_force_;      // digest of what is; empty: not known
    std::optional<Process> process_;
    std::unique_ptr<DeathWatch> watch_;
};

// Ends the nginx that a former driver left in this directory, if there is one.
void end_left_behind(const std::filesystem::path& directory, const Clock& clock);

}  // namespace fairlead::proxy::nginx
