// How long a change takes from its acknowledgement by the API to the first DNS answer that shows it: patches one
// DNSRecord of one address over a kept-alive TLS connection, and from the moment the answer is complete asks the DNS
// server without a pause until it gives the new address. Prints one line of JSON.
#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "../pace.h"
#include "../tls_client.h"
#include "base/text.h"

namespace {

using fairlead::bench::now_ns;
using fairlead::bench::percentile;

struct Options {
    bench::Target target{"127.0.0.1", "", true};
    std::string path, name, ca, cert, key;
    unsigned dns_port = 0;
    int changes = 1'000, pause_ms = 5;
};

std::string address_of(int i) { return fmt::format("10.{}.{}.{}", i >> 16 & 255, i >> 8 & 255, i & 255); }

class Api {
public:
    Api(const Options& options, const bench::TlsSettings& tls) : options_(options) {
        ok_ = socket_.connect(options.target, tls);
    }
    [[nodiscard]] bool ok() const { return ok_; }

    // True when the server has acknowledged it.
    bool patch(const std::string& address) {
        const auto body = fmt::format(
            R"({{"spec":{{"endpoints":[{{"dnsName":"{}","recordTTL":60,"recordType":"A","targets":["{}"]}}]}}}})",
            options_.name, address);
        const auto request = fmt::format(
            "PATCH {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/merge-patch+json\r\nContent-Length: "
            "{}\r\n\r\n{}",
            options_.path, options_.target.host, body.size(), body);
        std::size_t sent = 0;
        while (sent < request.size()) {
            std::size_t moved = 0;
            const auto state = socket_.write(std::string_view(request).substr(sent), moved);
            if (state == bench::Socket::State::closed) return false;
            if (state == bench::Socket::State::done) sent += moved;
            if (state == bench::Socket::State::again) wait(POLLOUT);
        }
        return read_answer();
    }

private:
    void wait(short events) const {
        pollfd one{socket_.fd(), events, 0};
        (void)poll(&one, 1, 10'000);
    }

    bool read_answer() {
        std::string in;
        char bytes[65'536];
        for (;;) {
            std::size_t moved = 0;
            const auto state = socket_.read(bytes, sizeof bytes, moved);
            if (state == bench::Socket::State::closed) return false;
            if (state == bench::Socket::State::again) {
                wait(POLLIN);
                continue;
            }
            in.append(bytes, moved);
            const auto head = in.find("\r\n\r\n");
            if (head == std::string::npos) continue;
            const auto length = fairlead::lower(in.substr(0, head)).find("content-length:");
            if (length == std::string::npos) return false;
            const auto size = std::strtoul(in.c_str() + length + 15, nullptr, 10);
            if (in.size() >= head + 4 + size) return in.compare(9, 3, "200") == 0;
        }
    }

    const Options& options_;
    bench::Socket socket_;
    bool ok_ = false;
};

class Dns {
public:
    explicit Dns(const Options& options) : socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(options.dns_port));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        (void)connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to);
        query_.assign("\0\7\0\0\0\1\0\0\0\0\0\0", 12);
        for (const auto label : fairlead::split(options.name, '.')) {
            query_ += static_cast<char>(label.size());
            query_ += label;
        }
        query_.append("\0\0\1\0\1", 5);
    }
    ~Dns() { close(socket_); }
    Dns(const Dns&) = delete;
    Dns& operator=(const Dns&) = delete;

    // The last four bytes of the answer, which are its address; nothing if none came.
    std::optional<std::string> ask() {
        (void)send(socket_, query_.data(), query_.size(), 0);
        pollfd one{socket_, POLLIN, 0};
        if (poll(&one, 1, 1'000) <= 0) return std::nullopt;
        char reply[512];
        const auto size = recv(socket_, reply, sizeof reply, 0);
        if (size < 16 || reply[7] != 1) return std::nullopt;
        const auto* last = reinterpret_cast<const unsigned char*>(reply) + size - 4;
        return fmt::format("{}.{}.{}.{}", last[0], last[1], last[2], last[3]);
    }

private:
    int socket_;
    std::string query_;
};

int measure(const Options& options, const bench::TlsSettings& tls) {
    Api api(options, tls);
    if (!api.ok()) {
        fmt::print(stderr, "cannot connect to port {}\n", options.target.port);
        return 1;
    }
    Dns dns(options);
    std::vector<float> written, shown;
    int unanswered = 0;
    for (int i = 0; i < options.changes; ++i) {
        const auto address = address_of(i);
        const auto began = now_ns();
        if (!api.patch(address)) {
            fmt::print(stderr, "change {} was refused\n", i);
            return 1;
        }
        const auto acknowledged = now_ns();
        for (;;) {
            const auto answer = dns.ask();
            if (answer == address) break;
            unanswered += answer ? 0 : 1;
            if (now_ns() - acknowledged > 10'000'000'000) {
                fmt::print(stderr, "change {} is not served after 10 s\n", i);
                return 1;
            }
        }
        shown.push_back(static_cast<float>(now_ns() - acknowledged) / 1e6F);
        written.push_back(static_cast<float>(acknowledged - began) / 1e6F);
        (void)poll(nullptr, 0, options.pause_ms);
    }
    fmt::print(
        "{{\"changes\":{},\"unanswered\":{},\"served_p50_ms\":{:.3f},\"served_p99_ms\":{:.3f},\"served_max_ms\":{:.3f},"
        "\"written_p50_ms\":{:.3f},\"written_p99_ms\":{:.3f}}}\n",
        options.changes, unanswered, percentile(shown, 0.5), percentile(shown, 0.99), percentile(shown, 1),
        percentile(written, 0.5), percentile(written, 0.99));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    Options options;
    CLI::App app("From the acknowledgement of a change to its first answer");
    app.add_option("--api-port", options.target.port)->required();
    app.add_option("--path", options.path, "of the DNSRecord")->required();
    app.add_option("--name", options.name, "that it gives an address to")->required();
    app.add_option("--dns-port", options.dns_port)->required();
    app.add_option("--changes", options.changes);
    app.add_option("--pause-ms", options.pause_ms, "between two changes");
    app.add_option("--ca", options.ca)->required();
    app.add_option("--cert", options.cert)->required();
    app.add_option("--key", options.key)->required();
    CLI11_PARSE(app, argc, argv);
    const bench::TlsSettings tls(options.ca, options.cert, options.key, false);
    return tls.ok() ? measure(options, tls) : 2;
}
