// The worker that serves: what it holds, and how it is told to hold something else. Every answer is judged; the caller
// reads back after any error. Used by the driver's thread alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "proxy/haproxy/cli.h"
#include "proxy/haproxy/commands.h"
#include "proxy/haproxy/image.h"

namespace fairlead::proxy::haproxy {

// What came of a batch.
struct Pushed {
    std::size_t commands = 0, errors = 0;
    std::string first_error;
    std::map<std::string, std::string> refused_certificates, refused_authorities;  // by host, by backend: why
};

class Worker {
public:
    Worker(std::filesystem::path directory, bool tls) : directory_(std::move(directory)), tls_(tls) {}

    // To the worker that listens now. Errors: unavailable, timeout.
    Result<void> connect();
    void disconnect() { cli_.reset(); }
    [[nodiscard]] bool connected() const { return cli_.has_value(); }
    [[nodiscard]] int pid() const { return pid_; }

    // Process id of the worker that answers now, over a connection of its own.
    [[nodiscard]] Result<int> answering() const;
    // Everything that it holds. Keys that are in a map twice are removed on the way.
    Result<Image> read_back();
    // Errors: the connection failed; what was done is unknown.
    Result<Pushed> push(const Work& work, const Image& wanted);
    Result<std::string> ask(std::string_view command) const;

private:
    Result<void> run(const std::vector<Command>& commands, Pushed& pushed);
    Result<void> replace(MapFile file, const MapEntries& entries, Pushed& pushed);
    Result<void> certificate(const PemChange& change, const std::string& pem, Pushed& pushed);
    Result<void> authority(const PemChange& change, const std::string& pem, Pushed& pushed);
    // True: the answer holds `good`.
    Result<bool> tell(std::string_view command, std::string_view payload, std::string_view good, std::string& said,
                      Pushed& pushed);
    [[nodiscard]] std::filesystem::path path(std::string_view file) const { return directory_ / file; }

    std::filesystem::path directory_;
    bool tls_;
    std::optional<Cli> cli_;
    int pid_ = 0;
};

}  // namespace fairlead::proxy::haproxy
