// Transaction signatures (RFC 8945): checking those of requests, signing replies and requests. Pure: the time comes in.
// tsig.cpp is a home of OpenSSL. HMAC-MD5 is not supported: RFC 8945 keeps it only for the past.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "dns/name.h"

namespace fairlead::dns {

inline constexpr std::uint16_t tsig_fudge_seconds = 300;  // RFC 8945 section 10: how far two clocks may be apart

enum class TsigAlgorithm { hmac_sha1, hmac_sha224, hmac_sha256, hmac_sha384, hmac_sha512 };

// "hmac-sha256", with or without a dot at its end, whatever the case.
std::optional<TsigAlgorithm> parse_tsig_algorithm(std::string_view text);
// "hmac-sha256"
std::string_view tsig_algorithm_text(TsigAlgorithm algorithm);

struct TsigKey {
    Name name;
    TsigAlgorithm algorithm = TsigAlgorithm::hmac_sha256;
    std::string secret;  // bytes, not base64
    bool operator==(const TsigKey&) const = default;
};
using TsigKeys = std::map<Name, TsigKey>;  // by name

// From the texts of a Secret, as tsig-keygen prints them; no algorithm: hmac-sha256. Errors: invalid; the field is
// "data[name]", "data[algorithm]" or "data[secret]"; never says what is secret.
Result<TsigKey> tsig_key_of(std::string_view name, std::string_view algorithm, std::string_view secret);

// Numbers of the wire (RFC 8945 section 3).
enum class TsigError : std::uint16_t {
    none = 0,
    bad_signature = 16,
    bad_key = 17,
    bad_time = 18,
    bad_truncation = 22,
};
// "BADSIG"
std::string_view tsig_error_text(TsigError error);

struct TsigCheck;

// Signs the replies to one request: one, or the stream of messages of a transfer, in the order in which they are sent.
class TsigSigner {
public:
    // Appends the record to a whole message and counts it in the header. After an error of key or signature the record
    // says so without a signature (RFC 8945 section 5.3.2).
    void sign(std::string& message, WallTime now);
    // What sign() appends, at most.
    [[nodiscard]] std::size_t record_bytes() const;

private:
    friend TsigCheck check_tsig(std::string_view packet, std::size_t signature_at, const TsigKeys& keys, WallTime now);

    std::optional<TsigKey> key_;     // none: without a signature
    std::string owner_, algorithm_;  // wire form, as the request had them
    std::string prior_mac_;          // of the request, then of the message before
    std::uint64_t request_time_ = 0;
    TsigError error_ = TsigError::none;
    bool first_ = true;
};

struct TsigCheck {
    enum class Verdict {
        valid,
        malformed,  // FORMERR, not signed
        rejected,   // NOTAUTH, with the record that `replies` makes
    } verdict = Verdict::malformed;
    TsigError error = TsigError::none;
    std::optional<Name> key;  // which has signed; if valid
    TsigSigner replies;       // unless malformed
};

// The request is `packet`, whose last record, a TSIG, begins at `signature_at` (dns::Query says where). Signatures cut
// short are rejected, also where the RFC leaves them to local policy.
TsigCheck check_tsig(std::string_view packet, std::size_t signature_at, const TsigKeys& keys, WallTime now);

// Signs a request of ours; gives the MAC, by which the reply is checked.
std::string sign_request(std::string& message, const TsigKey& key, WallTime now);
// Whether `reply` is signed well with `key`, as the answer to the request with `request_mac`.
Result<void> check_reply(std::string_view reply, const TsigKey& key, std::string_view request_mac, WallTime now);

// Checks the replies to one request of ours in the order in which they come: one, or the stream of a transfer, of which
// not every message is signed (RFC 8945 section 5.3.1).
class TsigReplies {
public:
    TsigReplies(TsigKey key, std::string request_mac) : key_(std::move(key)), prior_mac_(std::move(request_mac)) {}
    // Errors: invalid (names the TSIG error), unavailable (clocks). A message without a signature is good for now,
    // unless it is the first.
    Result<void> check(std::string_view message, WallTime now);
    // The last message was signed: all of them are from who holds the key.
    [[nodiscard]] bool settled() const { return !first_ && pending_.empty(); }

private:
    static constexpr unsigned max_unsigned_replies = 99;  // RFC 8945 section 5.3.1

    TsigKey key_;
    std::string prior_mac_;  // of the request, then of the last signed message
    std::string pending_;    // messages since then
    unsigned unsigned_ = 0;
    bool first_ = true;
};

}  // namespace fairlead::dns
