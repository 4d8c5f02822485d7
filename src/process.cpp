#include "process.h"

#include <sys/resource.h>

#include <chrono>

#include "base/metrics.h"

namespace fairlead {

namespace {

class StatusHandler final : public net::Handler {
public:
    StatusHandler(const Metrics& metrics, StatusServer::State state) : metrics_(metrics), state_(std::move(state)) {}
    void handle(net::Request request, net::Respond respond) override {
        const auto path = std::string_view(request.target).substr(0, request.target.find('?'));
        net::Response response;
        response.headers.set("Content-Type", "text/plain; charset=utf-8");
        if (path == "/metrics") {
            response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            response.body = metrics_.expose();
        } else if (path == "/healthz") {
            response.body = "ok\n";
        } else if (path == "/readyz") {
            const bool ready = state_.ready();
            response.status = ready ? 200 : 503;
            response.body = ready ? "ok\n" : state_.problem() + "\n";
        } else {
            response.status = 404;
            response.body = "there are /metrics, /healthz and /readyz\n";
        }
        respond(std::move(response));
    }

private:
    const Metrics& metrics_;
    StatusServer::State state_;
};

}  // namespace

sigset_t block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, each);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    signal(SIGPIPE, SIG_IGN);
    return signals;
}

bool is_end(int received) { return received == SIGTERM || received == SIGINT; }

void allow_many_files() {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

struct StatusServer::Impl {
    Impl(const Metrics& metrics, State state) : handler(metrics, std::move(state)) {}
    StatusHandler handler;
    std::unique_ptr<net::Server> server;
};

StatusServer::StatusServer() = default;
StatusServer::~StatusServer() {
    if (impl_ && impl_->server) impl_->server->shutdown(std::chrono::seconds(1));
}

std::string StatusServer::address() const { return impl_->server->address(); }

Result<std::unique_ptr<StatusServer>> StatusServer::start(const std::string& listen, State state, Log& log,
                                                          Metrics& metrics) {
    std::unique_ptr<StatusServer> out(new StatusServer);
    out->impl_ = std::make_unique<Impl>(metrics, std::move(state));
    net::ServerOptions options;
    options.listen = listen;
    options.threads = 1;
    options.max_connections = 64;
    auto listening = net::start_server(options, out->impl_->handler, log, metrics);
    if (!listening) return fail(std::move(listening.error()));
    out->impl_->server = std::move(*listening);
    return out;
}

}  // namespace fairlead
