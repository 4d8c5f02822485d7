// Prometheus metrics behind cheap handles: look a handle up once (that takes a lock), keep it, update it from any
// thread (that does not). metrics.cpp is the home of prometheus-cpp. The Metrics object outlives all handles.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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

// What a collector says at the moment of a scrape: for figures that are kept elsewhere (counted by a thread for itself)
// or come and go with what they are about.
struct Sample {
    Labels labels;
    double value = 0;
};
struct SampleFamily {
    enum class Kind { counter, gauge };
    std::string name, help;
    Kind kind = Kind::counter;
    std::vector<Sample> samples;
};
using Collect = std::function<std::vector<SampleFamily>()>;

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

    // Asked at each scrape, on the thread of the scrape, while the returned object lives. Its names are its own.
    class Collecting {
    public:
        Collecting(Collecting&& other) noexcept : metrics_(std::exchange(other.metrics_, nullptr)), id_(other.id_) {}
        Collecting& operator=(Collecting&&) = delete;
        ~Collecting();

    private:
        friend class Metrics;
        Collecting(Metrics& metrics, std::size_t id) : metrics_(&metrics), id_(id) {}
        Metrics* metrics_;
        std::size_t id_;
    };
    [[nodiscard]] Collecting collect_with(Collect collect);

    // Everything in the Prometheus text format.
    [[nodiscard]] std::string expose() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead
