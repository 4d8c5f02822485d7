#include "proxy/nginx/server.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/files.h"
#include "base/text.h"
#include "net/socket_wait.h"
#include "proxy/ports.h"

namespace fairlead::proxy::nginx {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Long, for machines that are busy; that it died or refused is known at once.
constexpr seconds confirm_within{20};
constexpr milliseconds answer_within{2'000}, look_again{5};
constexpr std::string_view generation_mark = "# generation ";

// Of a line "2026/11/17 00:36:15 [emerg] 11100#11100: bind() to 127.0.0.1:53 failed" what follows the level.
std::string first_emergency(std::string_view log) {
    for (const auto line : split(log, '\n')) {
        constexpr std::string_view level = "[emerg] ";
        const auto found = line.find(level);
        if (found == std::string_view::npos) continue;
        auto text = line.substr(found + level.size());
        if (const auto number = text.find('#'); number != std::string_view::npos) {
            if (const auto colon = text.find(": ", number); colon != std::string_view::npos) {
                text = text.substr(colon + 2);
            }
        }
        return std::string(trim(text));
    }
    return {};
}

bool shuts_down(pid_t worker) {
    const auto command = read_file(fmt::format("/proc/{}/cmdline", worker));
    // A process that is gone, or has only its entry left, takes nothing in either.
    return !command || command->empty() || command->find("shutting down") != std::string::npos;
}

// Processes that nginx's master started in this directory; workers do not leave it, whoever is their parent by now.
std::set<pid_t> processes_in(const std::filesystem::path& directory) {
    std::set<pid_t> found;
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(directory, error);
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        const auto pid = parse_int(entry->path().filename().string());
        if (!pid) continue;
        std::error_code gone;
        if (std::filesystem::read_symlink(entry->path() / "cwd", gone) != real || gone) continue;
        if (read_file(entry->path() / "cmdline").value_or("").starts_with("nginx: ")) {
            found.insert(static_cast<pid_t>(*pid));
        }
    }
    return found;
}

}  // namespace

std::string render_file(const ServerOptions& options, std::string_view generation, std::string_view text) {
    const auto directory = options.directory.string();
    const bool http = options.serves == Serves::http;
    auto file = fmt::format(
        "{0}{1}\n# Written by fairlead, and written again after every change: edits are lost.\n"
        "{2}"
        "daemon off;\n"
        "worker_processes {3};\n"
        "pid {4}/nginx.pid;\n"
        "error_log {4}/error.log crit;\n"  // a member that is away would fill it otherwise
        "worker_shutdown_timeout {5}s;\n"
        "events {{\n    worker_connections {6};\n}}\n",
        generation_mark, generation, http ? "" : fmt::format("load_module {};\n", options.stream_module.string()),
        options.workers > 0 ? std::to_string(options.workers) : "auto", directory, options.drain.count(),
        options.worker_connections);
    file += fmt::format(
        "{} {{\n    server {{\n        listen unix:{}/generation.sock;\n{}        return {}\"{}\";\n    }}\n{}}}\n",
        http ? "http" : "stream", directory, http ? "        access_log off;\n" : "", http ? "200 " : "", generation,
        text);
    return file;
}

Server::Server(ServerOptions options, const Clock& clock, std::function<void()> on_death)
    : options_(std::move(options)), clock_(clock), on_death_(std::move(on_death)) {}

Result<void> Server::prepare() {
    auto lock = take_directory(options_.directory, {});
    if (!lock) return fail(lock.error());
    lock_ = std::move(*lock);
    return {};
}

Result<void> Server::installed() const {
    const auto missing = [](const std::filesystem::path& path, const char* package) {
        return fail(Errc::not_found, fmt::format("{}: {}; install it with: apt-get install {}", path.string(),
                                                 net::system_error_text(errno), package));
    };
    const bool http = options_.serves == Serves::http;
    if (::access(options_.binary.c_str(), X_OK) != 0) {
        return missing(options_.binary, http ? "nginx-light" : "nginx-light libnginx-mod-stream");
    }
    if (!http && ::access(options_.stream_module.c_str(), R_OK) != 0) {
        return missing(options_.stream_module, "libnginx-mod-stream");
    }
    return {};
}

std::string Server::digest(std::string_view text) const {
    return sha256_hex(render_file(options_, "", text)).substr(0, 16);
}

