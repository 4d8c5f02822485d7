#include "proxy/haproxy/supervisor.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/files.h"
#include "base/text.h"
#include "net/socket_wait.h"
#include "proxy/haproxy/cli.h"
#include "proxy/haproxy/pem.h"
#include "proxy/ports.h"

namespace fairlead::proxy::haproxy {

namespace {

// Of what the files look up and how; another one is a reload, once, of a proxy that a former version left.
constexpr std::string_view layout = "named-hosts";

std::string digest_of(const Settings& settings) {
    auto text = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", layout, fmt::join(settings.http_listen, ","),
                            fmt::join(settings.https_listen, ","), settings.status_listen, settings.proxy_protocol,
                            settings.default_certificate_pem, settings.access_log.empty(),
                            settings.client_timeout.count(), settings.server_timeout.count(),
                            settings.connect_timeout.count(), settings.drain.count(), settings.threads);
    for (const auto& [code, html] : settings.error_pages) text += fmt::format("|{}={}", code, html);
    if (!settings.tcp_ports.empty()) {
        text += fmt::format("|ports {} {}", settings.tcp_ports.text(), fmt::join(settings.port_hosts, ","));
    }
    return sha256_hex(text);
}

std::vector<std::string> wanted_addresses(const Settings& settings) {
    auto all = settings.http_listen;
    all.insert(all.end(), settings.https_listen.begin(), settings.https_listen.end());
    if (!settings.status_listen.empty()) all.push_back(settings.status_listen);
    return all;
}

std::filesystem::path config_file(const Options& options) { return options.directory / "haproxy.cfg"; }
std::filesystem::path pid_file(const Options& options) { return options.directory / "haproxy.pid"; }

std::string certificate_only(const std::string& pem) {
    constexpr std::string_view begin = "-----BEGIN CERTIFICATE-----", end = "-----END CERTIFICATE-----";
    const auto from = pem.find(begin);
    const auto to = pem.find(end);
    if (from == std::string::npos || to == std::string::npos || to < from) return {};
    return pem.substr(from, to + end.size() - from) + "\n";
}

// What the program says against the file; empty if nothing.
std::string check_config(const Options& options, const std::vector<net::Fd>& sockets) {
    const auto ended = run_to_end({.words = {options.binary.string(), "-c", "-f", config_file(options).string()},
                                   .directory = {},
                                   .log = options.directory / "check.log"},
                                  sockets);
    if (ended.good) return {};
    // The first alert says it; the rest follows from it.
    for (const auto line : split(ended.said, '\n')) {
        if (line.find("[ALERT]") != std::string_view::npos) return std::string(trim(line));
    }
    const auto said = trim(std::string_view(ended.said).substr(0, 1000));
    return said.empty() ? "it says nothing about its configuration: is it HAProxy?" : std::string(said);
}

}  // namespace

Supervisor::Supervisor(Options options, const Clock& clock, std::function<void()> on_death)
    : options_(std::move(options)),
      clock_(clock),
      on_death_(std::move(on_death)),
      digest_(digest_of(options_.settings)) {}

Result<void> Supervisor::prepare() {
    const auto& binary = options_.binary;
    if (::access(binary.c_str(), X_OK) != 0) {
        return fail(Errc::not_found, fmt::format("{}: {}; install it with: apt-get install haproxy", binary.string(),
                                                 net::system_error_text(errno)));
    }
    if (auto checked = check(options_.settings); !checked) return checked;
    auto lock = take_directory(options_.directory, {"certificates", "authorities"});
    if (!lock) return fail(lock.error());
    lock_ = std::move(*lock);
    if (wanted_addresses(options_.settings).size() > max_sockets) {
        return fail(Errc::too_large, "listen", fmt::format("more than {} addresses", max_sockets));
    }
    return {};
}

std::optional<State> Supervisor::former() const {
    const auto text = read_file(options_.directory / "state.json");
    if (!text) return std::nullopt;
    auto state = parse_state(*text);
    if (!state) return std::nullopt;
    return std::move(*state);
}

bool Supervisor::has_stale_sockets(const State& former) const {
    const auto wanted = wanted_addresses(options_.settings);
    return std::any_of(former.sockets.begin(), former.sockets.end(), [&](const auto& address) {
        return std::find(wanted.begin(), wanted.end(), address) == wanted.end();
    });
}

