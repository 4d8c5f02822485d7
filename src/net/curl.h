// What the two HTTP clients of this layer share of libcurl: handles that free themselves, headers, methods, PEM texts,
// and the options that every call of ours has. Only client.cpp and async_client.cpp include it.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/handles.h"
#include "net/http.h"

namespace fairlead::net::curl {

using Easy = std::unique_ptr<CURL, Free<curl_easy_cleanup>>;
using List = std::unique_ptr<curl_slist, Free<curl_slist_free_all>>;

// False: out of memory.
bool append(List& list, const std::string& text);
// Errors: invalid (a line end in a header).
Result<List> make_headers(const Headers& headers);

// PEM texts; empty = none.
struct Tls {
    const std::string& ca_pem;
    const std::string& certificate_pem;
    const std::string& key_pem;
    bool insecure_skip_verify = false;
};
void set_tls(CURL* easy, const Tls& tls);
// `method` and `body` must live as long as the call.
void set_method(CURL* easy, const std::string& method, const std::string& body);
// No signals, no redirects, no proxy whatever the environment says, HTTP/1.1 only. `reason` has CURL_ERROR_SIZE bytes;
// it and `headers` must live as long as the call.
void set_common(CURL* easy, const std::string& url, const List& headers, char* reason);

// One line of the head, as curl hands it over. A status line starts anew: after 100 Continue comes the real one.
void read_head_line(std::string_view line, Headers& headers);

// Why a call failed, in a person's words, without the other end's name: "connection refused", "certificate has
// expired". Not for CURLE_OPERATION_TIMEDOUT: the caller knows its limits. The code is unavailable, or invalid for TLS
// and for what cannot be sent.
Error failure(CURL* easy, CURLcode code, const char* reason);

}  // namespace fairlead::net::curl
