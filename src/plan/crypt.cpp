#include "plan/crypt.h"

#include <fmt/core.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <memory>

#include "base/text.h"

namespace fairlead::plan {
namespace {

constexpr std::size_t tag_bytes = 16;
constexpr int gzip_window = 15 + 16;  // 32 KiB window, gzip framing
constexpr int memory_level = 8;

struct FreeContext {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::optional<std::string> gzip(std::string_view text) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
        return std::nullopt;
    }
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = const_cast<Bytef*>(bytes(text));  // zlib does not write to it
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = bytes(packed);
    stream.avail_out = static_cast<uInt>(packed.size());
    const int result = deflate(&stream, Z_FINISH);
    packed.resize(packed.size() - stream.avail_out);
    deflateEnd(&stream);
    return result == Z_STREAM_END ? std::optional(std::move(packed)) : std::nullopt;
}

std::optional<std::string> gunzip(std::string_view packed) {
    z_stream stream{};
    if (inflateInit2(&stream, gzip_window) != Z_OK) return std::nullopt;
    std::string text(max_owner_text_bytes, '\0');
    stream.next_in = const_cast<Bytef*>(bytes(packed));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = bytes(text);
    stream.avail_out = static_cast<uInt>(text.size());
    const int result = inflate(&stream, Z_FINISH);
    text.resize(text.size() - stream.avail_out);
    inflateEnd(&stream);
    return result == Z_STREAM_END ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace

Result<std::string> encryption_key_of(std::string_view text) {
    if (text.size() == encryption_key_bytes) return std::string(text);
    const auto trimmed = trim(text);
    if (trimmed.size() == encryption_key_bytes) return std::string(trimmed);
    auto decoded = from_base64(trimmed);
    if (!decoded) decoded = from_base64url(trimmed);
    if (decoded && decoded->size() == encryption_key_bytes) return std::move(*decoded);
    return fail(Errc::invalid, fmt::format("an encryption key has {} bytes, as they are or in base64; this one has {}",
                                           encryption_key_bytes, decoded ? decoded->size() : trimmed.size()));
}

Result<std::string> encrypt_owner_text(std::string_view text, std::string_view key, const EncryptionNonce& nonce) {
    if (key.size() != encryption_key_bytes) return fail(Errc::internal, "the encryption key has not 32 bytes");
    if (text.size() > max_owner_text_bytes) return fail(Errc::too_large, "the ownership text is too long");
    const auto packed = gzip(text);
    if (!packed) return fail(Errc::internal, "the ownership text cannot be compressed");
    std::string sealed(nonce.begin(), nonce.end());
    sealed.resize(encryption_nonce_bytes + packed->size() + tag_bytes);
    const Context context(EVP_CIPHER_CTX_new());
    int written = 0;
    int last = 0;
    auto* out = bytes(sealed) + encryption_nonce_bytes;
    const bool done =
        context != nullptr &&
        EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes(key), nonce.data()) == 1 &&
        EVP_EncryptUpdate(context.get(), out, &written, bytes(*packed), static_cast<int>(packed->size())) == 1 &&
        EVP_EncryptFinal_ex(context.get(), out + written, &last) == 1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(tag_bytes), out + packed->size()) ==
            1;
    if (!done) return fail(Errc::internal, "the ownership text cannot be encrypted");
    return base64(sealed);
}

std::optional<std::string> decrypt_owner_text(std::string_view text, std::string_view key) {
    if (key.size() != encryption_key_bytes || text.size() > 2 * max_owner_text_bytes) return std::nullopt;
    auto sealed = from_base64(text);
    if (!sealed || sealed->size() <= encryption_nonce_bytes + tag_bytes) return std::nullopt;
    const std::size_t size = sealed->size() - encryption_nonce_bytes - tag_bytes;
    std::string packed(size, '\0');
    const Context context(EVP_CIPHER_CTX_new());
    int written = 0;
    int last = 0;
    const auto* in = bytes(std::string_view(*sealed)) + encryption_nonce_bytes;
    auto* tag = bytes(*sealed) + encryption_nonce_bytes + size;
    const bool done = context != nullptr &&
                      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes(key),
                                         bytes(std::string_view(*sealed))) == 1 &&
                      EVP_DecryptUpdate(context.get(), bytes(packed), &written, in, static_cast<int>(size)) == 1 &&
                      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(tag_bytes), tag) == 1 &&
                      EVP_DecryptFinal_ex(context.get(), bytes(packed) + written, &last) == 1;
    if (!done) return std::nullopt;
    auto plain = gunzip(packed);
    return plain ? std::move(*plain) : std::move(packed);  // external-dns reads what was never compressed, too
}

}  // namespace fairlead::plan
