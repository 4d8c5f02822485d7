#include "proxy/gorouter/driver.h"

#include <fmt/core.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <utility>

#include "base/files.h"
#include "base/metrics.h"
#include "base/step_thread.h"
#include "proxy/gorouter/engine.h"
#include "proxy/gorouter/nkey.h"
#include "proxy/gorouter/status_reader.h"

namespace fairlead::proxy::gorouter {

namespace {

// Answers of routers that wait: each of thousands of routers speaks once in an interval.
constexpr std::size_t max_heard = 10'000;

class GorouterDriver final : public Publisher {
public:
    GorouterDriver(Options options, const Clock& clock, Random& random, Log& log, Metrics& metrics)
        : options_(std::move(options)),
          thread_([this] { return step(); }, clock),
          engine_(options_, clock, random, log,
                  {.heard = [this](Heard heard) { hear(std::move(heard)); }, .lost = [this] { thread_.wake(); }}),
          reader_(options_.audit, clock, [this](Routes routes) { return take_routes(std::move(routes)); }),
          collecting_(metrics.collect_with([this] { return collect(); })) {}
    ~GorouterDriver() override { thread_.stop(); }
    GorouterDriver(const GorouterDriver&) = delete;
    GorouterDriver& operator=(const GorouterDriver&) = delete;

    Result<void> start() {
        if (auto started = reader_.start(); !started) return started;
        thread_.start();
        return {};
    }

    void reset(traffic::RoutingTable table, std::uint64_t version) override {
        {
            const std::lock_guard lock(mutex_);
            inbox_.table = std::move(table);
            inbox_.change = {};
            inbox_.version = version;
        }
        thread_.wake();
    }

    void change(traffic::TableDiff change, std::uint64_t version) override {
        {
            const std::lock_guard lock(mutex_);
            traffic::merge(inbox_.change, std::move(change));
            inbox_.version = version;
        }
        thread_.wake();
    }

    void active(Activity activity) override {
        {
            const std::lock_guard lock(mutex_);
            inbox_.active = activity;
        }
        thread_.wake();
    }

    void withdraw(bool may) override {
        {
            const std::lock_guard lock(mutex_);
            inbox_.withdraw = may;
        }
        thread_.wake();
    }

    void mark(std::string mark) override {
        const std::lock_guard lock(mutex_);
        inbox_.mark = std::move(mark);
    }

    // Nobody waits for it: it is looked at when a router has answered.
    void certain(std::optional<traffic::Certainty> certainty) override {
        const std::lock_guard lock(mutex_);
        inbox_.doubted = inbox_.doubted || !certainty;
        inbox_.certainty = std::move(certainty);
    }

    [[nodiscard]] Progress progress() const override {
        const std::lock_guard lock(mutex_);
        return progress_;
    }

    [[nodiscard]] std::map<std::string, PoolFigures> figures() const override { return {}; }  // routers tell nobody

    [[nodiscard]] Figures emitted() const override {
        const std::lock_guard lock(mutex_);
        return figures_;
    }

    void on_progress(std::function<void()> call) override {
        // Held while it is called: after null nobody is called any more.
        const std::lock_guard lock(call_mutex_);
        call_ = std::move(call);
    }

    void stop_proxy_at_end() override {}  // the routers are not ours

private:
    void hear(Heard heard) {
        {
            const std::lock_guard lock(mutex_);
            if (inbox_.heard.size() >= max_heard) return;
            inbox_.heard.push_back(std::move(heard));
        }
        thread_.wake();
    }

    bool take_routes(Routes routes) {
        {
            const std::lock_guard lock(mutex_);
            if (!audit_wanted_ || inbox_.routes) return false;
            inbox_.routes = std::move(routes);
        }
        thread_.wake();
        return true;
    }

    Step step() {
        Inbox inbox;
        {
            const std::lock_guard lock(mutex_);
            inbox = std::exchange(inbox_, {});
        }
        const auto next = engine_.step(std::move(inbox));
        bool changed = false;
        {
            const std::lock_guard lock(mutex_);
            changed = !(engine_.progress() == progress_);
            if (changed) progress_ = engine_.progress();
            figures_ = engine_.figures();
            published_ = engine_.published();
            audit_wanted_ = engine_.audit_wanted();
        }
        if (changed) {
            const std::lock_guard lock(call_mutex_);
            if (call_) call_();
        }
        return next;
    }

