#include "cluster/http_link.h"

#include <fmt/core.h>

#include "base/text.h"
#include "cluster/http_call.h"
#include "json/value.h"
#include "net/async_client.h"

namespace fairlead::cluster {
namespace {

// Bytes as they come -> lines, without their ends.
class Lines {
public:
    Lines(std::size_t max_bytes, std::function<void(std::string_view)> line)
        : max_bytes_(max_bytes), line_(std::move(line)) {}
    // False: a line is over the limit.
    bool add(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto end = bytes.find('\n');
            const auto part = bytes.substr(0, end);
            if (partial_.size() + part.size() > max_bytes_) return false;
            if (end == std::string_view::npos) {
                partial_.append(part);
                return true;
            }
            if (partial_.empty()) {
                give(part);
            } else {
                partial_.append(part);
                give(partial_);
                partial_.clear();
            }
            bytes.remove_prefix(end + 1);
        }
        return true;
    }

private:
    void give(std::string_view line) const {
        if (!trim(line).empty()) line_(line);
    }
    std::size_t max_bytes_;
    std::function<void(std::string_view)> line_;
    std::string partial_;
};

class HttpLink final : public Link {
public:
    HttpLink(net::AsyncClient& client, const Access& access, const HttpLinkOptions& options)
        : client_(client), server_(access.server), token_(access.bearer_token), options_(options) {
        auto tls = std::make_shared<net::AsyncTls>();
        tls->ca_pem = access.ca_pem;
        tls->certificate_pem = access.certificate_pem;
        tls->key_pem = access.key_pem;
        tls->insecure_skip_verify = access.insecure_skip_verify;
        tls_ = std::move(tls);
    }

    std::unique_ptr<Call> list(std::string path, std::function<void(Result<std::string>)> done) override {
        auto ear = std::make_shared<Ear>();
        auto call = std::make_unique<HttpCall>(client_, ear);
        auto request = request_for(path);
        request.timeout = options_.list_timeout;
        request.max_answer_bytes = options_.max_list_bytes;
        call->start(std::move(request), [ear, done = std::move(done)](Result<net::Response> response) {
            const std::lock_guard lock(ear->mutex);
            if (!ear->open) return;
            if (!response) return done(fail(std::move(response.error())));
            if (response->status != 200) return done(fail(refusal(*response)));
            done(std::move(response->body));
        });
        return call;
    }

    std::unique_ptr<Call> watch(std::string path, std::function<void(std::string_view)> line,
                                std::function<void(Result<void>)> done) override {
        auto ear = std::make_shared<Ear>();
        auto call = std::make_unique<HttpCall>(client_, ear);
        auto lines = std::make_shared<Lines>(options_.max_line_bytes, std::move(line));
        auto too_long = std::make_shared<bool>(false);  // touched by the client's thread alone
        auto request = request_for(path);
        request.timeout = std::chrono::milliseconds(0);
        request.silence = options_.watch_silence;
        request.piece = [ear, lines, too_long](std::string_view piece) {
            const std::lock_guard lock(ear->mutex);
            if (!ear->open) return false;
            *too_long = !lines->add(piece);
            return !*too_long;
        };
        const auto limit = options_.max_line_bytes;
        call->start(std::move(request), [ear, too_long, limit, done = std::move(done)](Result<net::Response> response) {
            const std::lock_guard lock(ear->mutex);
            if (!ear->open) return;
            if (*too_long) {
                return done(fail(Errc::too_large, fmt::format("a line of the watch is longer than {} bytes", limit)));
            }
            if (!response) return done(fail(std::move(response.error())));
            if (response->status != 200) return done(fail(refusal(*response)));
            done({});
        });
        return call;
    }

    std::unique_ptr<Call> send(Sending sending, std::function<void(Result<std::string>)> done) override {
        auto ear = std::make_shared<Ear>();
        auto call = std::make_unique<HttpCall>(client_, ear);
        auto request = request_for(sending.path);
        request.method = std::move(sending.method);
        request.body = std::move(sending.body);
        request.headers.set("Content-Type", sending.content_type);
        request.timeout = options_.list_timeout;
        request.max_answer_bytes = options_.max_line_bytes;
        call->start(std::move(request), [ear, done = std::move(done)](Result<net::Response> response) {
            const std::lock_guard lock(ear->mutex);
            if (!ear->open) return;
            if (!response) return done(fail(std::move(response.error())));
            if (response->status < 200 || response->status > 299) return done(fail(refusal(*response)));
            done(std::move(response->body));
        });
        return call;
    }

private:
    [[nodiscard]] net::AsyncRequest request_for(const std::string& path) const {
        net::AsyncRequest request;
        request.url = server_ + path;
        request.headers.set("Accept", "application/json");
        request.headers.set("User-Agent", "fairlead");
        if (!token_.empty()) request.headers.set("Authorization", "Bearer " + token_);
        request.tls = tls_;
        request.connect_timeout = options_.connect_timeout;
        return request;
    }

    net::AsyncClient& client_;
    std::string server_, token_;
    HttpLinkOptions options_;
    std::shared_ptr<const net::AsyncTls> tls_;
};

}  // namespace

std::unique_ptr<Call> Link::send(Sending sending, std::function<void(Result<std::string>)> done) {
    done(fail(Errc::unsupported, fmt::format("nothing is written here: {} {}", sending.method, sending.path)));
    return nullptr;
}

std::unique_ptr<Link> make_http_link(net::AsyncClient& client, const Access& access, const HttpLinkOptions& options) {
    return std::make_unique<HttpLink>(client, access, options);
}

}  // namespace fairlead::cluster
