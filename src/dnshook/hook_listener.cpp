#include "dnshook/hook_listener.h"

#include <fmt/core.h>

#include "base/log.h"
#include "provider/webhook/protocol.h"

namespace fairlead::dnshook {

bool is_loopback(std::string_view listen) {
    const auto colon = listen.rfind(':');
    if (colon == std::string_view::npos) return false;
    const auto host = listen.substr(0, colon);
    if (host == "[::1]" || host == "localhost") return true;
    return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

Result<std::unique_ptr<HookListener>> HookListener::start(const std::string& listen, HookServer& hook, Log& log,
                                                          Metrics& metrics) {
    if (!is_loopback(listen)) {
        return fail(Errc::invalid, "--webhook-listen",
                    fmt::format("\"{}\" is no loopback address: without TLS and credentials only this machine may ask "
                                "(others use /webhook/ of the API)",
                                listen));
    }
    std::unique_ptr<HookListener> listener(new HookListener(hook));
    net::ServerOptions options;
    options.listen = listen;
    options.threads = 1;
    options.max_connections = 64;
    options.max_body_bytes = provider::webhook::max_body_bytes;
    options.max_buffered_bytes = 4 * provider::webhook::max_body_bytes;
    auto server = net::start_server(options, *listener, log, metrics);
    if (!server) return fail(std::move(server.error()));
    listener->server_ = std::move(*server);
    log.info("webhook of external-dns", {{"address", listener->address()}});
    return listener;
}

HookListener::~HookListener() {
    if (server_) server_->shutdown(std::chrono::seconds(5));
}

void HookListener::handle(net::Request request, net::Respond respond) {
    const auto shared = std::make_shared<std::pair<net::Request, net::Respond>>(std::move(request), std::move(respond));
    const bool taken = workers_.try_post([this, shared] {
        const auto& asked = shared->first;
        const auto path = std::string_view(asked.target).substr(0, asked.target.find('?'));
        shared->second(hook_.serve(asked.method, path, asked.headers, asked.body));
    });
    if (taken) return;
    net::Response busy;
    busy.status = 503;
    shared->second(std::move(busy));
}

}  // namespace fairlead::dnshook
