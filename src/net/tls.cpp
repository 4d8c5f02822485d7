#include "net/tls.h"

#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <cerrno>

#include "net/handles.h"

namespace fairlead::net {
namespace {

using Ssl = std::unique_ptr<SSL, Free<SSL_free>>;
using SslCtx = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;
using BioMethod = std::unique_ptr<BIO_METHOD, Free<BIO_meth_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;

constexpr std::size_t max_record_bytes = 16UL * 1024;  // RFC 8446 5.1

std::string last_error() {
    std::string text;
    while (const auto code = ERR_get_error()) {
        char line[256];
        ERR_error_string_n(code, line, sizeof line);
        if (!text.empty()) text += "; ";
        const char* reason = ERR_reason_error_string(code);
        text += reason != nullptr ? reason : line;
    }
    return text.empty() ? "no reason given" : text;
}

// OpenSSL's own socket BIO writes with write(2), which raises SIGPIPE in whoever uses this library. Ours does not.
int socket_of(BIO* bio) { return *static_cast<const int*>(BIO_get_data(bio)); }

int bio_write(BIO* bio, const char* data, int size) {
    BIO_clear_retry_flags(bio);
    const auto sent = ::send(socket_of(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
    return static_cast<int>(sent);
}

int bio_read(BIO* bio, char* data, int size) {
    BIO_clear_retry_flags(bio);
    const auto got = ::recv(socket_of(bio), data, static_cast<std::size_t>(size), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
    if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return static_cast<int>(got);
}

long bio_ctrl(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP) return 1;
    if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return 0;
}

BioMethod make_bio_method() {
    BioMethod method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fairlead socket"));
    if (method == nullptr) return method;
    BIO_meth_set_write(method.get(), bio_write);
    BIO_meth_set_read(method.get(), bio_read);
    BIO_meth_set_ctrl(method.get(), bio_ctrl);
    return method;
}

std::string utf8_of(const X509_NAME_ENTRY* entry) {
    unsigned char* bytes = nullptr;
    const int size = ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry));
    if (size < 0) return {};
    std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    OPENSSL_free(bytes);
    return text;
}

class TlsStream final : public Stream {
public:
    // `context` and `method` outlive the stream.
    TlsStream(int socket, SSL_CTX* context, const BIO_METHOD* method)
        : socket_(socket), context_(context), method_(method) {}

    Outcome handshake() override {
        // A handshake takes 40 KiB: those who connect and say nothing do not get them.
        if (ssl_ == nullptr) {
            char first = 0;
            if (::recv(socket_, &first, 1, MSG_PEEK) < 0 && (errno == EAGAIN || errno == EINTR)) {
                return {State::want_read};
            }
            if (!begin()) return {State::failed};
        }
        ERR_clear_error();
        const int result = SSL_accept(ssl_.get());
        return result == 1 ? Outcome{State::done} : refusal(result);
    }

    Outcome read(std::span<char> into) override {
        ERR_clear_error();
        std::size_t bytes = 0;
        const int result = SSL_read_ex(ssl_.get(), into.data(), into.size(), &bytes);
        return result == 1 ? Outcome{State::done, bytes} : refusal(result);
    }

    Outcome write(std::string_view bytes) override {
        ERR_clear_error();
        std::size_t sent = 0;
        const auto size = std::min(bytes.size(), max_record_bytes);
        const int result = SSL_write_ex(ssl_.get(), bytes.data(), size, &sent);
        return result == 1 ? Outcome{State::done, sent} : refusal(result);
    }

    [[nodiscard]] bool has_buffered() const override { return ssl_ != nullptr && SSL_has_pending(ssl_.get()) == 1; }

    void finish() override {
        ERR_clear_error();
        if (ssl_ != nullptr && !broken_ && SSL_is_init_finished(ssl_.get()) == 1) SSL_shutdown(ssl_.get());
        ::shutdown(socket_, SHUT_WR);
    }

    void identify(Peer& peer) const override {
        const Certificate certificate(SSL_get1_peer_certificate(ssl_.get()));
        if (certificate == nullptr) return;
        if (const auto* problem = static_cast<const char*>(SSL_get_app_data(ssl_.get())); problem != nullptr) {
            peer.certificate_problem = problem;
            return;
        }
        if (SSL_get_verify_result(ssl_.get()) != X509_V_OK) return;
        const X509_NAME* subject = X509_get_subject_name(certificate.get());
        for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
            const X509_NAME_ENTRY* entry = X509_NAME_get_entry(subject, i);
            switch (OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))) {
                case NID_commonName:
                    peer.certificate_name = utf8_of(entry);
                    break;
                case NID_organizationName:
                    peer.certificate_groups.push_back(utf8_of(entry));
                    break;
            }
        }
    }

    [[nodiscard]] std::string error() const override { return error_; }

