#include "net/pki.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "base/random.h"
#include "net/handles.h"

namespace fairlead::net {
namespace {

using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;

constexpr std::chrono::minutes clock_skew{5};       // certificates are valid that long before now
constexpr std::size_t max_subject_part_bytes = 64;  // RFC 5280: ub-common-name, ub-organization-name
constexpr std::size_t max_alternative_names = 100;
constexpr std::size_t max_dns_name_bytes = 253;  // RFC 1035: 255 on the wire

tl::unexpected<Error> openssl_failed(std::string_view what) {
    std::string reason = "no reason given";
    if (const auto code = ERR_peek_last_error(); code != 0) {
        const char* text = ERR_reason_error_string(code);
        reason = text != nullptr ? text : fmt::format("error {:x}", code);
    }
    ERR_clear_error();
    return fail(Errc::internal, fmt::format("{}: {}", what, reason));
}

std::string text_of(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

Result<KeyPair> to_pem(X509* certificate, EVP_PKEY* key) {
    const Bio certificate_bio(BIO_new(BIO_s_mem())), key_bio(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_X509(certificate_bio.get(), certificate) != 1 ||
        PEM_write_bio_PKCS8PrivateKey(key_bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
        return openssl_failed("cannot write PEM");
    }
    return KeyPair{text_of(certificate_bio.get()), text_of(key_bio.get())};
}

Result<Certificate> certificate_from_pem(const std::string& pem, const char* field) {
    const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    ERR_clear_error();
    if (certificate == nullptr) return fail(Errc::invalid, field, "not a certificate in PEM form");
    return certificate;
}

Result<Key> key_from_pem(const std::string& pem, const char* field) {
    const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    // Without a callback OpenSSL would ask for a password on the terminal.
    const auto no_password = [](char*, int, int, void*) { return -1; };
    Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
    ERR_clear_error();
    if (key == nullptr) return fail(Errc::invalid, field, "not an unencrypted private key in PEM form");
    return key;
}

bool is_ip(const std::string& name, unsigned char (&bytes)[16], int& size) {
    if (inet_pton(AF_INET, name.c_str(), bytes) == 1) {
        size = 4;
        return true;
    }
    size = 16;
    return inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

bool is_dns_name(const std::string& name) {
    if (name.empty() || name.size() > max_dns_name_bytes || name.front() == '.' || name.front() == '-') return false;
    if (name.find("..") != std::string::npos) return false;
    return std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
               c == '_' || c == '*';
    });
}

Result<void> check(const CertificateRequest& request) {
    if (request.common_name.empty() || request.common_name.size() > max_subject_part_bytes) {
        return fail(Errc::invalid, "common_name",
                    fmt::format("\"{}\" has {} bytes; 1..{} are allowed", request.common_name,
                                request.common_name.size(), max_subject_part_bytes));
    }
    for (const auto& name : request.organizations) {
        if (name.empty() || name.size() > max_subject_part_bytes) {
            return fail(
                Errc::invalid, "organizations",
                fmt::format("\"{}\" has {} bytes; 1..{} are allowed", name, name.size(), max_subject_part_bytes));
        }
    }
    if (request.subject_alternative_names.size() > max_alternative_names) {
        return fail(Errc::invalid, "subject_alternative_names",
                    fmt::format("{} names; at most {} are allowed", request.subject_alternative_names.size(),
                                max_alternative_names));
    }
    for (const auto& name : request.subject_alternative_names) {
        unsigned char bytes[16];
        int size = 0;
        if (!is_ip(name, bytes, size) && !is_dns_name(name)) {
            return fail(Errc::invalid, "subject_alternative_names",
                        fmt::format("\"{}\" is neither a DNS name nor an IP address", name));
        }
    }
    if (request.valid_for <= std::chrono::hours{0}) {
        return fail(Errc::invalid, "valid_for",
                    fmt::format("{} hours is not in the future", request.valid_for.count()));
    }
    return {};
}

bool set_serial(X509* certificate, Random& random) {
    std::uint64_t words[2] = {random.next(), random.next()};
    unsigned char bytes[sizeof words];
    std::memcpy(bytes, words, sizeof words);
    bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);  // positive, and 128 bits for every serial
    const Number number(BN_bin2bn(bytes, sizeof bytes, nullptr));
    return number != nullptr && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool add_name(X509_NAME* subject, const char* part, const std::string& text) {
    return X509_NAME_add_entry_by_txt(subject, part, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()), -1, 0) == 1;
}

// `value` is one of ours, never input: its syntax (commas, colons) could be abused.
bool add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
    return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool add_alternative_names(X509* certificate, const std::vector<std::string>& names) {
    const Names list(GENERAL_NAMES_new());
    for (const auto& name : names) {
        GENERAL_NAME* entry = GENERAL_NAME_new();
        if (entry == nullptr || sk_GENERAL_NAME_push(list.get(), entry) == 0) {
            GENERAL_NAME_free(entry);
            return false;
        }
        unsigned char bytes[16];
        int size = 0;
        const bool ip = is_ip(name, bytes, size);
        ASN1_STRING* value = ip ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
        const void* data = ip ? static_cast<const void*>(bytes) : name.data();
        if (value == nullptr || ASN1_STRING_set(value, data, ip ? size : static_cast<int>(name.size())) != 1) {
            ASN1_STRING_free(value);
            return false;
        }
        GENERAL_NAME_set0_value(entry, ip ? GEN_IPADD : GEN_DNS, value);  // takes ownership
    }
    return X509_add1_ext_i2d(certificate, NID_subject_alt_name, list.get(), 0, 0) == 1;
}

struct Times {
    std::time_t from, until;
};

// The parts that a CA's certificate and all others share: version, serial, times, names, key.
bool fill(X509* certificate, EVP_PKEY* key, const CertificateRequest& request, const Times& times, Random& random) {
    X509_NAME* subject = X509_get_subject_name(certificate);
    bool good = X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate, random) &&
                ASN1_TIME_set(X509_getm_notBefore(certificate), times.from) != nullptr &&
                ASN1_TIME_set(X509_getm_notAfter(certificate), times.until) != nullptr &&
                X509_set_pubkey(certificate, key) == 1;
    for (const auto& name : request.organizations) good = good && add_name(subject, "O", name);
    return good && add_name(subject, "CN", request.common_name);
}

Times times_from(const Clock& clock, std::chrono::hours valid_for) {
    const auto now = clock.now();
    return {std::chrono::system_clock::to_time_t(now - clock_skew),
            std::chrono::system_clock::to_time_t(now + valid_for)};
}

std::time_t time_of(const ASN1_TIME* time) {
    std::tm parts{};
    ASN1_TIME_to_tm(time, &parts);
    return timegm(&parts);
}

Key new_key() { return Key(EVP_EC_gen("P-256")); }

}  // namespace

