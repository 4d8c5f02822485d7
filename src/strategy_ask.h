// Carries the questions of the strategy `webhook` over HTTP: scheduler -> AsyncClient -> scheduler. Wiring only, like
// main.cpp.
#pragma once

#include "controller/route_webhook.h"
#include "net/fwd.h"

namespace fairlead {

// The client outlives whoever asks.
controller::Ask ask_over_http(net::AsyncClient& client);

}  // namespace fairlead
