// What the tests of this layer share: a server on a free port with a handler made of a function, a raw client that can
// send anything (plain or TLS), certificates in a temporary folder, and a stream that a test feeds.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/metrics.h"
#include "net/pki.h"
#include "net/server.h"

namespace fairlead::net::test {

using namespace std::chrono_literals;

inline constexpr std::chrono::milliseconds patience = 5s;  // far above what anything here takes, sanitizers included

class TempDir {
public:
    TempDir();
    ~TempDir();
    [[nodiscard]] std::string write(const std::string& name, const std::string& content) const;

private:
    std::filesystem::path path_;
};

// Waits for something to happen on another thread.
class Signal {
public:
    void set();
    [[nodiscard]] bool wait(std::chrono::milliseconds limit = patience);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;
};

// A stream whose bytes come from the test. The state is shared with the test, which outlives the stream.
class FedStream final : public StreamBody {
public:
    class Feed {
    public:
        void push(std::string bytes);
        void end();
        void endless(std::string chunk);  // every pull gives this
        [[nodiscard]] std::size_t pulls() const;
        Signal started, destroyed;

    private:
        friend class FedStream;
        mutable std::mutex mutex_;
        std::deque<std::string> waiting_;
        std::string always_;
        bool ended_ = false;
        std::size_t pulls_ = 0;
        std::function<void()> wake_;
    };

    explicit FedStream(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
    ~FedStream() override { feed_->destroyed.set(); }
    void start(std::function<void()> wake) override;
    Next pull(std::string& out) override;

private:
    std::shared_ptr<Feed> feed_;
};

class FunctionHandler final : public Handler {
public:
    using Function = std::function<void(Request, Respond)>;
    explicit FunctionHandler(Function function) : function_(std::move(function)) {}
    void handle(Request request, Respond respond) override { function_(std::move(request), std::move(respond)); }

private:
    Function function_;
};

Response text_response(int status, std::string body);
Response stream_response(std::shared_ptr<FedStream::Feed> feed);
// Answers "METHOD target body-size", at once.
void echo(Request request, const Respond& respond);

// A CA with a server certificate for 127.0.0.1 and a client certificate (CN alice, O admins, O writers).
struct TestPki {
    TestPki();
    // One more client certificate of this CA.
    [[nodiscard]] KeyPair client(const std::string& name, const Clock& clock, std::chrono::hours valid_for) const;

    KeyPair ca, server, alice;
    TempDir dir;
    TlsFiles files;
};

// A server with short timeouts; options may be changed before start().
class TestServer {
public:
    explicit TestServer(FunctionHandler::Function function = echo);
    ~TestServer();

    ServerOptions options;
    void start();
    void stop(std::chrono::milliseconds grace = 2s) { server_->shutdown(grace); }
    [[nodiscard]] std::string address() const { return server_->address(); }
    [[nodiscard]] std::uint16_t port() const;
    // The value of one metric line, as "name" or "name{label=...}".
    [[nodiscard]] double metric(const std::string& name) const;

private:
    FunctionHandler handler_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    std::unique_ptr<Server> server_;
};

struct Answer {
    int status = 0;
    Headers headers;
    std::string body;
};

// One connection, used by hand. Reads give up after `patience`.
class Connection {
public:
    struct Tls {
        std::string ca_pem, certificate_pem, key_pem;
    };
    explicit Connection(std::uint16_t port, int receive_buffer = 0);
    Connection(std::uint16_t port, const Tls& tls);
    ~Connection();

    [[nodiscard]] bool connected() const { return connected_; }
    bool send(std::string_view bytes);
    // Reads one answer; nothing when the connection ends before it does. 100 Continue is an answer of its own.
    std::optional<Answer> read_answer(bool head_request = false);
    std::optional<Answer> read_head();
    // The next chunk of a chunked answer; "" is the last one.
    std::optional<std::string> read_chunk();
    // True when the server closes without sending more.
    bool read_end();
    // Everything until the end.
    std::string read_all();
    void close();

private:
    struct Ssl;
    bool read_more();
    std::optional<std::string> read_line();
    std::optional<std::string> read_exactly(std::size_t count);

    int socket_ = -1;
    bool connected_ = false;
    bool reset_ = false;
    std::unique_ptr<Ssl> ssl_;
    std::string in_;
};

std::string get(std::string_view target, std::string_view extra_headers = {});

}  // namespace fairlead::net::test
