#include "tls_client.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace bench {

TlsSettings::TlsSettings(const std::string& ca, const std::string& certificate, const std::string& key, bool insecure)
    : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context_, 1);
    SSL_CTX_set_verify(context_, insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
    const auto check = [this](bool good, const std::string& file) {
        if (!good) fmt::print(stderr, "cannot use {}\n", file);
        ok_ = ok_ && good;
    };
    if (!ca.empty()) check(SSL_CTX_load_verify_file(context_, ca.c_str()) == 1, ca);
    if (!certificate.empty()) {
        check(SSL_CTX_use_certificate_chain_file(context_, certificate.c_str()) == 1, certificate);
        check(SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM) == 1, key);
    }
}

bool Socket::connect(const Target& target, const TlsSettings& tls) {
    close();
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(target.host.c_str(), target.port.c_str(), &hints, &found) != 0) return false;
    fd_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected = ::connect(fd_, found->ai_addr, found->ai_addrlen) == 0;
    freeaddrinfo(found);
    if (!connected) return false;
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (target.tls) {
        ssl_ = SSL_new(tls.context());
        SSL_set_fd(ssl_, fd_);
        ERR_clear_error();
        if (SSL_connect(ssl_) != 1) return false;
    }
    return fcntl(fd_, F_SETFL, O_NONBLOCK) == 0;
}

void Socket::close() {
    SSL_free(ssl_);
    ssl_ = nullptr;
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

Socket::State Socket::state_of(int result) const {
    if (ssl_ == nullptr) return result < 0 && errno == EAGAIN ? State::again : State::closed;
    const int reason = SSL_get_error(ssl_, result);
    return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE ? State::again : State::closed;
}

Socket::State Socket::read(char* into, std::size_t size, std::size_t& moved) {
    ERR_clear_error();
    const auto got = ssl_ != nullptr ? SSL_read(ssl_, into, static_cast<int>(size)) : ::recv(fd_, into, size, 0);
    if (got <= 0) return state_of(static_cast<int>(got));
    moved = static_cast<std::size_t>(got);
    return State::done;
}

Socket::State Socket::write(std::string_view bytes, std::size_t& moved) {
    ERR_clear_error();
    const auto sent = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                      : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return state_of(static_cast<int>(sent));
    moved = static_cast<std::size_t>(sent);
    return State::done;
}

}  // namespace bench
