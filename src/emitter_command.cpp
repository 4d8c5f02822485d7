#include "emitter_command.h"

#include <fmt/core.h>

#include <cstdio>
#include <optional>

#include "base/files.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/step_thread.h"
#include "base/text.h"
#include "cluster/http_link.h"
#include "emitter/api_source.h"
#include "emitter/elector.h"
#include "emitter/emitter.h"
#include "emitter/receptor_source.h"
#include "lrp/book.h"
#include "net/async_client.h"
#include "process.h"
#include "proxy/gorouter/driver.h"

namespace fairlead {

namespace {

constexpr long tick_nanoseconds = 100'000'000;
constexpr std::size_t connections = 16;  // three watches or reads, a stream, a lease, and room
constexpr std::chrono::seconds leave_within{3};

// A secret in a file of its own: without the line end that editors leave there. Empty for no file.
Result<std::string> secret_of(const std::string& flag, const std::filesystem::path& file) {
    if (file.empty()) return std::string();
    const auto text = read_file(file);
    if (!text) return fail(text.error().code, flag, text.error().text());
    auto secret = std::string(trim(*text));
    if (secret.empty()) return fail(Errc::invalid, flag, fmt::format("{} is empty", file.string()));
    return secret;
}

Result<proxy::gorouter::Options> publisher_options(const cli::EmitterOptions& options) {
    proxy::gorouter::Options out;
    out.nats.urls = options.nats;
    out.nats.user = options.nats_user;
    auto password = secret_of("--nats-password-file", options.nats_password);
    if (!password) return fail(std::move(password.error()));
    out.nats.password = std::move(*password);
    auto token = secret_of("--nats-token-file", options.nats_token);
    if (!token) return fail(std::move(token.error()));
    out.nats.token = std::move(*token);
    out.nats.credentials = options.nats_credentials;
    out.nats.nkey_seed = options.nats_nkey_seed;
    out.nats.ca = options.nats_ca;
    out.nats.certificate = options.nats_certificate;
    out.nats.key = options.nats_key;
    out.nats.server_name = options.nats_server_name;
    out.nats.name = "fairlead-emitter " + options.name;
    out.settings.prefix = options.subjects;
    out.settings.interval = std::chrono::ceil<std::chrono::seconds>(options.interval);
    out.settings.messages_per_second = static_cast<double>(options.messages_per_second);
    out.audit.urls = options.router_status;
    out.audit.interval = std::chrono::ceil<std::chrono::seconds>(options.audit_interval);
    out.standby = true;  // until the emitter has read everything, and leads
    return out;
}

Result<emitter::ReceptorAccess> receptor_access(const cli::EmitterOptions& options) {
    auto access = emitter::parse_receptor_url("--receptor", options.receptor);
    if (!access) return access;
    auto token = secret_of("--receptor-token-file", options.receptor_token);
    if (!token) return fail(std::move(token.error()));
    if (!token->empty()) access->authorization = "Bearer " + *token;
    if (!options.receptor_ca.empty()) {
        auto pem = read_file(options.receptor_ca);
        if (!pem) return fail(pem.error().code, "--receptor-ca", pem.error().text());
        access->ca_pem = std::move(*pem);
    }
    access->insecure_skip_verify = options.receptor_insecure;
    return access;
}

// Everything that an emitter is made of, in the order that it is taken down again.
class Process {
public:
    Process(const cli::EmitterOptions& options, Log& log, Metrics& metrics)
        : options_(options), log_(log), metrics_(metrics), client_(connections), reads_(connections) {}
    ~Process() {
        if (thread_) thread_->stop();
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    Result<void> start();
    [[nodiscard]] emitter::Emitter& emitter() { return *emitter_; }
    // Gives the lease back; what lives stays registered.
    void leave();

private:
    Result<void> make_source(const std::function<void()>& wake);

    const cli::EmitterOptions& options_;
    Log& log_;
    Metrics& metrics_;
    const SystemClock clock_;
    SystemRandom random_;
    net::AsyncClient client_;  // our API, and the events of a Receptor
    net::AsyncClient reads_;   // lists of a Receptor
    lrp::Book book_;
    std::unique_ptr<cluster::Link> link_;              // our API -> ApiSource, Elector
    std::unique_ptr<emitter::ReceptorLink> receptor_;  // a Receptor -> ReceptorSource
    std::unique_ptr<proxy::gorouter::Publisher> publisher_;
    std::unique_ptr<emitter::Source> source_;
    std::unique_ptr<emitter::Elector> elector_;
    std::unique_ptr<emitter::Emitter> emitter_;
    std::optional<StepThread> thread_;  // steps the emitter; the links' callbacks and the publisher's wake it
};

Result<void> Process::make_source(const std::function<void()>& wake) {
    if (options_.access) link_ = cluster::make_http_link(client_, *options_.access);
    if (options_.receptor.empty()) {
        source_ = std::make_unique<emitter::ApiSource>(options_.name_space, *link_, book_, clock_, random_, log_, wake);
        return {};
    }
    auto access = receptor_access(options_);
    if (!access) return fail(std::move(access.error()));
    receptor_ = emitter::make_receptor_link(reads_, client_, std::move(*access));
    emitter::ReceptorOptions sync;
    sync.sync_interval = options_.sync_interval;
    source_ = std::make_unique<emitter::ReceptorSource>(sync, *receptor_, book_, clock_, random_, log_, wake);
    return {};
}

Result<void> Process::start() {
    auto settings = publisher_options(options_);
    if (!settings) return fail(std::move(settings.error()));
    const auto wake = [this] { thread_->wake(); };
    thread_.emplace([this] { return emitter_->step(); }, clock_);
    if (auto made = make_source(wake); !made) return made;
    if (link_ && options_.lease) {
        emitter::ElectorOptions election;
        election.space = options_.lease_space;
        election.name = options_.lease_name;
        election.identity = options_.name;
        election.duration = std::chrono::ceil<std::chrono::seconds>(options_.lease_duration);
        election.patience = std::chrono::ceil<std::chrono::seconds>(options_.source_patience);
        elector_ = std::make_unique<emitter::Elector>(election, *link_, clock_, random_, log_, wake);
    }
    auto publisher = proxy::gorouter::start(std::move(*settings), clock_, random_, log_, metrics_);
    if (!publisher) return fail(std::move(publisher.error()));
    publisher_ = std::move(*publisher);
    publisher_->on_progress(wake);
    emitter_ = std::make_unique<emitter::Emitter>(emitter::EmitterParts{.source = *source_,
                                                                        .book = book_,
                                                                        .publisher = *publisher_,
                                                                        .elector = elector_.get(),
                                                                        .mark = options_.mark,
                                                                        .clock = clock_,
                                                                        .log = log_,
                                                                        .metrics = metrics_});
    thread_->start();
    return {};
}

void Process::leave() {
    const auto end = clock_.monotonic() + leave_within;
    const timespec pause{.tv_sec = 0, .tv_nsec = tick_nanoseconds / 10};
    while (!emitter_->leave() && clock_.monotonic() < end) {
        thread_->wake();
        (void)::nanosleep(&pause, nullptr);
    }
    publisher_->on_progress({});
    thread_->stop();
}

}  // namespace

int run_emitter(const cli::EmitterOptions& options) {
    const sigset_t signals = block_signals();
    allow_many_files();
    Log log(options.log_level, options.log_format);
    Metrics metrics;
    Process process(options, log, metrics);
    if (auto started = process.start(); !started) {
        log.error("cannot start the emitter", {{"why", started.error().text()}});
        return started.error().code == Errc::invalid ? 2 : 1;
    }
    auto& emitter = process.emitter();
    std::unique_ptr<StatusServer> server;
    if (!options.listen.empty()) {
        const StatusServer::State state{.ready = [&emitter] { return emitter.ready(); },
                                        .problem = [&emitter] { return emitter.problem(); }};
        auto listening = StatusServer::start(options.listen, state, log, metrics);
        if (!listening) {
            log.error("cannot listen", {{"why", listening.error().text()}});
            return 1;
        }
        server = std::move(*listening);
        log.info("listening", {{"address", server->address()}});
    }
    const timespec tick{.tv_sec = 0, .tv_nsec = tick_nanoseconds};
    bool announced = false;
    while (!is_end(sigtimedwait(&signals, nullptr, &tick))) {
        if (announced || !emitter.ready()) continue;
        announced = true;
        fmt::print("ready name={} duty={}{}{}\n", options.name, emitter::name_of(emitter.duty()),
                   server ? " listen=" : "", server ? server->address() : std::string());
        std::fflush(stdout);
        notify_service_manager("READY=1");
    }
    log.info("stopping");
    notify_service_manager("STOPPING=1");
    process.leave();
    return 0;
}

}  // namespace fairlead