bool Supervisor::adopt(const State& former) {
    process_ = Process::adopt(pid_file(options_), config_file(options_).string());
    if (!process_ || !process_->alive()) {
        process_.reset();
        return false;
    }
    addresses_ = former.sockets;
    sockets_.clear();
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
        auto socket = process_->socket(first_socket + static_cast<int>(i));
        if (!socket) {
            sockets_.clear();
            break;
        }
        sockets_.push_back(std::move(*socket));
    }
    watch_ = std::make_unique<DeathWatch>(*process_, on_death_);
    return true;
}

Binds Supervisor::binds() const {
    const auto bind = [&](const std::string& address) {
        const auto found = std::find(addresses_.begin(), addresses_.end(), address);
        // One that the running master did not inherit, HAProxy opens by itself at the reload.
        return found == addresses_.end() ? address : fmt::format("fd@{}", first_socket + (found - addresses_.begin()));
    };
    Binds binds;
    for (const auto& address : options_.settings.http_listen) binds.http.push_back(bind(address));
    for (const auto& address : options_.settings.https_listen) binds.https.push_back(bind(address));
    if (!options_.settings.status_listen.empty()) binds.status = bind(options_.settings.status_listen);
    const auto ports = options_.settings.tcp_ports.without(busy_);
    for (const auto& host : options_.settings.port_hosts) {
        for (const auto& range : ports.ranges()) {
            binds.ports.push_back(range.first == range.last ? fmt::format("{}:{}", host, range.first)
                                                            : fmt::format("{}:{}-{}", host, range.first, range.last));
        }
    }
    return binds;
}

std::set<std::uint16_t> Supervisor::own_ports() const {
    return process_ ? ports_of(traffic::Transport::tcp, family_of(process_->pid())) : std::set<std::uint16_t>{};
}

void Supervisor::choose_ports(const std::set<std::uint16_t>& known_busy, std::chrono::milliseconds wait) {
    const auto& settings = options_.settings;
    busy_.clear();
    if (settings.tcp_ports.empty()) return;
    constexpr std::chrono::milliseconds again{50};
    for (const auto deadline = clock_.monotonic() + wait;;) {
        busy_ = busy_ports(traffic::Transport::tcp, settings.port_hosts, settings.tcp_ports, own_ports());
        const bool all_known = std::includes(known_busy.begin(), known_busy.end(), busy_.begin(), busy_.end());
        if (all_known || clock_.monotonic() >= deadline) return;
        pause(again);
    }
}

void Supervisor::adopt_ports() {
    busy_.clear();
    if (options_.settings.tcp_ports.empty()) return;
    const auto own = own_ports();
    for (const auto& range : options_.settings.tcp_ports.ranges()) {
        for (unsigned port = range.first; port <= range.last; ++port) {
            if (!own.contains(static_cast<std::uint16_t>(port))) busy_.insert(static_cast<std::uint16_t>(port));
        }
    }
}

std::set<std::uint16_t> Supervisor::freed(const std::set<std::uint16_t>& ports) const {
    auto free = ports;
    for (const auto port : busy_ports(traffic::Transport::tcp, options_.settings.port_hosts, PortRanges(ports), {})) {
        free.erase(port);
    }
    return free;
}

Result<void> Supervisor::write_authorities(const std::vector<PoolClass>& classes) const {
    const auto own = read_file(options_.directory / "default.pem");
    if (!own) return fail(own.error());
    // Nobody has a certificate of this one: until a backend has a CA of its own, it trusts no member.
    const auto nobody = certificate_only(*own);
    for (std::size_t i = 0; i < classes.size(); ++i) {
        if (classes[i].key.security != MemberSecurity::checked) continue;
        for (std::size_t n = 1; n <= classes[i].size; ++n) {
            const auto path = authority_path(options_.directory, backend_name(i, n));
            if (std::filesystem::exists(path)) continue;
            if (auto written = write_file(path, nobody, 0600); !written) return written;
        }
    }
    return {};
}