Program Server::program(std::vector<std::string> arguments, const char* log) const {
    std::vector<std::string> words{options_.binary.string(), "-e", at("error.log").string(), "-p",
                                   options_.directory.string()};
    words.insert(words.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
    return {.words = std::move(words), .directory = options_.directory, .log = at(log)};
}

std::string Server::written() const {
    const auto text = read_file(at("nginx.conf")).value_or("");
    if (!text.starts_with(generation_mark)) return {};
    return text.substr(generation_mark.size(), text.find('\n') - generation_mark.size());
}

Result<std::string> Server::answering() const {
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    const auto path = at("generation.sock").string();
    std::copy_n(path.begin(), std::min(path.size(), sizeof where.sun_path - 1), where.sun_path);
    const net::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // Sockets speak sockaddr.
    const auto* name =
        reinterpret_cast<const sockaddr*>(&where);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    if (::connect(socket.get(), name, sizeof where) != 0) {
        return fail(Errc::unavailable, "nginx does not answer: " + net::system_error_text(errno));
    }
    if (options_.serves == Serves::http) {
        constexpr std::string_view question = "GET / HTTP/1.0\r\n\r\n";
        if (::send(socket.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0) {
            return fail(Errc::unavailable, "nginx does not answer: " + net::system_error_text(errno));
        }
    }
    std::string said;
    for (std::array<char, 256> buffer{};;) {
        pollfd one{.fd = socket.get(), .events = POLLIN, .revents = 0};
        if (::poll(&one, 1, static_cast<int>(answer_within.count())) <= 0) {
            return fail(Errc::timeout, "nginx does not answer");
        }
        const auto got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
        if (got <= 0) break;
        said.append(buffer.data(), static_cast<std::size_t>(got));
    }
    constexpr std::string_view head_ends = "\r\n\r\n";
    if (const auto head = said.find(head_ends); options_.serves == Serves::http && head != std::string::npos) {
        said.erase(0, head + head_ends.size());
    }
    return said;
}

bool Server::adopt() {
    process_ = Process::adopt(at("master.pid"), at("nginx.conf").string());
    if (!process_ || !process_->alive()) {
        process_.reset();
        return false;
    }
    watch_ = std::make_unique<DeathWatch>(*process_, on_death_);
    const auto generation = written();
    const auto dash = generation.find('-');
    number_ = static_cast<std::uint64_t>(parse_int(generation.substr(0, dash)).value_or(0));
    in_force_.clear();
    // A reload that the former driver asked for may be under way.
    for (const auto deadline = clock_.monotonic() + answer_within; clock_.monotonic() < deadline && alive();) {
        if (const auto answer = answering(); answer && *answer == generation && dash != std::string::npos) {
            in_force_ = generation.substr(dash + 1);
            break;
        }
        pause(look_again);
    }
    return true;
}

Result<void> Server::start_from_files() {
    const auto generation = written();
    const auto dash = generation.find('-');
    if (dash == std::string::npos) return fail(Errc::not_found, "there is no file of a former one");
    number_ = static_cast<std::uint64_t>(parse_int(generation.substr(0, dash)).value_or(0));
    return spawn(generation);
}

Result<std::string> Server::test(std::string_view text) {
    if (auto there = installed(); !there) return fail(there.error());
    const auto candidate = at("nginx.conf.test");
    if (auto done = write_file(candidate, render_file(options_, "test", text), 0600); !done) return fail(done.error());
    auto why = complaint(candidate);
    std::error_code ignored;
    std::filesystem::remove(candidate, ignored);
    return why;
}

Result<bool> Server::bring(std::string_view text) {
    const bool running = alive();
    if (running && holds(text)) return false;
    if (auto there = installed(); !there) return fail(there.error());
    const auto generation = fmt::format("{}-{}", ++number_, digest(text));
    const auto candidate = at("nginx.conf.new");
    if (auto done = write_file(candidate, render_file(options_, generation, text), 0600); !done) {
        return fail(done.error());
    }
    if (const auto why = complaint(candidate); !why.empty()) return fail(Errc::invalid, "nginx refuses: " + why);
    std::error_code error;
    std::filesystem::rename(candidate, at("nginx.conf"), error);
    if (error) return fail(Errc::unavailable, fmt::format("{}: {}", at("nginx.conf").string(), error.message()));
    if (auto done = running ? reload(generation) : spawn(generation); !done) return fail(done.error());
    return running;
}

std::string Server::complaint(const std::filesystem::path& file) const {
    const auto ended = run_to_end(program({"-t", "-c", file.string()}, "check.log"), {});
    if (ended.good) return {};
    auto why = first_emergency(ended.said);
    if (why.empty()) why = std::string(trim(std::string_view(ended.said).substr(0, 1000)));
    return why.empty() ? "it says nothing about its configuration: is it nginx?" : why;
}

Result<void> Server::spawn(const std::string& generation) {
    // One of a dead master would take connections that nobody accepts.
    std::error_code ignored;
    std::filesystem::remove(at("generation.sock"), ignored);
    std::filesystem::remove(at("error.log"), ignored);
    in_force_.clear();
    auto with = program({"-c", at("nginx.conf").string()}, "nginx.log");
    with.pid_file = at("master.pid");
    auto process = Process::spawn(with, {});
    if (!process) return fail(process.error());
    process_ = std::move(*process);
    watch_ = std::make_unique<DeathWatch>(*process_, on_death_);
    if (auto done = confirm(generation, {}, 0); !done) {
        stop(milliseconds(0));
        return done;
    }
    end_orphans();
    return {};
}

Result<void> Server::reload(const std::string& generation) {
    auto old_workers = family_of(process_->pid());
    old_workers.erase(process_->pid());
    const auto log_from = read_file(at("error.log")).value_or("").size();
    in_force_.clear();
    process_->signal(SIGHUP);
    return confirm(generation, old_workers, log_from);
}

Result<void> Server::confirm(const std::string& generation, const std::set<pid_t>& old_workers, std::size_t log_from) {
    for (const auto deadline = clock_.monotonic() + confirm_within; clock_.monotonic() < deadline;) {
        const bool over = !alive();
        const auto log = read_file(at("error.log")).value_or("");
        const auto news = std::string_view(log).substr(std::min(log_from, log.size()));
        auto why = first_emergency(news);
        // It tries an address five times, and is deaf for the next reload until it gives up.
        const bool tries = why.starts_with("bind()") && news.find("still could not bind()") == std::string_view::npos;
        if (tries && !over) why.clear();
        if (over || !why.empty()) {
            return fail(Errc::unavailable,
                        fmt::format("nginx {}: {}", over ? "ended" : "did not take it",
                                    why.empty() ? fmt::format("see {}", at("nginx.log").string()) : why));
        }
        const auto answer = answering();
        if (answer && *answer == generation && std::all_of(old_workers.begin(), old_workers.end(), shuts_down)) {
            in_force_ = generation.substr(generation.find('-') + 1);
            return {};
        }
        pause(look_again);
    }
    return fail(Errc::timeout, "nginx does not say that it follows the new configuration");
}

std::set<pid_t> Server::processes() const { return processes_in(options_.directory); }

// Workers outlive a master that was killed, and go on with what they knew: they end when the next one has begun.
void Server::end_orphans() {
    const auto family = process_ ? family_of(process_->pid()) : std::set<pid_t>{};
    for (const auto pid : processes()) {
        if (!family.contains(pid)) ::kill(pid, SIGQUIT);
    }
}

void Server::forget_dead() {
    watch_.reset();
    process_.reset();
    in_force_.clear();
}

void Server::pause(milliseconds time) {
    if (process_) {
        process_->wait(time);
    } else {
        static_cast<void>(::poll(nullptr, 0, static_cast<int>(time.count())));
    }
}

void Server::stop(milliseconds limit) {
    watch_.reset();
    in_force_.clear();
    if (process_) {
        process_->signal(SIGQUIT);
        if (!process_->wait(limit)) {
            process_->signal(SIGTERM);
            if (!process_->wait(milliseconds(2'000))) process_->signal(SIGKILL);
            process_->wait(milliseconds(2'000));
        }
        process_.reset();
    }
    for (const auto pid : processes()) ::kill(pid, SIGTERM);
    std::error_code ignored;
    std::filesystem::remove(at("master.pid"), ignored);
}

void end_left_behind(const std::filesystem::path& directory, const Clock& clock) {
    if (!std::filesystem::exists(directory / "master.pid")) return;
    Server server({.directory = directory}, clock, [] {});
    if (!server.prepare()) return;
    (void)server.adopt();
    server.stop(seconds(2));
}

}  // namespace fairlead::proxy::nginx