    [[nodiscard]] std::vector<SampleFamily> collect() const {
        const std::lock_guard lock(mutex_);
        std::vector<SampleFamily> all;
        const auto add = [&all](const char* name, const char* help, SampleFamily::Kind kind,
                                std::vector<Sample> samples) {
            all.push_back({name, help, kind, std::move(samples)});
        };
        const auto gauge = [&add](const char* name, const char* help, auto value) {
            add(name, help, SampleFamily::Kind::gauge, {{{}, static_cast<double>(value)}});
        };
        const auto counter = [&add](const char* name, const char* help, auto value) {
            add(name, help, SampleFamily::Kind::counter, {{{}, static_cast<double>(value)}});
        };
        gauge("fairlead_gorouter_connected", "Whether NATS is there.", progress_.up ? 1 : 0);
        counter("fairlead_gorouter_connects_total", "Connections to NATS that were made.", published_.connects);
        add("fairlead_gorouter_messages_total", "Messages that NATS has taken.", SampleFamily::Kind::counter,
            {{{{"kind", "register"}}, static_cast<double>(published_.register_messages)},
             {{{"kind", "unregister"}}, static_cast<double>(published_.unregister_messages)}});
        counter("fairlead_gorouter_bytes_total", "Bytes of these messages.", published_.bytes);
        counter("fairlead_gorouter_names_registered_total", "Names in register messages.", published_.names_registered);
        counter("fairlead_gorouter_names_withdrawn_total", "Names in unregister messages.", published_.names_withdrawn);
        counter("fairlead_gorouter_rounds_total", "How often everything was registered anew.", figures_.rounds);
        gauge("fairlead_gorouter_names", "Names that lead to an endpoint.", figures_.names);
        gauge("fairlead_gorouter_endpoints", "Endpoints that names lead to.", figures_.endpoints);
        gauge("fairlead_gorouter_pairs", "Names times the endpoints of each.", figures_.pairs);
        gauge("fairlead_gorouter_withdrawals", "Names and addresses that are withdrawn again and again.",
              figures_.withdrawals);
        gauge("fairlead_gorouter_waiting", "Changes and endpoints that wait for the pace.", figures_.waiting);
        gauge("fairlead_gorouter_routers", "Routers that have spoken lately.", figures_.routers);
        gauge("fairlead_gorouter_interval_seconds", "In which everything is registered anew.",
              figures_.interval.count());
        std::vector<Sample> audits;
        std::vector<Sample> differences;
        for (const auto& [url, audit] : published_.audits) {
            audits.push_back({{{"router", url}, {"result", "good"}}, static_cast<double>(audit.good)});
            audits.push_back({{{"router", url}, {"result", "failed"}}, static_cast<double>(audit.failed)});
            differences.push_back({{{"router", url}, {"kind", "missing"}}, static_cast<double>(audit.missing)});
            differences.push_back({{{"router", url}, {"kind", "lingering"}}, static_cast<double>(audit.lingering)});
            differences.push_back({{{"router", url}, {"kind", "leftover"}}, static_cast<double>(audit.leftover)});
            differences.push_back({{{"router", url}, {"kind", "foreign"}}, static_cast<double>(audit.foreign)});
        }
        if (audits.empty()) return all;
        add("fairlead_gorouter_audits_total", "Comparisons of a router's routes with the table.",
            SampleFamily::Kind::counter, std::move(audits));
        add("fairlead_gorouter_audit_differences", "What the last comparison found.", SampleFamily::Kind::gauge,
            std::move(differences));
        return all;
    }

    const Options options_;
    mutable std::mutex mutex_;
    Inbox inbox_;
    Progress progress_;
    Figures figures_;
    Published published_;
    bool audit_wanted_ = true;
    std::mutex call_mutex_;
    std::function<void()> call_;
    mutable StepThread thread_;  // before those who wake it until their own end
    Engine engine_;
    StatusReader reader_;
    Metrics::Collecting collecting_;
};

Result<void> check_file(const char* what, const std::filesystem::path& path) {
    if (path.empty() || std::ifstream(path).good()) return {};
    return fail(Errc::invalid, what, fmt::format("{} cannot be read", path.string()));
}

Result<void> check_nkey(const NatsOptions& nats) {
    if (nats.nkey_seed.empty()) return {};
    if (!nats.credentials.empty()) {
        return fail(Errc::invalid, "nats nkey", "credentials have a seed of their own: name one of the two");
    }
    const auto text = read_file(nats.nkey_seed);
    if (!text) return fail(Errc::invalid, "nats nkey", text.error().text());
    if (const auto key = read_nkey(*text); !key) {
        return fail(Errc::invalid, "nats nkey", fmt::format("{}: {}", nats.nkey_seed.string(), key.error().text()));
    }
    return {};
}

Result<void> check(const Options& options) {
    if (options.nats.urls.empty()) return fail(Errc::invalid, "nats", "there must be a URL");
    for (const auto& url : options.nats.urls) {
        const auto scheme = url.find("://");
        if (scheme != std::string::npos && (url.starts_with("nats://") || url.starts_with("tls://")) &&
            url.size() > scheme + 3) {
            continue;
        }
        return fail(Errc::invalid, "nats",
                    fmt::format("'{}' is no URL as nats://host:4222 or tls://host:4222", without_credentials(url)));
    }
    if (options.nats.certificate.empty() != options.nats.key.empty()) {
        return fail(Errc::invalid, "nats certificate", "certificate and key go together");
    }
    for (const auto& [what, path] :
         {std::pair("nats credentials", &options.nats.credentials), std::pair("nats ca", &options.nats.ca),
          std::pair("nats certificate", &options.nats.certificate), std::pair("nats key", &options.nats.key)}) {
        if (auto good = check_file(what, *path); !good) return good;
    }
    if (auto good = check_nkey(options.nats); !good) return good;
    const auto& settings = options.settings;
    if (settings.prefix.empty() || settings.prefix.find_first_of(" \t*>") != std::string::npos) {
        return fail(Errc::invalid, "prefix", fmt::format("'{}' is no subject of NATS", settings.prefix));
    }
    if (!(settings.messages_per_second >= 1)) {
        return fail(Errc::invalid, "messages per second", fmt::format("{} is below 1", settings.messages_per_second));
    }
    if (settings.max_names == 0 || settings.burst == 0 || settings.interval < std::chrono::seconds(1) ||
        settings.repeat < std::chrono::seconds(1)) {
        return fail(Errc::invalid, "settings", "names per message, burst, interval and repeat must be at least 1");
    }
    if (!options.audit.urls.empty() && options.audit.interval < std::chrono::seconds(1)) {
        return fail(Errc::invalid, "audit interval", fmt::format("{} s is below 1 s", options.audit.interval.count()));
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Publisher>> start(Options options, const Clock& clock, Random& random, Log& log,
                                         Metrics& metrics) {
    if (auto good = check(options); !good) return fail(good.error());
    auto driver = std::make_unique<GorouterDriver>(std::move(options), clock, random, log, metrics);
    if (auto started = driver->start(); !started) return fail(started.error());
    return driver;
}

}  // namespace fairlead::proxy::gorouter
