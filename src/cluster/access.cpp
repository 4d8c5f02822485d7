#include "cluster/access.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "cluster/kubeconfig.h"

namespace fairlead::cluster {
namespace {

using Data = std::map<std::string, std::string>;

std::string field(std::string_view key) { return fmt::format("data[{}]", key); }

// Empty if there is none.
Result<std::string> text_at(const Data& data, const std::string& key) {
    const auto found = data.find(key);
    if (found == data.end()) return std::string();
    auto decoded = from_base64(found->second);
    if (!decoded) return fail(Errc::invalid, field(key), "is not base64");
    return std::move(*decoded);
}

Result<std::string> pem_at(const Data& data, const std::string& key) {
    auto text = text_at(data, key);
    if (text && !text->empty() && text->find("-----BEGIN ") == std::string::npos) {
        return fail(Errc::invalid, field(key), "is no PEM text: -----BEGIN is expected");
    }
    return text;
}

// What goes into a header, and comes from files that end with a line end.
Result<std::string> token_at(const Data& data) {
    auto text = text_at(data, "token");
    if (!text) return text;
    std::string token(trim(*text));
    const bool plain = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (!plain) return fail(Errc::invalid, field("token"), "has spaces or control characters in it");
    return token;
}

Result<bool> flag_at(const Data& data, const std::string& key) {
    const auto text = text_at(data, key);
    if (!text) return fail(text.error());
    const auto word = trim(*text);
    if (word == "true") return true;
    if (word.empty() || word == "false") return false;
    return fail(Errc::invalid, field(key), "is neither true nor false");
}

Result<Access> from_parts(const Data& data) {
    Access access;
    auto ca = pem_at(data, "ca.crt");
    if (!ca) return fail(ca.error());
    auto token = token_at(data);
    if (!token) return fail(token.error());
    auto certificate = pem_at(data, "tls.crt");
    if (!certificate) return fail(certificate.error());
    auto key = pem_at(data, "tls.key");
    if (!key) return fail(key.error());
    const auto insecure = flag_at(data, "insecure-skip-tls-verify");
    if (!insecure) return fail(insecure.error());
    if (certificate->empty() != key->empty()) {
        return fail(Errc::invalid, field(key->empty() ? "tls.key" : "tls.crt"),
                    "is missing: a certificate and its key are needed together");
    }
    if (token->empty() && key->empty()) {
        return fail(Errc::invalid, "data", "has no login: kubeconfig, or token, or tls.crt and tls.key is needed");
    }
    access.ca_pem = std::move(*ca);
    access.bearer_token = std::move(*token);
    access.certificate_pem = std::move(*certificate);
    access.key_pem = std::move(*key);
    access.insecure_skip_verify = *insecure;
    return access;
}

Result<Access> from_kubeconfig(const Data& data) {
    for (const auto* other : {"token", "tls.crt", "tls.key"}) {
        if (data.contains(other)) {
            return fail(Errc::invalid, field(other), "stands beside kubeconfig: one way to log in is enough");
        }
    }
    const auto text = text_at(data, "kubeconfig");
    if (!text) return fail(text.error());
    auto read = parse_kubeconfig(*text, {}, {});
    if (!read) return fail(Errc::invalid, field("kubeconfig"), read.error().text());
    return std::move(read->access);
}

}  // namespace

Result<Access> access_of(const resource::ClusterSpec& spec, const Data& data) {
    Access access;
    if (spec.credentials) {
        auto read = data.contains("kubeconfig") ? from_kubeconfig(data) : from_parts(data);
        if (!read) return read;
        access = std::move(*read);
    }
    access.server = spec.server;
    while (access.server.ends_with('/')) access.server.pop_back();
    if (!access.server.starts_with("https://") && !access.server.starts_with("http://")) {
        return fail(Errc::invalid, "spec.server", fmt::format("\"{}\" is no http or https address", spec.server));
    }
    const bool secret = !access.bearer_token.empty() || !access.key_pem.empty();
    if (secret && access.server.starts_with("http://")) {
        return fail(Errc::invalid, "spec.server", "must be an https address: credentials are not sent in the clear");
    }
    if (access.insecure_skip_verify && !access.ca_pem.empty()) {
        return fail(Errc::invalid, field(data.contains("kubeconfig") ? "kubeconfig" : "insecure-skip-tls-verify"),
                    "a CA, and not to verify, contradict each other: take one of them out");
    }
    return access;
}

}  // namespace fairlead::cluster
