#include "net/curl.h"

#include <fmt/core.h>

#include <system_error>

#include "base/text.h"

namespace fairlead::net::curl {
namespace {

void set_blob(CURL* easy, CURLoption option, const std::string& pem) {
    if (pem.empty()) return;
    curl_blob blob{};
    blob.data = const_cast<char*>(pem.data());  // curl copies it
    blob.len = pem.size();
    blob.flags = CURL_BLOB_COPY;
    curl_easy_setopt(easy, option, &blob);
}

// What the system said about the connection; empty: nothing.
std::string system_words(CURL* easy) {
    long number = 0;
    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    if (number == 0) return {};
    return lower(std::generic_category().message(static_cast<int>(number)));
}

std::string after(std::string_view text, std::string_view prefix) {
    return std::string(text.starts_with(prefix) ? text.substr(prefix.size()) : text);
}

}  // namespace

bool append(List& list, const std::string& text) {
    curl_slist* longer = curl_slist_append(list.get(), text.c_str());
    if (longer == nullptr) return false;
    (void)list.release();
    list.reset(longer);
    return true;
}

Result<List> make_headers(const Headers& headers) {
    List list;
    bool whole = append(list, "Expect:");  // curl would wait for 100 Continue before larger bodies
    for (const auto& [name, value] : headers.items()) {
        if ((name + value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
            return fail(Errc::invalid, name, "a header with a line end in it cannot be sent");
        }
        whole = whole && append(list, value.empty() ? name + ";" : fmt::format("{}: {}", name, value));
    }
    if (!whole) return fail(Errc::internal, "out of memory");
    return list;
}

void set_tls(CURL* easy, const Tls& tls) {
    curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
    curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
    set_blob(easy, CURLOPT_CAINFO_BLOB, tls.ca_pem);
    set_blob(easy, CURLOPT_SSLCERT_BLOB, tls.certificate_pem);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, tls.key_pem);
    if (tls.insecure_skip_verify) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
        // The system's hundreds of CAs need not be read for nothing.
        curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
        curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
    }
}

void set_method(CURL* easy, const std::string& method, const std::string& body) {
    if (method == "HEAD") {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        return;
    }
    // Bodies go with any method; POSTFIELDS sets POST, the custom request renames it.
    if (!body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.c_str());
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method.c_str());
}

void set_common(CURL* easy, const std::string& url, const List& headers, char* reason) {
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");  // who is asked is asked directly, whatever http_proxy says
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
}

void read_head_line(std::string_view line, Headers& headers) {
    const auto text = trim(line);
    if (text.starts_with("HTTP/")) {
        headers = {};
    } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
        headers.add(std::string(trim(text.substr(0, colon))), std::string(trim(text.substr(colon + 1))));
    }
}

Error failure(CURL* easy, CURLcode code, const char* reason) {
    const std::string why = reason[0] != '\0' ? reason : curl_easy_strerror(code);
    const auto said = system_words(easy);
    switch (code) {
        case CURLE_UNSUPPORTED_PROTOCOL:
            // An answer without a status line is HTTP/0.9 to curl.
            if (why.find("HTTP/0.9") != std::string::npos) return {Errc::unavailable, {}, "the answer is not HTTP"};
            return {Errc::invalid, {}, "this is not an http or https address"};
        case CURLE_URL_MALFORMAT:
            return {Errc::invalid, {}, "this is not an http or https address"};
        case CURLE_PEER_FAILED_VERIFICATION:
            // "SSL: no alternative certificate subject name matches target host name 'x'"
            return {Errc::invalid, {}, after(after(why, "SSL certificate problem: "), "SSL: ")};
        case CURLE_SSL_CERTPROBLEM:
            return {Errc::invalid, {}, "the client certificate or its key cannot be used: " + why};
        case CURLE_SSL_CACERT_BADFILE:
            return {Errc::invalid, {}, "the CA certificate cannot be used: " + why};
        case CURLE_SSL_CONNECT_ERROR:
            return {Errc::invalid, {}, said.empty() ? "TLS failed: " + why : "TLS failed: " + said};
        case CURLE_COULDNT_RESOLVE_HOST:
            return {Errc::unavailable, {}, "the host name has no address"};
        case CURLE_COULDNT_CONNECT:
            return {Errc::unavailable, {}, said.empty() ? "no connection" : said};
        case CURLE_GOT_NOTHING:
            return {Errc::unavailable, {}, "the connection was closed without an answer"};
        case CURLE_PARTIAL_FILE:
            return {Errc::unavailable, {}, "the connection was closed in the middle of the answer"};
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_HTTP2:
            return {Errc::unavailable, {}, "the answer is not HTTP"};
        default:
            break;
    }
    // With TLS 1.3 the server's verdict on our certificate arrives after the handshake, as an alert while reading.
    if (why.find("alert") != std::string::npos)
        return {Errc::invalid, {}, "our client certificate was refused: " + why};
    return {Errc::unavailable, {}, said.empty() ? "the connection broke: " + why : said};
}

}  // namespace fairlead::net::curl