Result<KeyPair> make_ca(const std::string& common_name, std::chrono::hours valid_for, const Clock& clock,
                        Random& random) {
    const CertificateRequest request{common_name, {}, {}, valid_for};
    if (auto checked = check(request); !checked) return fail(checked.error());
    const Key key = new_key();
    const Certificate certificate(X509_new());
    X509* ca = certificate.get();
    if (key == nullptr || ca == nullptr || !fill(ca, key.get(), request, times_from(clock, valid_for), random) ||
        X509_set_issuer_name(ca, X509_get_subject_name(ca)) != 1 ||
        !add_extension(ca, ca, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
        !add_extension(ca, ca, NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign") ||
        !add_extension(ca, ca, NID_subject_key_identifier, "hash") ||
        !add_extension(ca, ca, NID_authority_key_identifier, "keyid:always") ||
        X509_sign(ca, key.get(), EVP_sha256()) == 0) {
        return openssl_failed("cannot make the CA certificate");
    }
    return to_pem(ca, key.get());
}

Result<KeyPair> make_certificate(const CertificateRequest& request, const KeyPair& ca, const Clock& clock,
                                 Random& random) {
    if (auto checked = check(request); !checked) return fail(checked.error());
    const auto issuer = certificate_from_pem(ca.certificate_pem, "ca.certificate_pem");
    if (!issuer) return fail(issuer.error());
    const auto issuer_key = key_from_pem(ca.key_pem, "ca.key_pem");
    if (!issuer_key) return fail(issuer_key.error());
    if (X509_check_private_key(issuer->get(), issuer_key->get()) != 1) {
        ERR_clear_error();
        return fail(Errc::invalid, "ca.key_pem", "does not belong to ca.certificate_pem");
    }
    auto times = times_from(clock, request.valid_for);
    const auto ca_until = time_of(X509_get0_notAfter(issuer->get()));
    times.until = std::min(times.until, ca_until);  // nothing outlives its issuer
    if (times.until <= std::chrono::system_clock::to_time_t(clock.now())) {
        return fail(Errc::invalid, "ca.certificate_pem", "has expired");
    }

    const Key key = new_key();
    const Certificate certificate(X509_new());
    X509* leaf = certificate.get();
    const bool server = !request.subject_alternative_names.empty();
    if (key == nullptr || leaf == nullptr || !fill(leaf, key.get(), request, times, random) ||
        X509_set_issuer_name(leaf, X509_get_subject_name(issuer->get())) != 1 ||
        !add_extension(leaf, issuer->get(), NID_basic_constraints, "critical,CA:FALSE") ||
        !add_extension(leaf, issuer->get(), NID_key_usage, "critical,digitalSignature") ||
        !add_extension(leaf, issuer->get(), NID_ext_key_usage, server ? "serverAuth" : "clientAuth") ||
        !add_extension(leaf, issuer->get(), NID_subject_key_identifier, "hash") ||
        !add_extension(leaf, issuer->get(), NID_authority_key_identifier, "keyid:always") ||
        (server && !add_alternative_names(leaf, request.subject_alternative_names)) ||
        X509_sign(leaf, issuer_key->get(), EVP_sha256()) == 0) {
        return openssl_failed("cannot make the certificate");
    }
    return to_pem(leaf, key.get());
}

Result<CertificateInfo> inspect_certificate(const std::string& pem) {
    const auto certificate = certificate_from_pem(pem, "certificate");
    if (!certificate) return fail(certificate.error());
    CertificateInfo info;
    info.not_after = std::chrono::system_clock::from_time_t(time_of(X509_get0_notAfter(certificate->get())));
    const X509_NAME* subject = X509_get_subject_name(certificate->get());
    for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
        const X509_NAME_ENTRY* entry = X509_NAME_get_entry(subject, i);
        unsigned char* bytes = nullptr;
        const int size = ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry));
        if (size < 0) continue;
        const std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
        OPENSSL_free(bytes);
        const int part = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
        if (part == NID_commonName) info.common_name = text;
        if (part == NID_organizationName) info.organizations.push_back(text);
    }
    const Names names(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate->get(), NID_subject_alt_name, nullptr, nullptr)));
    for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
        int kind = 0;
        const auto* value =
            static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &kind));
        const auto* data = ASN1_STRING_get0_data(value);
        const auto size = static_cast<std::size_t>(ASN1_STRING_length(value));
        if (kind == GEN_DNS) info.subject_alternative_names.emplace_back(reinterpret_cast<const char*>(data), size);
        char text[INET6_ADDRSTRLEN];
        if (kind == GEN_IPADD && (size == 4 || size == 16) &&
            inet_ntop(size == 4 ? AF_INET : AF_INET6, data, text, sizeof text) != nullptr) {
            info.subject_alternative_names.emplace_back(text);
        }
    }
    return info;
}

}  // namespace fairlead::net
