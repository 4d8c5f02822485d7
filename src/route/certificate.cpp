#include "route/certificate.h"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <ctime>
#include <limits>
#include <memory>
#include <vector>

#include "base/text.h"

namespace fairlead::route {

namespace {

constexpr std::size_t max_pem_bytes = 1024UL * 1024;  // as a Secret
constexpr std::size_t max_certificates = 64;          // of a chain, or of a bundle of authorities

template <auto Function>
struct Free {
    template <class T>
    void operator()(T* value) const {
        Function(value);
    }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using X509Ptr = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Context = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;

// Why OpenSSL did not like it; forgets it.
std::string reason() {
    const auto code = ERR_peek_last_error();
    const char* words = code != 0 ? ERR_reason_error_string(code) : nullptr;
    std::string text = words != nullptr ? words : "not readable";
    ERR_clear_error();
    return text;
}

Bio reader(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

std::string written(BIO* bio) {
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

// Keys with a pass phrase are refused instead of asked for on a terminal.
int no_pass_phrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

Result<std::vector<X509Ptr>> read_certificates(std::string_view pem, const char* field) {
    if (pem.size() > max_pem_bytes) {
        return fail(Errc::invalid, field, fmt::format("has {} bytes, more than {}", pem.size(), max_pem_bytes));
    }
    ERR_clear_error();
    const auto bio = reader(pem);
    std::vector<X509Ptr> certificates;
    for (;;) {
        X509Ptr next(PEM_read_bio_X509(bio.get(), nullptr, no_pass_phrase, nullptr));
        if (!next) break;
        if (certificates.size() == max_certificates) {
            return fail(Errc::invalid, field, fmt::format("has more than {} certificates", max_certificates));
        }
        certificates.push_back(std::move(next));
    }
    const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (!at_end) return fail(Errc::invalid, field, fmt::format("is no PEM certificate: {}", reason()));
    ERR_clear_error();
    if (certificates.empty() && !trim(pem).empty()) {
        return fail(Errc::invalid, field, "is no PEM certificate: -----BEGIN CERTIFICATE----- is expected");
    }
    return certificates;
}

Result<Key> read_key(std::string_view pem) {
    if (pem.size() > max_pem_bytes) {
        return fail(Errc::invalid, "key", fmt::format("has {} bytes, more than {}", pem.size(), max_pem_bytes));
    }
    ERR_clear_error();
    const auto bio = reader(pem);
    Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_pass_phrase, nullptr));
    if (!key) return fail(Errc::invalid, "key", fmt::format("is no PEM private key: {}", reason()));
    return key;
}

WallTime time_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
    return std::chrono::system_clock::from_time_t(timegm(&parts));
}

// What a proxy on this machine will not take: keys that are too small, digests that are too weak.
Result<void> accepted(X509* certificate, EVP_PKEY* key, const std::vector<X509Ptr>& chain) {
    const Context context(SSL_CTX_new(TLS_server_method()));
    if (!context) return fail(Errc::internal, reason());
    if (SSL_CTX_use_certificate(context.get(), certificate) != 1) {
        return fail(Errc::invalid, "certificate", fmt::format("cannot be used: {}", reason()));
    }
    if (X509_check_private_key(certificate, key) != 1) {
        ERR_clear_error();
        return fail(Errc::invalid, "key", "does not fit the certificate");
    }
    if (SSL_CTX_use_PrivateKey(context.get(), key) != 1) {
        return fail(Errc::invalid, "key", fmt::format("cannot be used: {}", reason()));
    }
    for (const auto& each : chain) {
        if (SSL_CTX_add1_chain_cert(context.get(), each.get()) != 1) {
            return fail(Errc::invalid, "caCertificate", fmt::format("cannot be used: {}", reason()));
        }
    }
    return {};
}

}  // namespace

Result<ParsedCertificate> parse_certificate(std::string_view certificate, std::string_view key,
                                            std::string_view chain) {
    auto own = read_certificates(certificate, "certificate");
    if (!own) return fail(std::move(own.error()));
    if (own->empty()) return fail(Errc::invalid, "certificate", "is missing");
    auto above = read_certificates(chain, "caCertificate");
    if (!above) return fail(std::move(above.error()));
    const auto private_key = read_key(key);
    if (!private_key) return fail(private_key.error());
    const auto leaf = std::move(own->front());
    std::vector<X509Ptr> rest;
    rest.reserve(own->size() + above->size());
    for (std::size_t i = 1; i < own->size(); ++i) rest.push_back(std::move((*own)[i]));
    for (auto& each : *above) {
        // Many repeat what is there already.
        bool known = X509_cmp(each.get(), leaf.get()) == 0;
        for (const auto& other : rest) known = known || X509_cmp(each.get(), other.get()) == 0;
        if (!known) rest.push_back(std::move(each));
    }
    if (auto fine = accepted(leaf.get(), private_key->get(), rest); !fine) return fail(std::move(fine.error()));

    const Bio out(BIO_new(BIO_s_mem()));
    bool good = PEM_write_bio_X509(out.get(), leaf.get()) == 1;
    for (const auto& each : rest) good = good && PEM_write_bio_X509(out.get(), each.get()) == 1;
    good = good &&
           PEM_write_bio_PKCS8PrivateKey(out.get(), private_key->get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
    if (!good) return fail(Errc::internal, reason());
    return ParsedCertificate{.pem = written(out.get()),
                             .not_before = time_of(X509_get0_notBefore(leaf.get())),
                             .not_after = time_of(X509_get0_notAfter(leaf.get()))};
}

Result<std::string> parse_authorities(std::string_view pem) {
    const auto certificates = read_certificates(pem, "destinationCACertificate");
    if (!certificates) return fail(certificates.error());
    if (certificates->empty()) return fail(Errc::invalid, "destinationCACertificate", "is missing");
    const Bio out(BIO_new(BIO_s_mem()));
    for (const auto& each : *certificates) {
        if (PEM_write_bio_X509(out.get(), each.get()) != 1) return fail(Errc::internal, reason());
    }
    return written(out.get());
}

}  // namespace fairlead::route
