// Counts and times requests under the well-known names of kube-apiserver. Handles are looked up once per combination of
// labels and kept: the labels come from the kinds and from status codes, so their number is bounded. Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "base/fwd.h"
#include "base/metrics.h"

namespace fairlead::apiserver {

struct RequestLabels {
    std::string verb;  // "GET", "LIST", "WATCH", "POST", ...
    std::string group, version, resource, subresource;
    std::string scope;  // "cluster", "namespace", "resource", or "" for other paths
};

class RequestMetrics {
public:
    explicit RequestMetrics(Metrics& metrics);

    void finished(const RequestLabels& labels, int code, std::chrono::nanoseconds took);
    // Counted while the returned value lives.
    std::shared_ptr<void> in_flight(bool mutating);
    std::shared_ptr<void> long_running(const RequestLabels& labels);

private:
    struct Handles {
        Counter total;
        Histogram duration;
    };
    Handles handles(const RequestLabels& labels, int code);

    Metrics& metrics_;
    Gauge reading_, mutating_;
    std::shared_mutex mutex_;
    std::map<std::string, Handles, std::less<>> known_;
};

}  // namespace fairlead::apiserver
