// A world around a real nginx that serves hosts and paths; members and clients are HAProxy's.
#pragma once

#include "proxy/nginx/driver.h"
#include "proxy/world.h"

namespace fairlead::proxy::nginx {

using namespace std::chrono_literals;
using haproxy::add_route;
using haproxy::Client;
using haproxy::eventually;
using haproxy::free_port;
using haproxy::Member;
using haproxy::Reply;

class HttpWorld {
public:
    HttpWorld() : http_(free_port()), https_(free_port()), status_(free_port()) {
        std::string name = std::filesystem::temp_directory_path() / "flnh-XXXXXX";
        directory_ = ::mkdtemp(name.data());
        options.server.directory = directory_ / "n";
        options.server.workers = 1;
        options.server.drain = 1s;
        options.settings.http_listen = {"127.0.0.1:" + std::to_string(http_)};
        options.settings.https_listen = {"127.0.0.1:" + std::to_string(https_)};
        options.settings.status_listen = "127.0.0.1:" + std::to_string(status_);
        options.pace = {.least = 100ms, .most = 100ms};
    }
    ~HttpWorld() {
        driver.reset();
        end_left_behind(options.server.directory, clock);
        for (const auto pid : Server(options.server, clock, [] {}).processes()) ::kill(pid, SIGKILL);
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    HttpWorld(const HttpWorld&) = delete;
    HttpWorld& operator=(const HttpWorld&) = delete;

    void start() {
        auto started = nginx::start(options, clock, log, metrics);
        ASSERT_TRUE(started) << started.error().text();
        driver = std::move(*started);
        if (!leave_running) driver->stop_proxy_at_end();
    }
    void give(const traffic::RoutingTable& table) {
        ASSERT_NE(driver, nullptr);
        if (first_) {
            driver->reset(table, ++version_);
        } else {
            driver->change(traffic::diff(table_, table), ++version_);
        }
        first_ = false;
        table_ = table;
    }
    // Gives the table to the driver, and waits until it is in force.
    void want(const traffic::RoutingTable& table) {
        give(table);
        ASSERT_TRUE(eventually([&] { return driver->progress().programmed == version_; }))
            << driver->progress().trouble;
    }
    void lose_driver() {
        driver.reset();
        first_ = true;
    }
    Reply get(const std::string& host, const std::string& path = "/", const std::string& headers = "") const {
        return Client(http_).get(host, path, headers);
    }
    [[nodiscard]] pid_t master() const {
        return static_cast<pid_t>(
            parse_int(trim(read_file(options.server.directory / "master.pid").value_or(""))).value_or(0));
    }
    [[nodiscard]] std::uint16_t http() const { return http_; }
    [[nodiscard]] std::uint16_t https() const { return https_; }
    [[nodiscard]] std::uint16_t status() const { return status_; }
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

    SystemClock clock;
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    HttpOptions options;
    bool leave_running = false;
    std::unique_ptr<Driver> driver;

private:
    std::uint16_t http_, https_, status_;
    std::filesystem::path directory_;
    traffic::RoutingTable table_;
    std::uint64_t version_ = 0;
    bool first_ = true;
};

}  // namespace fairlead::proxy::nginx
