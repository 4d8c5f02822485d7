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

namespace {

prometheus::MetricFamily to_prometheus(SampleFamily family) {
    prometheus::MetricFamily made;
    made.name = std::move(family.name);
    made.help = std::move(family.help);
    const bool counts = family.kind == SampleFamily::Kind::counter;
    made.type = counts ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
    made.metric.reserve(family.samples.size());
    for (auto& sample : family.samples) {
        prometheus::ClientMetric metric;
        metric.label.reserve(sample.labels.size());
        for (auto& [name, value] : sample.labels) metric.label.push_back({name, std::move(value)});
        (counts ? metric.counter.value : metric.gauge.value) = sample.value;
        made.metric.push_back(std::move(metric));
    }
    return made;
}

}  // namespace

// The registry merges nothing by itself, so that families are kept by name here.
struct Metrics::Impl {
    std::mutex mutex;
    prometheus::Registry registry;
    std::map<std::string, prometheus::Family<prometheus::Counter>*, std::less<>> counters;
    std::map<std::string, prometheus::Family<prometheus::Gauge>*, std::less<>> gauges;
    std::map<std::string, prometheus::Family<prometheus::Histogram>*, std::less<>> histograms;

    std::mutex collecting;  // held while collectors are asked: one that has gone is not asked any more
    std::map<std::size_t, Collect> collectors;
    std::size_t next_collector = 0;

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

Metrics::Collecting Metrics::collect_with(Collect collect) {
    const std::lock_guard lock(impl_->collecting);
    impl_->collectors.emplace(impl_->next_collector, std::move(collect));
    return {*this, impl_->next_collector++};
}

Metrics::Collecting::~Collecting() {
    if (metrics_ == nullptr) return;
    const std::lock_guard lock(metrics_->impl_->collecting);
    metrics_->impl_->collectors.erase(id_);
}

std::string Metrics::expose() const {
    auto families = impl_->registry.Collect();
    {
        const std::lock_guard lock(impl_->collecting);
        for (const auto& [id, collect] : impl_->collectors) {
            for (auto& family : collect()) families.push_back(to_prometheus(std::move(family)));
        }
    }
    return prometheus::TextSerializer().Serialize(families);
}

}  // namespace fairlead
