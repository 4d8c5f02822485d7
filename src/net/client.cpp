#include "net/client.h"

#include <fmt/core.h>

#include "net/curl.h"

namespace fairlead::net {
namespace {

constexpr std::size_t max_line_bytes = 16UL * 1024 * 1024;  // an object has at most 3 MiB; its watch event fits

// What one call collects; curl's callbacks get a pointer to it.
struct Call {
    CURL* easy = nullptr;
    std::size_t max_answer_bytes = 0;
    Response response;
    const std::function<bool(std::string_view)>* line = nullptr;  // null: not a stream
    std::string partial;                                          // the line that has not ended yet
    bool stopped = false;                                         // the caller has seen enough
    bool too_large = false;
};

std::size_t on_header(char* data, std::size_t, std::size_t size, void* context) {
    auto& call = *static_cast<Call*>(context);
    curl::read_head_line({data, size}, call.response.headers);
    return size;
}

bool deliver_lines(Call& call, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        if (end == std::string_view::npos) {
            call.partial.append(bytes);
            call.too_large = call.partial.size() > max_line_bytes;
            return !call.too_large;
        }
        bool more = true;
        if (call.partial.empty()) {
            more = (*call.line)(bytes.substr(0, end));
        } else {
            call.partial.append(bytes.substr(0, end));
            more = (*call.line)(call.partial);
            call.partial.clear();
        }
        bytes.remove_prefix(end + 1);
        if (!more) {
            call.stopped = true;
            return false;
        }
    }
    return true;
}

// Anything but `size` makes curl end the transfer.
std::size_t on_body(char* data, std::size_t, std::size_t size, void* context) {
    auto& call = *static_cast<Call*>(context);
    if (call.line != nullptr) {
        long status = 0;
        curl_easy_getinfo(call.easy, CURLINFO_RESPONSE_CODE, &status);
        if (status == 200) return deliver_lines(call, {data, size}) ? size : 0;
    }
    call.too_large = call.response.body.size() + size > call.max_answer_bytes;
    if (call.too_large) return 0;
    call.response.body.append(data, size);
    return size;
}

}  // namespace

struct Client::Impl {
    ClientOptions options;
    curl::Easy easy;
    char reason[CURL_ERROR_SIZE] = "";

    Result<Response> perform(const ClientRequest& request, Call& call, std::chrono::milliseconds limit);
    [[nodiscard]] tl::unexpected<Error> error(CURLcode code, const ClientRequest& request) const;
};

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>()) {
    impl_->options = std::move(options);
    while (impl_->options.base_url.ends_with('/')) impl_->options.base_url.pop_back();
    impl_->easy.reset(curl_easy_init());
}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;

Result<Response> Client::send(const ClientRequest& request) {
    Call call;
    return impl_->perform(request, call, impl_->options.timeout);
}

Result<Response> Client::stream(const ClientRequest& request, const std::function<bool(std::string_view)>& line,
                                std::optional<std::chrono::milliseconds> limit) {
    Call call;
    call.line = &line;
    return impl_->perform(request, call, limit.value_or(std::chrono::milliseconds{0}));
}

Result<Response> Client::Impl::perform(const ClientRequest& request, Call& call, std::chrono::milliseconds limit) {
    CURL* handle = easy.get();
    if (handle == nullptr) return fail(Errc::internal, "libcurl cannot be initialised");
    auto headers = curl::make_headers(request.headers);
    if (!headers) return fail(headers.error());
    if (!options.bearer_token.empty() && !curl::append(*headers, "Authorization: Bearer " + options.bearer_token)) {
        return fail(Errc::internal, "out of memory");
    }
    const auto url = options.base_url + request.target;

    curl_easy_reset(handle);  // options only: the connection stays
    reason[0] = '\0';
    call.easy = handle;
    curl::set_common(handle, url, *headers, reason);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, options.user_agent.c_str());
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(limit.count()));
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &call);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &call);
    curl::set_method(handle, request.method, request.body);
    curl::set_tls(handle, {options.ca_pem, options.certificate_pem, options.key_pem, options.insecure_skip_verify});

    call.max_answer_bytes = options.max_answer_bytes;
    const CURLcode code = curl_easy_perform(handle);
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    call.response.status = static_cast<int>(status);
    const bool streamed = call.line != nullptr && status == 200;
    if (call.too_large) {
        return fail(Errc::too_large, fmt::format("{} {}: the answer exceeds the limit of {} bytes", request.method, url,
                                                 streamed ? max_line_bytes : call.max_answer_bytes));
    }
    const bool limit_passed = streamed && code == CURLE_OPERATION_TIMEDOUT;
    if (code != CURLE_OK && !call.stopped && !limit_passed) return error(code, request);
    if (code == CURLE_OK && streamed && !call.partial.empty()) (*call.line)(call.partial);
    return std::move(call.response);
}

tl::unexpected<Error> Client::Impl::error(CURLcode code, const ClientRequest& request) const {
    const std::string why = reason[0] != '\0' ? reason : curl_easy_strerror(code);
    const auto& server = options.base_url;
    switch (code) {
        case CURLE_OPERATION_TIMEDOUT:
            return fail(Errc::timeout, fmt::format("no answer from {} to {} {} in time: {}", server, request.method,
                                                   request.target, why));
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
            return fail(Errc::invalid, fmt::format("\"{}{}\" is not an http or https address", server, request.target));
        case CURLE_PEER_FAILED_VERIFICATION:
            return fail(Errc::invalid, fmt::format("the certificate of {} is not trusted: {}", server, why));
        case CURLE_SSL_CERTPROBLEM:
            return fail(Errc::invalid, fmt::format("the client certificate or its key cannot be used: {}", why));
        case CURLE_SSL_CACERT_BADFILE:
            return fail(Errc::invalid, fmt::format("the CA certificate cannot be used: {}", why));
        case CURLE_SSL_CONNECT_ERROR:
            return fail(Errc::invalid, fmt::format("TLS with {} failed: {}", server, why));
        default:
            break;
    }
    // With TLS 1.3 the server's verdict on our certificate arrives after the handshake, as an alert while reading.
    if (why.find("alert") != std::string::npos) {
        return fail(Errc::invalid, fmt::format("{} refused our client certificate: {}", server, why));
    }
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST) {
        return fail(Errc::unavailable, fmt::format("cannot connect to {}: {}", server, why));
    }
    return fail(Errc::unavailable, fmt::format("the connection to {} broke during {} {}: {}", server, request.method,
                                               request.target, why));
}

}  // namespace fairlead::net