private:
    bool begin() {
        ERR_clear_error();
        ssl_.reset(SSL_new(context_));
        BIO* bio = ssl_ == nullptr ? nullptr : BIO_new(method_);
        if (bio == nullptr) {
            error_ = last_error();
            ssl_.reset();
            return false;
        }
        BIO_set_data(bio, &socket_);
        BIO_set_init(bio, 1);
        SSL_set_bio(ssl_.get(), bio, bio);  // takes ownership
        return true;
    }

    Outcome refusal(int result) {
        switch (SSL_get_error(ssl_.get(), result)) {
            case SSL_ERROR_WANT_READ:
                return {State::want_read};
            case SSL_ERROR_WANT_WRITE:
                return {State::want_write};
            case SSL_ERROR_ZERO_RETURN:
                return {State::end};
            case SSL_ERROR_SYSCALL:
                error_ = "connection lost";
                break;
            default:
                error_ = last_error();
                break;
        }
        broken_ = true;  // OpenSSL forbids SSL_shutdown after a fatal error
        return {State::failed};
    }

    int socket_;  // the BIO of ssl_ points to it
    SSL_CTX* context_;
    const BIO_METHOD* method_;
    Ssl ssl_;  // from the first byte of the client on
    bool broken_ = false;
    std::string error_;
};

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                    unsigned offered_size, void*) {
    static constexpr unsigned char http_1_1[] = "\x08http/1.1";
    unsigned char* match = nullptr;
    const int result = SSL_select_next_proto(&match, chosen_size, http_1_1, sizeof http_1_1 - 1, offered, offered_size);
    // A client that offers only h2 gets no ALPN answer, and falls back or leaves by itself.
    if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
    *chosen = match;
    return SSL_TLSEXT_ERR_OK;
}

// A client certificate that does not check out ends no handshake: its holder is nobody, and the layer above answers 401
// where a name is needed, as Kubernetes does. Noted on the connection, because OpenSSL forgets an error that was passed
// over when a later certificate of the chain is fine.
int note_verification(int fine, X509_STORE_CTX* checked) {
    if (fine == 1) return 1;
    auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(checked, SSL_get_ex_data_X509_STORE_CTX_idx()));
    if (ssl == nullptr) return 0;
    const char* problem = X509_verify_cert_error_string(X509_STORE_CTX_get_error(checked));
    if (SSL_get_app_data(ssl) == nullptr) SSL_set_app_data(ssl, const_cast<char*>(problem));
    return 1;
}

}  // namespace

struct TlsContext::Impl {
    BioMethod method;
    SslCtx context;
};

TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsContext::~TlsContext() = default;

Result<std::unique_ptr<TlsContext>> TlsContext::load(const TlsFiles& files) {
    ERR_clear_error();
    auto impl = std::make_unique<Impl>(Impl{make_bio_method(), SslCtx(SSL_CTX_new(TLS_server_method()))});
    if (impl->method == nullptr || impl->context == nullptr) return fail(Errc::internal, "TLS: " + last_error());
    SSL_CTX* context = impl->context.get();

    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_TICKET);
    SSL_CTX_set_mode(context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context, 1);  // header and body of a record in one system call
    // No resumption: every connection shows its certificate anew, so that an expired one stops working at once.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);

    if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
        return fail(Errc::invalid, "tls.certificate", fmt::format("{}: {}", files.certificate, last_error()));
    }
    if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
        return fail(Errc::invalid, "tls.key", fmt::format("{}: {}", files.key, last_error()));
    }
    if (SSL_CTX_check_private_key(context) != 1) {
        return fail(Errc::invalid, "tls.key",
                    fmt::format("{} does not belong to {}: {}", files.key, files.certificate, last_error()));
    }
    if (!files.client_ca.empty()) {
        STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(files.client_ca.c_str());
        if (names == nullptr || SSL_CTX_load_verify_file(context, files.client_ca.c_str()) != 1) {
            sk_X509_NAME_pop_free(names, X509_NAME_free);
            return fail(Errc::invalid, "tls.client_ca", fmt::format("{}: {}", files.client_ca, last_error()));
        }
        SSL_CTX_set_client_CA_list(context, names);  // takes ownership
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, note_verification);
    }
    return std::unique_ptr<TlsContext>(new TlsContext(std::move(impl)));
}

std::unique_ptr<Stream> TlsContext::make_stream(int socket) const {
    return std::make_unique<TlsStream>(socket, impl_->context.get(), impl_->method.get());
}

}  // namespace fairlead::net
