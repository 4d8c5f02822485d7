// Measures how long a change takes from the moment its write is sent to the moment each watcher has read it. One
// process: N watch connections on one thread, a paced writer on another, one steady clock. bench/run.py starts it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "pace.h"

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using TlsStream = asio::ssl::stream<Tcp::socket>;

namespace {

using fairlead::bench::now_ns;
using fairlead::bench::paced;
using fairlead::bench::percentile;

struct Options {
    std::string address, ca, cert, key, namespace_prefix = "watch-";
    int watchers = 1;
    int namespaces = 1;  // 1: every watcher sees every write; more: writes and watchers are spread over them
    int rate = 1000;
    int seconds = 5;
    int payload = 200;
};

std::string routes_path(const Options& options, int i) {
    return fmt::format("/apis/route.openshift.io/v1/namespaces/{}{}/routes", options.namespace_prefix,
                       i % options.namespaces);
}

void connect(TlsStream& stream, const Options& options) {
    const auto colon = options.address.rfind(':');
    Tcp::resolver resolver(stream.get_executor());
    asio::connect(stream.next_layer(),
                  resolver.resolve(options.address.substr(0, colon), options.address.substr(colon + 1)));
    stream.next_layer().set_option(Tcp::no_delay(true));
    stream.handshake(TlsStream::client);
}

// One watch: reads whatever comes and notes the latency of every "sentAt" it finds.
class Watcher : public std::enable_shared_from_this<Watcher> {
public:
    Watcher(asio::io_context& io, asio::ssl::context& tls, const Options& options, int number, std::vector<float>& took)
        : stream_(io, tls), took_(took) {
        connect(stream_, options);
        const std::string request =
            fmt::format("GET {}?watch=true HTTP/1.1\r\nHost: bench\r\nAccept: application/json\r\n\r\n",
                        routes_path(options, number));
        asio::write(stream_, asio::buffer(request));
        asio::read_until(stream_, head_, "\r\n\r\n");
    }
    void read() {
        stream_.async_read_some(asio::buffer(buffer_.data() + kept_, buffer_.size() - kept_),
                                [self = shared_from_this()](boost::system::error_code error, std::size_t size) {
                                    if (error) return;
                                    self->scan(self->kept_ + size);
                                    self->read();
                                });
    }
    void close() {
        boost::system::error_code ignored;
        stream_.next_layer().close(ignored);
    }

private:
    void scan(std::size_t size) {
        constexpr std::string_view marker = "\"sentAt\":\"";
        constexpr std::size_t digits = 20;
        const std::int64_t now = now_ns();
        const std::string_view text(buffer_.data(), size);
        std::size_t from = 0;
        while (true) {
            const std::size_t at = text.find(marker, from);
            if (at == std::string_view::npos || at + marker.size() + digits > size) {
                // Keep what may be the start of a marker that goes on in the next read.
                const std::size_t keep_from =
                    at != std::string_view::npos ? at : size - std::min(size - from, marker.size());
                kept_ = size - keep_from;
                std::copy(text.begin() + static_cast<std::ptrdiff_t>(keep_from), text.end(), buffer_.begin());
                return;
            }
            std::int64_t sent = 0;
            for (std::size_t i = 0; i < digits; ++i) sent = sent * 10 + (text[at + marker.size() + i] - '0');
            took_.push_back(static_cast<float>(static_cast<double>(now - sent) / 1e6));
            from = at + marker.size() + digits;
        }
    }
    TlsStream stream_;
    asio::streambuf head_;
    std::vector<char> buffer_ = std::vector<char>(64 * 1024);
    std::size_t kept_ = 0;
    std::vector<float>& took_;
};

// Sends requests one after another on one connection and reads whole answers with Content-Length.
class Caller {
public:
    Caller(asio::io_context& io, asio::ssl::context& tls, const Options& options) : stream_(io, tls) {
        connect(stream_, options);
    }
    int post(const std::string& path, const std::string& body) {
        const std::string request = fmt::format(
            "POST {} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", path,
            body.size(), body);
        asio::write(stream_, asio::buffer(request));
        const std::size_t head = asio::read_until(stream_, asio::dynamic_buffer(answer_), "\r\n\r\n");
        const std::size_t at = answer_.find("ontent-Length: ");
        const std::size_t length = std::strtoul(answer_.c_str() + at + 15, nullptr, 10);
        const int status = static_cast<int>(std::strtol(answer_.c_str() + 9, nullptr, 10));
        if (answer_.size() < head + length) {
            asio::read(stream_, asio::dynamic_buffer(answer_), asio::transfer_exactly(head + length - answer_.size()));
        }
        answer_.erase(0, head + length);
        return status;
    }

private:
    TlsStream stream_;
    std::string answer_;
};

int run(const Options& options) {
    asio::ssl::context tls(asio::ssl::context::tls_client);
    tls.load_verify_file(options.ca);
    tls.set_verify_mode(asio::ssl::verify_peer);
    tls.use_certificate_chain_file(options.cert);
    tls.use_private_key_file(options.key, asio::ssl::context::pem);

    asio::io_context setup_io;
    Caller setup(setup_io, tls, options);
    for (int i = 0; i < options.namespaces; ++i) {
        setup.post("/api/v1/namespaces",
                   fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}{}"}}}})",
                               options.namespace_prefix, i));
    }

    asio::io_context io;
    std::vector<float> took;
    took.reserve(static_cast<std::size_t>(options.rate) * static_cast<std::size_t>(options.seconds) *
                 static_cast<std::size_t>(std::max(1, options.watchers / options.namespaces)));
    std::vector<std::shared_ptr<Watcher>> watchers;
    for (int i = 0; i < options.watchers; ++i) {
        watchers.push_back(std::make_shared<Watcher>(io, tls, options, i, took));
        watchers.back()->read();
    }
    auto work = asio::make_work_guard(io);
    std::thread reader([&] { io.run(); });

    const std::string padding(static_cast<std::size_t>(options.payload), 'x');
    const std::int64_t run_id = now_ns();
    const int writes = options.rate * options.seconds;
    std::vector<float> acknowledged;
    int failures = 0;
    const double seconds = paced(options.rate, options.seconds, [&](int i) {
        const std::int64_t sent = now_ns();
        const std::string body = fmt::format(
            R"({{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{{"name":"w{}-{}","annotations":{{"sentAt":"{:020}","pad":"{}"}}}},"spec":{{"host":"w.example.com","to":{{"name":"web"}}}}}})",
            run_id, i, sent, padding);
        if (setup.post(routes_path(options, i), body) != 201) ++failures;
        acknowledged.push_back(static_cast<float>(static_cast<double>(now_ns() - sent) / 1e6));
    });
    std::this_thread::sleep_for(std::chrono::seconds(2));  // whatever is still under way arrives
    work.reset();
    io.stop();
    reader.join();
    for (const auto& watcher : watchers) watcher->close();

    const std::size_t wanted = static_cast<std::size_t>(writes - failures) *
                               static_cast<std::size_t>(options.watchers) /
                               static_cast<std::size_t>(options.namespaces);
    const std::size_t delivered = took.size();
    fmt::print(
        R"({{"watchers":{},"namespaces":{},"writes_per_second":{:.0f},"failures":{},"delivered":{},"wanted":{},"p50_ms":{:.3f},"p99_ms":{:.3f},"max_ms":{:.3f},"write_p50_ms":{:.3f},"write_p99_ms":{:.3f}}})"
        "\n",
        options.watchers, options.namespaces, writes / seconds, failures, delivered, wanted, percentile(took, 0.5),
        percentile(took, 0.99), percentile(took, 1.0), percentile(acknowledged, 0.5), percentile(acknowledged, 0.99));
    return failures == 0 && delivered == wanted ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Watch latency: write sent to event read");
    app.add_option("--address", options.address)->required();
    app.add_option("--ca", options.ca)->required();
    app.add_option("--cert", options.cert)->required();
    app.add_option("--key", options.key)->required();
    app.add_option("--watchers", options.watchers);
    app.add_option("--namespaces", options.namespaces);
    app.add_option("--namespace-prefix", options.namespace_prefix);
    app.add_option("--rate", options.rate);
    app.add_option("--seconds", options.seconds);
    app.add_option("--payload", options.payload);
    CLI11_PARSE(app, argc, argv);
    return run(options);
}
