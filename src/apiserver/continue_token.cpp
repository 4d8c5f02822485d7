#include "apiserver/continue_token.h"

#include <fmt/core.h>

#include "base/text.h"
#include "json/value.h"

namespace fairlead::apiserver {

namespace {
constexpr std::string_view token_version = "meta.k8s.io/v1";
}  // namespace

std::string encode_continue(const ContinueToken& token) {
    json::Object object;
    object["v"] = token_version;
    // A token of its own kind instead of a revision that is none (Kubernetes: -1), so that a made-up number is refused.
    if (token.revision) {
        object["rv"] = static_cast<std::int64_t>(*token.revision);
    } else {
        object["latest"] = true;
    }
    object["start"] = token.start;
    if (token.remaining) object["left"] = static_cast<std::int64_t>(*token.remaining);
    return base64url(json::serialize(object));
}

Result<ContinueToken> decode_continue(std::string_view text) {
    if (text.size() > max_continue_bytes) return fail(Errc::invalid, "continue key is not valid: too long");
    const auto decoded = from_base64url(text);
    if (!decoded) return fail(Errc::invalid, "continue key is not valid: illegal base64 data");
    const auto value = json::parse(*decoded);
    if (!value) return fail(Errc::invalid, "continue key is not valid: " + value.error().text());
    const auto version = json::string_at(*value, "v");
    if (version != token_version) {
        return fail(
            Errc::invalid,
            fmt::format("continue key is not valid: server does not recognize this encoded version \"{}\"", version));
    }
    ContinueToken token;
    const auto revision = json::int_at(*value, "rv");
    const bool latest = json::bool_at(*value, "latest") && json::find(*value, "rv") == nullptr;
    if (!latest && (!revision || *revision <= 0)) {
        return fail(Errc::invalid,
                    "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
    }
    if (!latest) token.revision = static_cast<store::Revision>(*revision);
    token.start = json::string_at(*value, "start");
    if (token.start.empty()) {
        return fail(Errc::invalid, "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
    }
    if (const auto left = json::int_at(*value, "left"); left && *left >= 0) {
        token.remaining = static_cast<std::uint64_t>(*left);
    }
    return token;
}

}  // namespace fairlead::apiserver
