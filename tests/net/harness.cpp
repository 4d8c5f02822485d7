#include "net/harness.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <fstream>

#include "base/random.h"
#include "base/text.h"

namespace fairlead::net::test {

TempDir::TempDir() {
    auto pattern = (std::filesystem::temp_directory_path() / "fairlead-net-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    path_ = pattern;
}

TempDir::~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::write(const std::string& name, const std::string& content) const {
    const auto file = path_ / name;
    std::ofstream(file) << content;
    return file.string();
}

void Signal::set() {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
}

bool Signal::wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return set_; });
}

void FedStream::Feed::push(std::string bytes) {
    std::function<void()> wake;
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(bytes));
        wake = wake_;
    }
    if (wake) wake();
}

void FedStream::Feed::end() {
    std::function<void()> wake;
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        wake = wake_;
    }
    if (wake) wake();
}

void FedStream::Feed::endless(std::string chunk) {
    const std::lock_guard lock(mutex_);
    always_ = std::move(chunk);
}

std::size_t FedStream::Feed::pulls() const {
    const std::lock_guard lock(mutex_);
    return pulls_;
}

void FedStream::start(std::function<void()> wake) {
    {
        const std::lock_guard lock(feed_->mutex_);
        feed_->wake_ = std::move(wake);
    }
    feed_->started.set();
}

StreamBody::Next FedStream::pull(std::string& out) {
    const std::lock_guard lock(feed_->mutex_);
    ++feed_->pulls_;
    if (!feed_->always_.empty()) {
        out += feed_->always_;
        return Next::data;
    }
    for (const auto& bytes : feed_->waiting_) out += bytes;
    feed_->waiting_.clear();
    return feed_->ended_ ? Next::end : Next::wait;
}

Response text_response(int status, std::string body) {
    Response response;
    response.status = status;
    response.headers.set("Content-Type", "text/plain");
    response.body = std::move(body);
    return response;
}

Response stream_response(std::shared_ptr<FedStream::Feed> feed) {
    Response response;
    response.stream = std::make_unique<FedStream>(std::move(feed));
    return response;
}

void echo(Request request, const Respond& respond) {
    respond(text_response(200, fmt::format("{} {} {}", request.method, request.target, request.body.size())));
}

TestPki::TestPki() {
    const SystemClock clock;
    SystemRandom random;
    ca = make_ca("test CA", std::chrono::hours{24}, clock, random).value();
    server = make_certificate({"fairlead", {}, {"127.0.0.1", "localhost"}, std::chrono::hours{24}}, ca, clock, random)
                 .value();
    alice = make_certificate({"alice", {"admins", "writers"}, {}, std::chrono::hours{24}}, ca, clock, random).value();
    files = {dir.write("server.crt", server.certificate_pem), dir.write("server.key", server.key_pem),
             dir.write("ca.crt", ca.certificate_pem)};
}

KeyPair TestPki::client(const std::string& name, const Clock& clock, std::chrono::hours valid_for) const {
    SystemRandom random;
    return make_certificate({name, {}, {}, valid_for}, ca, clock, random).value();
}

TestServer::TestServer(FunctionHandler::Function function) : handler_(std::move(function)) {
    options.listen = "127.0.0.1:0";
    options.error_response = [](int status, const std::string& message, std::string_view) {
        return text_response(status, "refused: " + message);
    };
}

TestServer::~TestServer() = default;

void TestServer::start() {
    auto started = start_server(options, handler_, log_, metrics_);
    ASSERT_TRUE(started) << started.error().text();
    server_ = std::move(*started);
}

std::uint16_t TestServer::port() const {
    const auto text = address();
    return static_cast<std::uint16_t>(parse_int(text.substr(text.rfind(':') + 1)).value());
}

double TestServer::metric(const std::string& name) const {
    const auto text = metrics_.expose();
    for (const auto line : split(text, '\n')) {
        if (line.starts_with(name + " ")) return std::stod(std::string(line.substr(name.size() + 1)));
    }
    ADD_FAILURE() << "no metric " << name << " in:\n" << text;
    return -1;
}

struct Connection::Ssl {
    SSL_CTX* context = SSL_CTX_new(TLS_client_method());
    SSL* ssl = nullptr;
    ~Ssl() {
        SSL_free(ssl);
        SSL_CTX_free(context);
    }
};

Connection::Connection(std::uint16_t port, int receive_buffer) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own socket writes raise it in a client whose server is gone
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const timeval limit{patience.count() / 1000, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

Connection::Connection(std::uint16_t port, const Tls& tls) : Connection(port) {
    ssl_ = std::make_unique<Ssl>();
    const auto bio_of = [](const std::string& pem) {
        return std::unique_ptr<BIO, int (*)(BIO*)>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
    };
    if (!tls.ca_pem.empty()) {
        X509* ca = PEM_read_bio_X509(bio_of(tls.ca_pem).get(), nullptr, nullptr, nullptr);
        X509_STORE_add_cert(SSL_CTX_get_cert_store(ssl_->context), ca);
        X509_free(ca);
        SSL_CTX_set_verify(ssl_->context, SSL_VERIFY_PEER, nullptr);
    }
    if (!tls.certificate_pem.empty()) {
        X509* certificate = PEM_read_bio_X509(bio_of(tls.certificate_pem).get(), nullptr, nullptr, nullptr);
        EVP_PKEY* key = PEM_read_bio_PrivateKey(bio_of(tls.key_pem).get(), nullptr, nullptr, nullptr);
        SSL_CTX_use_certificate(ssl_->context, certificate);
        SSL_CTX_use_PrivateKey(ssl_->context, key);
        X509_free(certificate);
        EVP_PKEY_free(key);
    }
    ssl_->ssl = SSL_new(ssl_->context);
    SSL_set_fd(ssl_->ssl, socket_);
    connected_ = connected_ && SSL_connect(ssl_->ssl) == 1;
}

Connection::~Connection() { close(); }

void Connection::close() {
    if (ssl_ && connected_) SSL_shutdown(ssl_->ssl);
    ssl_.reset();
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    connected_ = false;
}

bool Connection::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ssl_ ? SSL_write(ssl_->ssl, bytes.data(), static_cast<int>(bytes.size()))
                               : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool Connection::read_more() {
    char buffer[16 * 1024];
    const auto got = ssl_ ? SSL_read(ssl_->ssl, buffer, sizeof buffer) : ::recv(socket_, buffer, sizeof buffer, 0);
    if (got < 0) reset_ = true;
    if (got <= 0) return false;
    in_.append(buffer, static_cast<std::size_t>(got));
    return true;
}

std::optional<std::string> Connection::read_line() {
    for (;;) {
        if (const auto end = in_.find("\r\n"); end != std::string::npos) {
            auto line = in_.substr(0, end);
            in_.erase(0, end + 2);
            return line;
        }
        if (!read_more()) return std::nullopt;
    }
}

std::optional<std::string> Connection::read_exactly(std::size_t count) {
    while (in_.size() < count) {
        if (!read_more()) return std::nullopt;
    }
    auto bytes = in_.substr(0, count);
    in_.erase(0, count);
    return bytes;
}

std::optional<Answer> Connection::read_head() {
    auto line = read_line();
    if (!line || line->size() < 12) return std::nullopt;
    Answer answer;
    answer.status = static_cast<int>(parse_int(line->substr(9, 3)).value_or(0));
    while ((line = read_line()) && !line->empty()) {
        const auto colon = line->find(':');
        answer.headers.add(line->substr(0, colon), std::string(trim(std::string_view(*line).substr(colon + 1))));
    }
    if (!line) return std::nullopt;
    return answer;
}

std::optional<std::string> Connection::read_chunk() {
    const auto size = read_line();
    if (!size || size->empty()) return std::nullopt;
    std::size_t count = 0;
    if (std::from_chars(size->data(), size->data() + size->size(), count, 16).ec != std::errc{}) return std::nullopt;
    auto bytes = read_exactly(count + 2);
    if (!bytes || !bytes->ends_with("\r\n")) return std::nullopt;
    bytes->resize(bytes->size() - 2);
    return bytes;
}

std::optional<Answer> Connection::read_answer(bool head_request) {
    auto answer = read_head();
    if (!answer || head_request || answer->status < 200 || answer->status == 204 || answer->status == 304)
        return answer;
    if (answer->headers.get("Transfer-Encoding") == "chunked") {
        for (;;) {
            const auto chunk = read_chunk();
            if (!chunk) return std::nullopt;
            if (chunk->empty()) return answer;
            answer->body += *chunk;
        }
    }
    if (!answer->headers.has("Content-Length")) {
        answer->body = read_all();
        return answer;
    }
    const auto length = parse_int(answer->headers.get("Content-Length"));
    auto body = read_exactly(static_cast<std::size_t>(length.value_or(0)));
    if (!body) return std::nullopt;
    answer->body = std::move(*body);
    return answer;
}

bool Connection::read_end() {
    return in_.empty() && !read_more() && (!reset_ || ssl_ != nullptr || errno == ECONNRESET);
}

std::string Connection::read_all() {
    while (read_more()) {
    }
    return std::exchange(in_, {});
}

std::string get(std::string_view target, std::string_view extra_headers) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: test\r\n{}\r\n", target, extra_headers);
}

}  // namespace fairlead::net::test
