#include "proxy/haproxy/pem.h"

#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "base/text.h"
#include "net/handles.h"

namespace fairlead::proxy::haproxy {

namespace {

using Bio = std::unique_ptr<BIO, net::Free<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, net::Free<EVP_PKEY_free>>;
using X509Certificate = std::unique_ptr<X509, net::Free<X509_free>>;

Bio reader(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

Result<void> check_size(std::string_view pem) {
    if (pem.size() <= max_pem_bytes) return {};
    return fail(Errc::too_large, fmt::format("{} bytes, more than {}", pem.size(), max_pem_bytes));
}

// The first certificate, after all of them were read.
Result<X509Certificate> read_certificates(std::string_view pem) {
    const auto bio = reader(pem);
    X509Certificate first;
    for (;;) {
        X509Certificate one(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
        if (!one) break;
        if (!first) first = std::move(one);
    }
    const auto error = ERR_peek_last_error();
    ERR_clear_error();
    if (!first) return fail(Errc::invalid, "no certificate in PEM form is in it");
    if (ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
        return fail(Errc::invalid, "the chain holds a broken certificate");
    return first;
}

// Keys with a passphrase cannot be read: nobody is there to ask.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*context*/) { return -1; }

std::string text_of(BIO* bio) {
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

}  // namespace

std::string without_empty_lines(std::string_view pem) {
    std::string out;
    out.reserve(pem.size() + 1);
    for (const auto line : split(pem, '\n')) {
        const auto text = trim(line);
        if (text.empty()) continue;
        out += text;
        out += '\n';
    }
    return out;
}

Result<void> check_certificate(std::string_view pem) {
    if (auto size = check_size(pem); !size) return size;
    const auto certificate = read_certificates(pem);
    if (!certificate) return fail(certificate.error());
    const auto bio = reader(pem);
    const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
    ERR_clear_error();
    if (!key) return fail(Errc::invalid, "no private key in PEM form, without passphrase, is in it");
    if (X509_check_private_key(certificate->get(), key.get()) != 1) {
        ERR_clear_error();
        return fail(Errc::invalid, "the key does not belong to the certificate");
    }
    return {};
}

Result<void> check_authorities(std::string_view pem) {
    if (auto size = check_size(pem); !size) return fail(Errc::too_large, "destination CA: " + size.error().text());
    const auto certificate = read_certificates(pem);
    if (!certificate) return fail(Errc::invalid, "destination CA: " + certificate.error().text());
    return {};
}

Result<std::string> make_self_signed(const std::string& common_name) {
    const Key key(EVP_EC_gen("P-256"));
    const X509Certificate certificate(X509_new());
    if (!key || !certificate) return fail(Errc::internal, "no key could be made for the default certificate");
    constexpr long ten_years = 3650L * 24 * 3600;
    std::int64_t serial = 1;
    RAND_bytes(reinterpret_cast<unsigned char*>(&serial), 7);
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), ten_years);
    X509_set_pubkey(certificate.get(), key.get());
    auto* name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(common_name.c_str()),
                               -1, -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    const Bio out(BIO_new(BIO_s_mem()));
    if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0 ||
        PEM_write_bio_X509(out.get(), certificate.get()) != 1 ||
        PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
        return fail(Errc::internal, "the default certificate could not be made");
    }
    return text_of(out.get());
}

}  // namespace fairlead::proxy::haproxy
