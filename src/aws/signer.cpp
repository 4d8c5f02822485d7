#include "aws/signer.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace fairlead::aws {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

// "20150830T123600Z", from "2015-08-30T12:36:00Z".
std::string basic_time(WallTime time) {
    std::string text = rfc3339(time);
    std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
    return text;
}

std::string canonical_path(std::string_view path) {
    std::string out;
    bool first = true;
    for (const auto segment : split(path.empty() ? "/" : path, '/')) {
        if (!first) out += '/';
        first = false;
        out += percent_encode(segment);
    }
    return out;
}

// Without blanks around it, and with one where there are several.
std::string folded(std::string_view value) {
    std::string out;
    for (const char c : trim(value)) {
        const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
        if (blank && out.ends_with(' ')) continue;
        out += blank ? ' ' : c;
    }
    return out;
}

}  // namespace

std::string canonical_query(std::vector<std::pair<std::string, std::string>> query) {
    for (auto& [name, value] : query) {
        name = percent_encode(name);
        value = percent_encode(value);
    }
    std::sort(query.begin(), query.end());
    std::string out;
    for (const auto& [name, value] : query) {
        if (!out.empty()) out += '&';
        out += name;
        out += '=';
        out += value;
    }
    return out;
}

Signature sign(const SigningRequest& request, const SigningKeys& keys, const SigningScope& scope, WallTime time) {
    Signature signature;
    const auto stamp = basic_time(time);
    const auto day = stamp.substr(0, 8);
    signature.headers.emplace_back("x-amz-date", stamp);
    if (!keys.session_token.empty()) signature.headers.emplace_back("x-amz-security-token", keys.session_token);

    std::map<std::string, std::string> headers;  // by name in lower case; values of one name joined in their order
    auto all = request.headers;
    all.insert(all.end(), signature.headers.begin(), signature.headers.end());
    for (const auto& [name, value] : all) {
        const auto [at, fresh] = headers.try_emplace(lower(name), folded(value));
        if (!fresh) at->second += "," + folded(value);
    }
    std::string lines;
    std::vector<std::string> names;
    names.reserve(headers.size());
    for (const auto& [name, value] : headers) {
        lines += fmt::format("{}:{}\n", name, value);
        names.push_back(name);
    }
    const auto signed_headers = join(names, ";");
    signature.canonical_request =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, canonical_path(request.path),
                    canonical_query(request.query), lines, signed_headers, sha256_hex(request.body));
    const auto credential_scope = fmt::format("{}/{}/{}/aws4_request", day, scope.region, scope.service);
    signature.string_to_sign =
        fmt::format("{}\n{}\n{}\n{}", algorithm, stamp, credential_scope, sha256_hex(signature.canonical_request));

    std::string key = "AWS4" + keys.secret_access_key;
    for (const std::string_view part : {std::string_view(day), std::string_view(scope.region),
                                        std::string_view(scope.service), std::string_view("aws4_request")}) {
        key = hmac_sha256(key, part);
    }
    signature.headers.emplace_back(
        "authorization",
        fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", algorithm, keys.access_key_id,
                    credential_scope, signed_headers, hex(hmac_sha256(key, signature.string_to_sign))));
    return signature;
}

}  // namespace fairlead::aws
