#include "webhook_role.h"

#include "base/log.h"

namespace fairlead {

namespace {

dnshook::ShelfOptions shelf_options(const cli::ServeOptions& options) {
    dnshook::ShelfOptions shelf;
    shelf.zones = options.webhook_zones;
    return shelf;
}

}  // namespace

WebhookRole::WebhookRole(const cli::ServeOptions& options, const resource::Kinds& kinds, store::Store& store,
                         const Clock& clock, Random& random, Log& log, Metrics& metrics)
    : log_(log),
      metrics_(metrics),
      client_(kinds, store, clock, random),
      shelf_(kinds, store, client_, clock, shelf_options(options)),
      hook_(shelf_, clock, log, metrics) {}

void WebhookRole::add_endpoints(apiserver::ApiServer& api) {
    constexpr std::string_view base = "/webhook";
    const auto serve = [this, base](const apiserver::EndpointRequest& request) -> Result<net::Response> {
        return hook_.serve(request.method, std::string_view(request.path).substr(base.size()), *request.headers,
                           request.body);
    };
    api.add_endpoint(std::string(base), serve, apiserver::ApiServer::Methods::all);
    api.add_endpoint(std::string(base) + "/", serve, apiserver::ApiServer::Methods::all);
}

Result<void> WebhookRole::listen(const std::string& address) {
    auto listener = dnshook::HookListener::start(address, hook_, log_, metrics_);
    if (!listener) return fail(listener.error());
    listener_ = std::move(*listener);
    return {};
}

}  // namespace fairlead
