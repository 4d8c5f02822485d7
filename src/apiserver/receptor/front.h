// The Receptor API by HTTP: who may, what is asked, and the answer in the Receptor's form. Part of the API server,
// which hands it every request under /v1/. serve() runs on session threads and never blocks; the acts themselves run on
// the server's workers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/call.h"
#include "apiserver/receptor/login.h"
#include "apiserver/receptor/options.h"
#include "apiserver/receptor/receptor.h"
#include "apiserver/watch_hub.h"
#include "apiserver/watch_places.h"
#include "base/metrics.h"

namespace fairlead::apiserver::receptor {

// What the API server lends.
struct Lent {
    const resource::Kinds& kinds;
    store::Store& store;
    Rest& rest;
    Access& access;
    const Clock& clock;
    Log& log;
    Metrics& metrics;
    RequestMetrics& request_metrics;
    WatchHub& hub;
    WatchPlaces& watch_places;
    std::chrono::seconds recheck_interval;
    std::function<void(const std::shared_ptr<Call>&, std::function<void()>)> in_worker;
    std::function<bool()> draining;
};

class Front {
public:
    Front(FrontOptions options, Lent lent);

    void serve(const std::shared_ptr<Call>& call);

private:
    using CallPtr = std::shared_ptr<Call>;
    // Answers itself if not.
    bool authorized(const CallPtr& call, const std::optional<Operation>& operation);
    void name_labels(const CallPtr& call, const Operation& operation);
    void run(const CallPtr& call, const Operation& operation);
    void open_events(const CallPtr& call, const Operation& operation);

    FrontOptions options_;
    Lent lent_;
    Receptor receptor_;
    Counter resyncs_;
};

}  // namespace fairlead::apiserver::receptor
