// Endpoints of an external-dns -> DNSRecords: for clients with a token under /webhook of the API, and for this machine
// on a listener of its own. Wiring only, like main.cpp.
#pragma once

#include <memory>
#include <string>

#include "apiserver/api_server.h"
#include "apiserver/local_client.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/random.h"
#include "cli/options.h"
#include "dnshook/hook_listener.h"
#include "dnshook/hook_server.h"
#include "dnshook/record_shelf.h"

namespace fairlead {

class WebhookRole {
public:
    WebhookRole(const cli::ServeOptions& options, const resource::Kinds& kinds, store::Store& store, const Clock& clock,
                Random& random, Log& log, Metrics& metrics);

    void add_endpoints(apiserver::ApiServer& api);
    // On the address of --webhook-listen. Errors: that of the socket.
    Result<void> listen(const std::string& address);
    // Where it listens; empty: nowhere.
    [[nodiscard]] std::string address() const { return listener_ ? listener_->address() : std::string(); }

private:
    Log& log_;
    Metrics& metrics_;
    apiserver::LocalClient client_;
    dnshook::RecordShelf shelf_;
    dnshook::HookServer hook_;
    std::unique_ptr<dnshook::HookListener> listener_;  // last: its threads use the rest
};

}  // namespace fairlead
