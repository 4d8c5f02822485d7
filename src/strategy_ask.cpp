#include "strategy_ask.h"

#include <fmt/core.h>

#include "net/async_client.h"

namespace fairlead {

namespace {

constexpr std::size_t max_answer_bytes = 64UL * 1024;  // {"router": ...} has 300 at most; the rest is the user's

}  // namespace

controller::Ask ask_over_http(net::AsyncClient& client) {
    return [&client](controller::Question question, std::function<void(Result<std::string>)> done) {
        net::AsyncRequest request;
        request.method = "POST";
        request.url = std::move(question.url);
        request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
        request.body = std::move(question.body);
        request.connect_timeout = question.timeout;
        request.timeout = question.timeout;
        request.max_answer_bytes = max_answer_bytes;
        auto tls = std::make_shared<net::AsyncTls>();
        tls->ca_pem = std::move(question.ca_pem);
        request.tls = std::move(tls);
        client.start(std::move(request), [done = std::move(done)](Result<net::Response> answer) {
            if (!answer) return done(fail(answer.error()));
            if (answer->status / 100 != 2) return done(fail(Errc::unavailable, fmt::format("HTTP {}", answer->status)));
            done(std::move(answer->body));
        });
    };
}

}  // namespace fairlead
