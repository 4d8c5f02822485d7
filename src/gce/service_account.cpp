#include "gce/service_account.h"

#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "base/text.h"
#include "json/value.h"
#include "net/handles.h"

namespace fairlead::gce {
namespace {

using Bio = std::unique_ptr<BIO, net::Free<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, net::Free<EVP_PKEY_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, net::Free<EVP_MD_CTX_free>>;

constexpr std::string_view field = "secret";
constexpr std::chrono::seconds good_for{3'600};  // the most that Google takes

// Keys with a passphrase cannot be read: nobody is there to ask.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*context*/) { return -1; }

Result<Key> read_key(const std::string& pem) {
    const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
    ERR_clear_error();
    if (!key || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA)
        return fail(Errc::invalid, std::string(field), "private_key of key.json is no RSA key in PEM form");
    return key;
}

Result<std::string> sign(const std::string& pem, std::string_view text) {
    auto key = read_key(pem);
    if (!key) return fail(key.error());
    const Digest digest(EVP_MD_CTX_new());
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    std::string signature;
    bool good = EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key->get()) == 1 &&
                EVP_DigestSign(digest.get(), nullptr, &size, bytes, text.size()) == 1;
    signature.resize(size);
    good = good && EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                                  text.size()) == 1;
    ERR_clear_error();
    if (!good) return fail(Errc::invalid, std::string(field), "private_key of key.json cannot sign");
    signature.resize(size);
    return signature;
}

std::int64_t seconds(WallTime time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

Result<ServiceAccount> parse_service_account(std::string_view text) {
    const auto parsed = json::parse(text);
    // Not what the parser says: it may show a part of the text.
    if (!parsed || !parsed->is_object()) return fail(Errc::invalid, std::string(field), "key.json is no JSON object");
    if (const auto type = json::string_at(*parsed, "type"); type != "service_account")
        return fail(Errc::invalid, std::string(field), "type of key.json is not service_account");
    ServiceAccount account{
        std::string(json::string_at(*parsed, "client_email")), std::string(json::string_at(*parsed, "private_key_id")),
        std::string(json::string_at(*parsed, "private_key")), std::string(json::string_at(*parsed, "token_uri"))};
    if (account.email.empty()) return fail(Errc::invalid, std::string(field), "key.json has no client_email");
    if (account.token_uri.empty()) account.token_uri = "https://oauth2.googleapis.com/token";
    if (auto key = read_key(account.private_key_pem); !key) return fail(key.error());
    return account;
}

Result<std::string> make_assertion(const ServiceAccount& account, std::string_view audience, std::string_view scope,
                                   WallTime now) {
    json::Object header;
    header["alg"] = "RS256";
    header["typ"] = "JWT";
    if (!account.key_id.empty()) header["kid"] = account.key_id;
    json::Object claims;
    claims["iss"] = account.email;
    claims["scope"] = scope;
    claims["aud"] = audience;
    claims["iat"] = seconds(now);
    claims["exp"] = seconds(now) + good_for.count();
    const auto text = base64url(json::serialize(header)) + "." + base64url(json::serialize(claims));
    auto signature = sign(account.private_key_pem, text);
    if (!signature) return fail(signature.error());
    return text + "." + base64url(*signature);
}

}  // namespace fairlead::gce
