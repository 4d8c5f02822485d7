#include "cli/transport.h"

#include "cli/kubeconfig.h"

namespace fairlead::cli {
namespace {

class ClientTransport final : public Transport {
public:
    explicit ClientTransport(net::ClientOptions options) : client_(std::move(options)) {}
    Result<net::Response> send(const net::ClientRequest& request) override { return client_.send(request); }
    Result<net::Response> stream(const net::ClientRequest& request, const std::function<bool(std::string_view)>& line,
                                 std::optional<std::chrono::milliseconds> limit) override {
        return client_.stream(request, line, limit);
    }

private:
    net::Client client_;
};

}  // namespace

std::unique_ptr<Transport> connect(const Connection& connection, std::chrono::milliseconds request_timeout) {
    net::ClientOptions options;
    options.base_url = connection.server;
    options.ca_pem = connection.ca_pem;
    options.certificate_pem = connection.certificate_pem;
    options.key_pem = connection.key_pem;
    options.bearer_token = connection.token;
    options.insecure_skip_verify = connection.insecure_skip_verify;
    options.timeout = request_timeout;
    options.user_agent = "fairlead";
    return std::make_unique<ClientTransport>(std::move(options));
}

}  // namespace fairlead::cli
