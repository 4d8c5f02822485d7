#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>

namespace fairlead {

void Counter::add(double amount) { counter_->Increment(amount); }
void Gauge::set(double value) { gauge_->Set(value); }
void Gauge::add(double amount) { gauge_->Increment(amount); }
void Histogram::observe(double value) { histogram_->Observe(value); }

// The registry merges nothing by itself, so that families are kept by name here.
struct Metrics::Impl {
    std::mutex mutex;
    prometheus::Registry registry;
    std::map<std::string, prometheus::Family<prometheus::Counter>*, std::less<>> counters;
    std::map<std::string, prometheus::Family<prometheus::Gauge>*, std::less<>> gauges;
    std::map<std::string, prometheus::Family<prometheus::Histogram>*, std::less<>> histograms;

    template <class Families, class Build>
    auto& family(Families& families, std::string_view name, std::string_view help, Build build) {
        auto found = families.find(name);
        if (found == families.end()) {
            auto& made = build().Name(std::string(name)).Help(std::string(help)).Register(registry);
            found = families.emplace(std::string(name), &made).first;
        }
        return *found->second;
    }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Counter Metrics::counter(std::string_view name, std::string_view help, const Labels& labels) {
    const std::lock_guard lock(impl_->mutex);
    return Counter(&impl_->family(impl_->counters, name, help, prometheus::BuildCounter).Add(labels));
}

Gauge Metrics::gauge(std::string_view name, std::string_view help, const Labels& labels) {
    const std::lock_guard lock(impl_->mutex);
    return Gauge(&impl_->family(impl_->gauges, name, help, prometheus::BuildGauge).Add(labels));
}

Histogram Metrics::histogram(std::string_view name, std::string_view help, const std::vector<double>& buckets,
                             const Labels& labels) {
    const std::lock_guard lock(impl_->mutex);
    return Histogram(&impl_->family(impl_->histograms, name, help, prometheus::BuildHistogram).Add(labels, buckets));
}

std::string Metrics::expose() const { return prometheus::TextSerializer().Serialize(impl_->registry.Collect()); }

}  // namespace fairlead
