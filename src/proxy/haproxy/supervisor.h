// HAProxy as files and processes: writes what it reads, starts it, finds the one that is there, reloads it, starts it
// again. Knows nothing of tables. Used by the driver's thread alone.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/handles.h"
#include "proxy/haproxy/book.h"
#include "proxy/haproxy/driver.h"
#include "proxy/haproxy/image.h"
#include "proxy/haproxy/render.h"
#include "proxy/haproxy/state_file.h"
#include "proxy/process.h"

namespace fairlead::proxy::haproxy {

class Supervisor {
public:
    Supervisor(Options options, const Clock& clock, std::function<void()> on_death);

    // The directory is ours: made, locked, free of what cannot be in a file of HAProxy's. Errors say what to do.
    Result<void> prepare();
    // What a former driver left; nothing if there is none, or it is not ours to read.
    [[nodiscard]] std::optional<State> former() const;

    // Takes over the running master. False: there is none.
    bool adopt(const State& former);
    // Whether the files of the former driver are for the same settings.
    [[nodiscard]] bool same_settings(const State& former) const { return former.settings == digest_; }
    // The running master has a listening socket that the settings do not name any more.
    [[nodiscard]] bool has_stale_sockets(const State& former) const;

    // Everything that HAProxy reads at a start or reload. `listed`: the certificates that a worker has taken.
    Result<void> write(const State& state, const Image& image, const std::map<std::string, std::string>& listed);
    // Which ports to listen at: those of the settings that nobody else has. `known_busy` are not waited for, should
    // they be those of a master that has just gone.
    void choose_ports(const std::set<std::uint16_t>& known_busy, std::chrono::milliseconds wait);
    // Takes the ports of the running master for those to listen at.
    void adopt_ports();
    // Of the settings' ports those that are left out because somebody else has them.
    [[nodiscard]] const std::set<std::uint16_t>& busy() const { return busy_; }
    // Of these left out ports those that could be had now.
    [[nodiscard]] std::set<std::uint16_t> freed(const std::set<std::uint16_t>& ports) const;
    // Opens the listening sockets that are not open yet. Errors: unavailable, naming the address.
    Result<void> open_sockets();
    // A new master, from the files. Errors: what HAProxy has against them.
    Result<void> spawn();
    // Asks the master, which takes it only when it is ready: a signal sent too early is lost. Errors: unavailable.
    [[nodiscard]] Result<void> ask_reload();
    // Drains and ends it.
    void stop(std::chrono::milliseconds limit);
    [[nodiscard]] bool alive() { return process_ && process_->alive(); }
    void forget_dead() {
        watch_.reset();
        process_.reset();
    }
    [[nodiscard]] std::string complaint() const;
    // Waits that long, or until the master ends.
    void pause(std::chrono::milliseconds time);

    [[nodiscard]] const std::vector<std::string>& sockets() const { return addresses_; }
    [[nodiscard]] const std::string& digest() const { return digest_; }
    [[nodiscard]] const std::filesystem::path& directory() const { return options_.directory; }

private:
    [[nodiscard]] Binds binds() const;
    [[nodiscard]] std::set<std::uint16_t> own_ports() const;
    Result<void> write_authorities(const std::vector<PoolClass>& classes) const;

    Options options_;
    const Clock& clock_;
    std::function<void()> on_death_;
    std::string digest_;
    net::Fd lock_;
    std::vector<std::string> addresses_;  // of the inherited sockets of the master, in order
    std::vector<net::Fd> sockets_;        // the same; fewer if they could not be had from an adopted master
    std::set<std::uint16_t> busy_;        // ports of the settings that are left out
    std::optional<Process> process_;
    std::unique_ptr<DeathWatch> watch_;
};

}  // namespace fairlead::proxy::haproxy