Result<void> Supervisor::write(const State& state, const Image& image,
                               const std::map<std::string, std::string>& listed) {
    const auto& directory = options_.directory;
    const auto& settings = options_.settings;
    const auto certificate = directory / "default.pem";
    if (!settings.default_certificate_pem.empty()) {
        if (auto checked = check_certificate(settings.default_certificate_pem); !checked) {
            return fail(Errc::invalid, "default certificate", checked.error().text());
        }
        if (auto written = put_file(certificate, settings.default_certificate_pem); !written) return written;
    } else if (const auto old = read_file(certificate); !old || !check_certificate(*old)) {
        auto made = make_self_signed("fairlead router");
        if (!made) return fail(made.error());
        if (auto written = put_file(certificate, *made); !written) return written;
    }
    if (const auto member = directory / "member.pem"; !std::filesystem::exists(member)) {
        auto made = make_self_signed("fairlead router");
        if (!made) return fail(made.error());
        if (auto written = put_file(member, *made); !written) return written;
    }
    for (const auto code : {404, 503}) {
        const auto page = settings.error_pages.find(code);
        const auto text = render_error_page(code, page == settings.error_pages.end() ? "" : page->second);
        if (auto written = put_file(directory / fmt::format("{}.http", code), text); !written) return written;
    }
    if (auto written = write_authorities(state.classes); !written) return written;
    for (const auto file : all_maps) {
        if (auto written = put_file(directory / file_name(file), render_map(image.map(file))); !written) return written;
    }
    if (auto written = put_file(directory / "crt-list", render_crt_list(directory, listed)); !written) return written;
    const auto config = render_config(settings, directory, binds(), state.classes, image);
    if (auto written = put_file(config_file(options_), config); !written) return written;
    return put_file(directory / "state.json", to_json(state));
}

Result<void> Supervisor::open_sockets() {
    const auto wanted = wanted_addresses(options_.settings);
    if (sockets_.size() == addresses_.size() && addresses_ == wanted) return {};
    // What is open stays open: clients may wait in its queue.
    std::vector<net::Fd> open;
    open.reserve(wanted.size());
    for (const auto& address : wanted) {
        const auto found = std::find(addresses_.begin(), addresses_.end(), address);
        const auto index = static_cast<std::size_t>(found - addresses_.begin());
        if (found != addresses_.end() && index < sockets_.size() && sockets_[index].get() >= 0) {
            open.push_back(std::move(sockets_[index]));
            continue;
        }
        auto fd = open_listener(address);
        if (!fd) return fail(fd.error().code, "listen", fd.error().message);
        open.push_back(std::move(*fd));
    }
    sockets_ = std::move(open);
    addresses_ = wanted;
    return {};
}

Result<void> Supervisor::spawn() {
    // A socket of a dead master would take connections that nobody accepts.
    std::error_code ignored;
    for (const auto* name : {"cli.sock", "https.sock", "master.sock"}) {
        std::filesystem::remove(options_.directory / name, ignored);
    }
    auto process = Process::spawn(
        {.words = {options_.binary.string(), "-W", "-q", "-S",
                   (options_.directory / "master.sock").string() + ",mode,600", "-f", config_file(options_).string()},
         .directory = {},
         .log = options_.directory / "haproxy.log",
         .pid_file = pid_file(options_)},
        sockets_);
    if (!process) return fail(process.error());
    process_ = std::move(*process);
    watch_ = std::make_unique<DeathWatch>(*process_, on_death_);
    return {};
}

Result<void> Supervisor::ask_reload() {
    // No answer comes, and the connection may be cut or not: it is sent, that is all. The caller sees what came of it.
    constexpr std::chrono::milliseconds limit{5'000}, again{5}, answer_limit{50};
    // While it starts it is deaf for a moment, twice.
    for (const auto deadline = clock_.monotonic() + limit;;) {
        const auto answer = ask_once(options_.directory / "master.sock", "reload", answer_limit);
        if (answer || answer.error().message.find("cannot connect") == std::string::npos) return {};
        if (!alive() || clock_.monotonic() > deadline) return fail(answer.error());
        pause(again);
    }
}

void Supervisor::pause(std::chrono::milliseconds time) {
    if (process_) {
        process_->wait(time);
    } else {
        static_cast<void>(::poll(nullptr, 0, static_cast<int>(time.count())));
    }
}

std::string Supervisor::complaint() const { return check_config(options_, sockets_); }

void Supervisor::stop(std::chrono::milliseconds limit) {
    watch_.reset();
    if (!process_) return;
    // A signal that comes while it starts is lost.
    constexpr std::chrono::milliseconds again{200};
    bool ended = false;
    for (auto left = limit; !ended && left > std::chrono::milliseconds(0); left -= again) {
        process_->signal(SIGUSR1);
        ended = process_->wait(std::min(again, left));
    }
    if (!ended) {
        process_->signal(SIGTERM);
        if (!process_->wait(std::chrono::milliseconds(2'000))) process_->signal(SIGKILL);
        process_->wait(std::chrono::milliseconds(2'000));
    }
    process_.reset();
    std::error_code ignored;
    std::filesystem::remove(pid_file(options_), ignored);
}

}  // namespace fairlead::proxy::haproxy
