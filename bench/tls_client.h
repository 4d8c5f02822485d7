// A client connection for load generators: non-blocking, plain or TLS, driven by epoll on the caller's thread.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

namespace bench {

struct Target {
    std::string host, port;
    bool tls = false;
};

class TlsSettings {
public:
    // Empty texts are file names not given. Says on standard error what is wrong, and is then not ok().
    TlsSettings(const std::string& ca, const std::string& certificate, const std::string& key, bool insecure);
    ~TlsSettings() { SSL_CTX_free(context_); }
    TlsSettings(const TlsSettings&) = delete;
    TlsSettings& operator=(const TlsSettings&) = delete;
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] SSL_CTX* context() const { return context_; }

private:
    SSL_CTX* context_;
    bool ok_ = true;
};

class Socket {
public:
    enum class State { done, again, closed };

    Socket() = default;
    ~Socket() { close(); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    // Blocking: connection and handshake are not what is measured. False when refused.
    bool connect(const Target& target, const TlsSettings& tls);
    void close();
    [[nodiscard]] int fd() const { return fd_; }
    // `moved` is set when done.
    State read(char* into, std::size_t size, std::size_t& moved);
    State write(std::string_view bytes, std::size_t& moved);

private:
    State state_of(int result) const;

    int fd_ = -1;
    SSL* ssl_ = nullptr;
};

}  // namespace bench
