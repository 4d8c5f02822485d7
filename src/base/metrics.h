// Prometheus metrics behind cheap handles: look a handle up once (that takes a lock), keep it, update it from any
// thread (that does not). metrics.cpp is the home of prometheus-cpp. The Metrics object outlives all handles.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace fairlead {

using Labels = std::map<std::string, std::string>;

class Counter {
public:
    void add(double amount = 1);

private:
    friend class Metrics;
    explicit Counter(prometheus::Counter* counter) : counter_(counter) {}
    prometheus::Counter* counter_;
};

class Gauge {
public:
    void set(double value);
    void add(double amount);

private:
    friend class Metrics;
    explicit Gauge(prometheus::Gauge* gauge) : gauge_(gauge) {}
    prometheus::Gauge* gauge_;
};

class Histogram {
public:
    void observe(double value);

private:
    friend class Metrics;
    explicit Histogram(prometheus::Histogram* histogram) : histogram_(histogram) {}
    prometheus::Histogram* histogram_;
};

class Metrics {
public:
    Metrics();
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    // The same name and labels give the same metric. `help` counts the first time only.
    Counter counter(std::string_view name, std::string_view help, const Labels& labels = {});
    Gauge gauge(std::string_view name, std::string_view help, const Labels& labels = {});
    Histogram histogram(std::string_view name, std::string_view help, const std::vector<double>& buckets,
                        const Labels& labels = {});

    // Everything in the Prometheus text format.
    [[nodiscard]] std::string expose() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead
