#include "emitter/receptor_link.h"

#include <fmt/core.h>

#include "base/text.h"
#include "cluster/http_call.h"
#include "net/async_client.h"

namespace fairlead::emitter {

namespace {

class HttpReceptorLink final : public ReceptorLink {
public:
    HttpReceptorLink(net::AsyncClient& reads, net::AsyncClient& streams, ReceptorAccess access)
        : reads_(reads), streams_(streams), access_(std::move(access)) {
        auto tls = std::make_shared<net::AsyncTls>();
        tls->ca_pem = access_.ca_pem;
        tls->certificate_pem = access_.certificate_pem;
        tls->key_pem = access_.key_pem;
        tls->insecure_skip_verify = access_.insecure_skip_verify;
        tls_ = std::move(tls);
    }

    std::unique_ptr<cluster::Call> get(const std::string& path, AnswerEars ears) override {
        auto ear = std::make_shared<cluster::Ear>();
        auto call = std::make_unique<cluster::HttpCall>(reads_, ear);
        auto request = request_for(path, "application/json");
        request.timeout = access_.answer_within;
        // Both callbacks come from the client's thread.
        const auto left = std::make_shared<std::size_t>(access_.max_answer_bytes);
        const auto too_large = std::make_shared<bool>(false);
        request.piece = [ear, left, too_large, bytes = std::move(ears.bytes)](std::string_view piece) {
            const std::lock_guard lock(ear->mutex);
            if (!ear->open) return false;
            *too_large = piece.size() > *left;
            if (*too_large) return false;
            *left -= piece.size();
            return piece.empty() || bytes(piece);
        };
        call->start(std::move(request), [ear, too_large, limit = access_.max_answer_bytes,
                                         ended = std::move(ears.ended)](Result<net::Response> response) {
            const std::lock_guard lock(ear->mutex);
            if (!ear->open) return;
            if (*too_large) {
                return ended(fail(Errc::too_large, fmt::format("the answer exceeds the limit of {} bytes", limit)));
            }
            if (!response) return ended(fail(std::move(response.error())));
            if (response->status != 200) return ended(fail(cluster::refusal(*response)));
            ended({});
        });
        return call;
    }

    std::unique_ptr<cluster::Call> stream(const std::string& path, const std::string& last_event_id,
                                          StreamEars ears) override {
        auto ear = std::make_shared<cluster::Ear>();
        auto call = std::make_unique<cluster::HttpCall>(streams_, ear);
        auto request = request_for(path, "text/event-stream");
        if (!last_event_id.empty()) request.headers.set("Last-Event-ID", last_event_id);
        // Diego sends no heartbeat, so silence says nothing: TCP's keepalive finds a dead end, and passes what it hid.
        request.timeout = std::chrono::milliseconds(0);
        request.piece = [ear, opened = std::move(ears.opened), bytes = std::move(ears.bytes)](std::string_view piece) {
            const std::lock_guard lock(ear->mutex);
            if (!ear->open) return false;
            piece.empty() ? opened() : bytes(piece);
            return true;
        };
        call->start(std::move(request), [ear, ended = std::move(ears.ended)](Result<net::Response> response) {
            const std::lock_guard lock(ear->mutex);
            if (!ear->open) return;
            if (!response) return ended(std::move(response.error()));
            if (response->status != 200) return ended(cluster::refusal(*response));
            ended({Errc::unavailable, {}, "the receptor ended it"});
        });
        return call;
    }

private:
    [[nodiscard]] net::AsyncRequest request_for(const std::string& path, const char* accept) const {
        net::AsyncRequest request;
        request.url = access_.url + path;
        request.headers.set("Accept", accept);
        request.headers.set("User-Agent", "fairlead-emitter");
        if (!access_.authorization.empty()) request.headers.set("Authorization", access_.authorization);
        request.tls = tls_;
        request.connect_timeout = access_.connect_timeout;
        return request;
    }

    net::AsyncClient &reads_, &streams_;
    ReceptorAccess access_;
    std::shared_ptr<const net::AsyncTls> tls_;
};

}  // namespace

Result<ReceptorAccess> parse_receptor_url(const std::string& flag, std::string_view url) {
    const auto wrong = [&](std::string_view rule) {
        // Without what stands before an "@": a password is nobody's business.
        const auto at = url.rfind('@');
        const auto shown = at == std::string_view::npos ? std::string(url) : "..." + std::string(url.substr(at));
        return fail(Errc::invalid, flag, fmt::format("\"{}\" {}", shown, rule));
    };
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos || (url.substr(0, scheme) != "http" && url.substr(0, scheme) != "https")) {
        return wrong("is no URL that begins with http:// or https://");
    }
    auto rest = url.substr(scheme + 3);
    while (rest.ends_with('/')) rest.remove_suffix(1);
    ReceptorAccess access;
    if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
        const auto colon = rest.substr(0, at).find(':');
        const auto user = percent_decode(rest.substr(0, std::min(colon, at)), false);
        const auto password =
            percent_decode(colon == std::string_view::npos ? "" : rest.substr(colon + 1, at - colon - 1), false);
        if (!user || !password || user->empty()) return wrong("has a user or password that is not percent-encoded");
        access.authorization = "Basic " + base64(*user + ":" + *password);
        rest.remove_prefix(at + 1);
    }
    if (rest.empty() || rest.starts_with(':') || rest.starts_with('/')) return wrong("names no host");
    if (rest.find_first_of("?# \t\r\n") != std::string_view::npos) return wrong("must end with the host and its port");
    access.url = fmt::format("{}://{}", url.substr(0, scheme), rest);
    return access;
}

std::unique_ptr<ReceptorLink> make_receptor_link(net::AsyncClient& reads, net::AsyncClient& streams,
                                                 ReceptorAccess access) {
    return std::make_unique<HttpReceptorLink>(reads, streams, std::move(access));
}

}  // namespace fairlead::emitter
