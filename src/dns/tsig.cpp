#include "dns/tsig.h"

#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dns/bytes.h"
#include "dns/message_reader.h"
#include "dns/wire.h"

namespace fairlead::dns {

namespace {

constexpr std::size_t data_fixed_bytes = 16;  // time, fudge, MAC size, original id, error, length of other data
constexpr std::size_t time_bytes = 6;
constexpr std::size_t least_mac_bytes = 10;  // RFC 8945 section 5.2.2.1

struct Algorithm {
    TsigAlgorithm algorithm;
    std::string_view text;
    const EVP_MD* (*digest)();
    std::size_t mac_bytes;
};
constexpr std::array<Algorithm, 5> algorithms = {{
    {TsigAlgorithm::hmac_sha1, "hmac-sha1", EVP_sha1, 20},
    {TsigAlgorithm::hmac_sha224, "hmac-sha224", EVP_sha224, 28},
    {TsigAlgorithm::hmac_sha256, "hmac-sha256", EVP_sha256, 32},
    {TsigAlgorithm::hmac_sha384, "hmac-sha384", EVP_sha384, 48},
    {TsigAlgorithm::hmac_sha512, "hmac-sha512", EVP_sha512, 64},
}};

const Algorithm& algorithm_of(TsigAlgorithm algorithm) { return algorithms.at(static_cast<std::size_t>(algorithm)); }

std::string algorithm_wire(TsigAlgorithm algorithm) {
    const auto text = algorithm_of(algorithm).text;
    std::string wire(1, static_cast<char>(text.size()));
    return (wire += text) += '\0';
}

std::string hmac(const TsigKey& key, std::string_view bytes) {
    std::string mac(algorithm_of(key.algorithm).mac_bytes, '\0');
    unsigned size = 0;
    HMAC(algorithm_of(key.algorithm).digest(), key.secret.data(), static_cast<int>(key.secret.size()),
         reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(mac.data()), &size);
    return mac;
}

void put48(std::string& out, std::uint64_t value) {
    put16(out, static_cast<unsigned>(value >> 32 & 0xffff));
    put32(out, static_cast<std::uint32_t>(value));
}
std::uint64_t get48(std::string_view bytes, std::size_t at) {
    return std::uint64_t{get16(bytes, at)} << 32 | get32(bytes, at + 2);
}

std::uint64_t seconds(WallTime time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

struct Signature {
    std::string owner, algorithm;  // wire form, lower case
    std::uint64_t time = 0;
    unsigned fudge = 0;
    std::string mac;
    unsigned original_id = 0;
    unsigned error = 0;
    std::string other;
};

// The record at `at`, which must be all that is left.
std::optional<Signature> read_signature(std::string_view packet, std::size_t at) {
    const auto owner = read_name(packet, at);
    if (!owner || at + record_fixed_bytes > packet.size()) return std::nullopt;
    if (get16(packet, at) != type_tsig || get16(packet, at + 2) != class_any || get32(packet, at + 4) != 0) {
        return std::nullopt;
    }
    const auto data = packet.substr(at + record_fixed_bytes);
    if (data.size() != get16(packet, at + 8)) return std::nullopt;
    const auto algorithm = Name::from_wire(data);  // never compressed
    if (!algorithm) return std::nullopt;
    std::size_t from = algorithm->wire().size();
    if (from + data_fixed_bytes > data.size()) return std::nullopt;
    Signature result;
    result.owner = owner->wire();
    result.algorithm = algorithm->wire();
    result.time = get48(data, from);
    result.fudge = get16(data, from + time_bytes);
    const std::size_t mac_size = get16(data, from + time_bytes + 2);
    from += time_bytes + 4;
    if (from + mac_size + 6 > data.size()) return std::nullopt;
    result.mac = data.substr(from, mac_size);
    from += mac_size;
    result.original_id = get16(data, from);
    result.error = get16(data, from + 2);
    const std::size_t other_size = get16(data, from + 4);
    if (from + 6 + other_size != data.size()) return std::nullopt;
    result.other = data.substr(from + 6);
    return result;
}

void append_record(std::string& message, const Signature& signature) {
    message += signature.owner;
    put16(message, type_tsig);
    put16(message, class_any);
    put32(message, 0);
    put16(message, static_cast<unsigned>(signature.algorithm.size() + data_fixed_bytes + signature.mac.size() +
                                         signature.other.size()));
    message += signature.algorithm;
    put48(message, signature.time);
    put16(message, signature.fudge);
    put16(message, static_cast<unsigned>(signature.mac.size()));
    message += signature.mac;
    put16(message, signature.original_id);
    put16(message, signature.error);
    put16(message, static_cast<unsigned>(signature.other.size()));
    message += signature.other;
    const unsigned count = get16(message, additional_at) + 1;
    message[additional_at] = static_cast<char>(count >> 8);
    message[additional_at + 1] = static_cast<char>(count & 0xff);
}

// The message as it was before it was signed.
std::string unsigned_message(std::string_view packet, std::size_t signature_at, unsigned original_id) {
    std::string message;
    put16(message, original_id);
    message += packet.substr(2, additional_at - 2);
    put16(message, get16(packet, additional_at) - 1);
    return message += packet.substr(header_bytes, signature_at - header_bytes);
}

// RFC 8945 section 4.3: what the MAC is computed over. `timers_only`: behind the first message of a stream.
std::string digested(std::string_view prior_mac, std::string_view message, const Signature& signature,
                     bool timers_only) {
    std::string bytes;
    bytes.reserve(prior_mac.size() + message.size() + 600);
    if (!prior_mac.empty()) {
        put16(bytes, static_cast<unsigned>(prior_mac.size()));
        bytes += prior_mac;
    }
    bytes += message;
    if (!timers_only) {
        bytes += signature.owner;
        put16(bytes, class_any);
        put32(bytes, 0);
        bytes += signature.algorithm;
    }
    put48(bytes, signature.time);
    put16(bytes, signature.fudge);
    if (!timers_only) {
        put16(bytes, signature.error);
        put16(bytes, static_cast<unsigned>(signature.other.size()));
        bytes += signature.other;
    }
    return bytes;
}

bool in_time(const Signature& signature, WallTime now) {
    const auto ours = seconds(now);
    const auto apart = ours > signature.time ? ours - signature.time : signature.time - ours;
    return apart <= signature.fudge;
}

// Where the last record of a well-formed message begins; nothing if there is none.
std::optional<std::size_t> last_record(std::string_view packet) {
    if (packet.size() < header_bytes || get16(packet, additional_at) == 0) return std::nullopt;
    std::size_t at = header_bytes;
    for (unsigned i = 0; i < get16(packet, 4); ++i) {
        if (!read_name(packet, at) || at + 4 > packet.size()) return std::nullopt;
        at += 4;
    }
    const unsigned records = get16(packet, 6) + get16(packet, 8) + get16(packet, additional_at);
    std::size_t last = at;
    for (unsigned i = 0; i < records; ++i) {
        last = at;
        if (!read_name(packet, at) || at + record_fixed_bytes > packet.size()) return std::nullopt;
        at += record_fixed_bytes + get16(packet, at + 8);
        if (at > packet.size()) return std::nullopt;
    }
    return last;
}

// "BADKEY"; the number of an error that has no name here.
std::string error_text(unsigned error) {
    const auto text = tsig_error_text(static_cast<TsigError>(error));
    return text.empty() ? std::to_string(error) : std::string(text);
}

}  // namespace

Result<TsigKey> tsig_key_of(std::string_view name, std::string_view algorithm, std::string_view secret) {
    TsigKey key;
    auto parsed = Name::parse(trim(name));
    if (!parsed) return fail(Errc::invalid, "data[name]", parsed.error().text());
    key.name = std::move(*parsed);
    if (!trim(algorithm).empty()) {
        const auto known = parse_tsig_algorithm(trim(algorithm));
        if (!known) {
            return fail(Errc::invalid, "data[algorithm]",
                        "is none of hmac-sha1, -sha224, -sha256, -sha384 and -sha512");
        }
        key.algorithm = *known;
    }
    if (trim(secret).empty()) return fail(Errc::invalid, "data[secret]", "is missing");
    auto bytes = from_base64(trim(secret));
    if (!bytes || bytes->empty()) return fail(Errc::invalid, "data[secret]", "is not the base64 text of a key");
    key.secret = std::move(*bytes);
    return key;
}

std::optional<TsigAlgorithm> parse_tsig_algorithm(std::string_view text) {
    if (!text.empty() && text.back() == '.') text.remove_suffix(1);
    for (const auto& each : algorithms) {
        if (equal_ignoring_case(text, each.text)) return each.algorithm;
    }
    return std::nullopt;
}

std::string_view tsig_algorithm_text(TsigAlgorithm algorithm) { return algorithm_of(algorithm).text; }

std::string_view tsig_error_text(TsigError error) {
    switch (error) {
        case TsigError::none:
            return "NOERROR";
        case TsigError::bad_signature:
            return "BADSIG";
        case TsigError::bad_key:
            return "BADKEY";
        case TsigError::bad_time:
            return "BADTIME";
        case TsigError::bad_truncation:
            return "BADTRUNC";
    }
    return "";
}

void TsigSigner::sign(std::string& message, WallTime now) {
    Signature signature{
        owner_, algorithm_, seconds(now), tsig_fudge_seconds, {}, get16(message, 0), static_cast<unsigned>(error_), {}};
    if (error_ == TsigError::bad_time) {
        // The asker can then see that it understood us, and how wrong which clock is.
        put48(signature.other, signature.time);
        signature.time = request_time_;
    }
    if (key_) {
        signature.mac = hmac(*key_, digested(prior_mac_, message, signature, !first_));
        prior_mac_ = signature.mac;
        first_ = false;
    }
    append_record(message, signature);
}

std::size_t TsigSigner::record_bytes() const {
    const std::size_t mac = key_ ? algorithm_of(key_->algorithm).mac_bytes : 0;
    const std::size_t other = error_ == TsigError::bad_time ? time_bytes : 0;
    return owner_.size() + record_fixed_bytes + algorithm_.size() + data_fixed_bytes + mac + other;
}

TsigCheck check_tsig(std::string_view packet, std::size_t signature_at, const TsigKeys& keys, WallTime now) {
    TsigCheck check;
    const auto signature = read_signature(packet, signature_at);
    if (!signature || signature_at < header_bytes || get16(packet, additional_at) == 0) return check;
    const auto reject = [&check](TsigError error) {
        check.verdict = TsigCheck::Verdict::rejected;
        check.error = check.replies.error_ = error;
        return std::move(check);
    };
    check.replies.owner_ = signature->owner;
    check.replies.algorithm_ = signature->algorithm;
    check.replies.request_time_ = signature->time;
    const auto owner = Name::from_wire(signature->owner);
    const auto found = keys.find(*owner);
    if (found == keys.end() || algorithm_wire(found->second.algorithm) != signature->algorithm) {
        return reject(TsigError::bad_key);
    }
    const auto& key = found->second;
    const auto whole = algorithm_of(key.algorithm).mac_bytes;
    if (signature->mac.size() > whole || signature->mac.size() < std::max(least_mac_bytes, whole / 2)) return check;
    const auto message = unsigned_message(packet, signature_at, signature->original_id);
    const auto expected = hmac(key, digested({}, message, *signature, false));
    if (!equal_in_constant_time(std::string_view(expected).substr(0, signature->mac.size()), signature->mac)) {
        return reject(TsigError::bad_signature);
    }
    // From here on the asker is known to hold the key: errors are signed too.
    check.replies.key_ = key;
    check.replies.prior_mac_ = signature->mac;
    if (!in_time(*signature, now)) return reject(TsigError::bad_time);
    if (signature->mac.size() < whole) return reject(TsigError::bad_truncation);
    check.verdict = TsigCheck::Verdict::valid;
    check.key = key.name;
    return check;
}

std::string sign_request(std::string& message, const TsigKey& key, WallTime now) {
    Signature signature{
        key.name.wire(), algorithm_wire(key.algorithm), seconds(now), tsig_fudge_seconds, {}, get16(message, 0), 0, {}};
    signature.mac = hmac(key, digested({}, message, signature, false));
    append_record(message, signature);
    return signature.mac;
}

Result<void> check_reply(std::string_view reply, const TsigKey& key, std::string_view request_mac, WallTime now) {
    return TsigReplies(key, std::string(request_mac)).check(reply, now);
}

Result<void> TsigReplies::check(std::string_view message, WallTime now) {
    const auto at = last_record(message);
    const auto signature = at ? read_signature(message, *at) : std::nullopt;
    if (!signature) {
        if (first_) return fail(Errc::invalid, "the reply is not signed");
        if (++unsigned_ > max_unsigned_replies) {
            return fail(Errc::invalid,
                        fmt::format("more than {} messages in a row are not signed", max_unsigned_replies));
        }
        pending_ += message;
        return {};
    }
    if (signature->error != 0 && signature->mac.empty()) {
        return fail(Errc::invalid,
                    fmt::format("the peer refuses the key {}: {}", key_.name.host(), error_text(signature->error)));
    }
    if (signature->owner != key_.name.wire() || signature->algorithm != algorithm_wire(key_.algorithm)) {
        return fail(Errc::invalid, fmt::format("the reply is not signed with the key {}", key_.name.host()));
    }
    pending_ += unsigned_message(message, *at, signature->original_id);
    if (!equal_in_constant_time(hmac(key_, digested(prior_mac_, pending_, *signature, !first_)), signature->mac)) {
        return fail(Errc::invalid, fmt::format("the signature of the reply with key {} is wrong", key_.name.host()));
    }
    if (signature->error == static_cast<unsigned>(TsigError::bad_time) || !in_time(*signature, now)) {
        return fail(Errc::unavailable, "the clocks of this machine and the peer are too far apart (BADTIME)");
    }
    if (signature->error != 0) {
        return fail(Errc::invalid, fmt::format("the peer refuses the signature with key {}: {}", key_.name.host(),
                                               error_text(signature->error)));
    }
    prior_mac_ = signature->mac;
    pending_.clear();
    unsigned_ = 0;
    first_ = false;
    return {};
}

}  // namespace fairlead::dns
