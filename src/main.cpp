// The binary: wiring only. Every object of `fairlead serve` is created here, in the order in which they need each
// other, and destroyed in the reverse order. Commands that talk to a server live in src/cli.
#include <fmt/core.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "apiserver/api_server.h"
#include "apiserver/audit_log.h"
#include "apiserver/identity.h"
#include "apiserver/local_client.h"
#include "apiserver/token_file.h"
#include "balancer_role.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cloud_role.h"
#include "cluster/http_link.h"
#include "cluster/kubeconfig.h"
#include "control/control_thread.h"
#include "controller/balancer_lifecycle.h"
#include "controller/claim_binder.h"
#include "controller/cluster_sync.h"
#include "controller/dns_publisher.h"
#include "controller/dns_sources.h"
#include "controller/dns_status.h"
#include "controller/event_expiry.h"
#include "controller/former_names.h"
#include "controller/garbage_collector.h"
#include "controller/gateway_dns.h"
#include "controller/ingress_binding.h"
#include "controller/lrp_dns.h"
#include "controller/lrp_routes.h"
#include "controller/namespace_lifecycle.h"
#include "controller/port_leases.h"
#include "controller/route_admission.h"
#include "controller/route_dns.h"
#include "controller/route_scheduler.h"
#include "controller/route_status.h"
#include "controller/router_status.h"
#include "controller/router_zone.h"
#include "dns_role.h"
#include "emitter_command.h"
#include "health_role.h"
#include "net/async_client.h"
#include "net/connection_budget.h"
#include "net/server.h"
#include "preview_role.h"
#include "process.h"
#include "publish_role.h"
#include "resource/kind.h"
#include "router_command.h"
#include "router_role.h"
#include "skydns_role.h"
#include "store/embedded.h"
#include "store/file_lock.h"
#include "store/memory.h"
#include "strategy_ask.h"
#include "version.h"
#include "webhook_role.h"

namespace fairlead {
namespace {

constexpr std::chrono::seconds shutdown_grace{10};
constexpr time_t maintenance_seconds = 2;

int failed(Log& log, std::string_view what, const Error& error) {
    log.error(what, {{"why", error.text()}});
    return 1;
}

Result<std::unique_ptr<store::Store>> open_store(const cli::ServeOptions& options, Log& log, Metrics& metrics) {
    if (options.store == "memory:") return store::make_memory_store();
    store::EmbeddedOptions embedded;
    embedded.file = options.data_dir / "store.db";
    embedded.progress = [&log](std::uint64_t done, std::uint64_t total) {
        log.info("loading the store", {{"rows", done}, {"of", total}});
    };
    return store::open_embedded_store(embedded, log, metrics);
}

std::string host_of(const std::string& listen) {
    std::string host = listen.substr(0, listen.rfind(':'));
    if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
    return host;
}

// A wildcard address is no address to connect to.
std::string url_of(const std::string& address) {
    const std::string host = host_of(address);
    const std::string port = address.substr(address.rfind(':') + 1);
    if (host == "0.0.0.0" || host == "::") return "https://127.0.0.1:" + port;
    return "https://" + address;
}

constexpr std::size_t watches_per_cluster = 3;
constexpr std::size_t most_followed = 5'000;

// Our limits on connections are far above a shell's soft limit.
net::ConnectionBudget connections_that_fit(const net::ConnectionBudget& wanted) {
    allow_many_files();
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
    return net::connections_that_fit(files.rlim_cur, wanted);
}

// One name per data dir and machine: the data dir is ours alone (serve.lock), so after a crash we find our own name on
// the lease and go on at once, instead of waiting for its end.
control::ManagerOptions manager_options(const cli::ServeOptions& options) {
    char host[256] = {};
    if (::gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
    std::error_code ignored;
    const auto dir = std::filesystem::weakly_canonical(options.data_dir, ignored);
    control::ManagerOptions manager;
    manager.election = control::ElectionOptions{};
    // Nobody waits for this lease to end (the data dir has one server), so it need not be renewed, and the disk not be
    // touched, as often as one that is fought for.
    manager.election->duration = std::chrono::seconds(60);
    manager.election->renew_deadline = std::chrono::seconds(40);
    manager.election->retry_period = std::chrono::seconds(10);
    manager.election->identity = fmt::format("{}_{}", host, sha256_hex(dir.string()).substr(0, 12));
    return manager;
}

constexpr std::size_t writes_at_once = 16;  // of one controller: the hosts of a Gateway, and a few more

// Everything that the role `controllers` is made of. Writes: reconciler -> Client -> LocalClient -> FencedStore -> the
// store; reads: the store -> informers.
struct Controllers {
    // `dns` may be null: then it is somebody else's, and so are the conditions of its resources.
    Controllers(const cli::ServeOptions& options, const resource::Kinds& kinds, store::Store& store, DnsRole* dns,
                PublishRole& publishing, HealthRole& health, SkydnsRole& skydns, CloudRole& clouds, const Clock& clock,
                Random& random, Log& log, Metrics& metrics, std::size_t cluster_connections)
        : fenced(store, fence, clock),
          client(kinds, fenced, clock, random, writes_at_once),
          leases(kinds, store, clock, random),
          clusters(cluster_connections),
          manager({kinds, store, client, leases, fence, clock, random, log, metrics}, manager_options(options)) {
        manager.add("namespace-lifecycle",
                    [](auto& context) { return std::make_unique<controller::NamespaceLifecycle>(context); });
        manager.add("garbage-collector",
                    [](auto& context) { return std::make_unique<controller::GarbageCollector>(context); });
        const controller::EventExpiryOptions expiry{options.event_ttl};
        manager.add("event-expiry",
                    [expiry](auto& context) { return std::make_unique<controller::EventExpiry>(context, expiry); });
        // Conditions of names -> notes -> whoever writes the status of Ingresses on balancers.
        controller::DnsSourcesOptions sources;
        sources.notes = &notes;
        manager.add("dns-sources",
                    [sources](auto& context) { return std::make_unique<controller::DnsSources>(context, sources); });
        // What is to be found out about addresses -> Monitor, Lookups; what was found -> trees.
        manager.add("gateway-dns", [&health](auto& context) {
            return std::make_unique<controller::GatewayDns>(context, health.monitor(), health.lookups());
        });
        // Instances -> Monitor -> status of Routers -> their zones; Routes -> names of users and of former routers.
        manager.add("router-status", [&health](auto& context) {
            return std::make_unique<controller::RouterStatus>(context, health.monitor());
        });
        manager.add("router-zone", [&health](auto& context) {
            return std::make_unique<controller::RouterZone>(context, health.lookups());
        });
        manager.add("former-names", [](auto& context) { return std::make_unique<controller::FormerNames>(context); });
        manager.add("route-dns", [](auto& context) { return std::make_unique<controller::RouteDns>(context); });
        // Instances of LRPs -> DNSRecords -> feed; and -> EtcdWriter -> etcd, if there is one.
        manager.add("lrp-dns", [&skydns](auto& context) {
            return std::make_unique<controller::LrpDns>(context, controller::LrpDnsOptions{.etcd = skydns.writer()});
        });
        if (dns != nullptr) {
            manager.add("dns-status", [dns](auto& context) {
                controller::DnsStatusOptions status;
                status.next_looped = [dns] { return dns->next_looped(); };
                return std::make_unique<controller::DnsStatus>(context, dns->verdicts(), std::move(status));
            });
        }
        manager.add("cluster-sync", [this, cluster_connections](auto& context) {
            controller::ClusterSyncOptions sync;
            sync.max_followed = cluster_connections / watches_per_cluster;
            sync.make_link = [this](const auto& access) { return cluster::make_http_link(clusters, access); };
            return std::make_unique<controller::ClusterSync>(context, std::move(sync));
        });
        // Questions of the strategy webhook -> hooks; answers -> the scheduler.
        manager.add("route-scheduler", [this, &options](auto& context) {
            controller::RouteSchedulerOptions scheduling;
            scheduling.strategy = options.route_strategy;
            scheduling.ask = ask_over_http(hooks);
            return std::make_unique<controller::RouteScheduler>(context, std::move(scheduling));
        });
        manager.add("route-admission",
                    [](auto& context) { return std::make_unique<controller::RouteAdmission>(context); });
        manager.add("route-status", [&health](auto& context) {
            return std::make_unique<controller::RouteStatus>(context, health.lookups());
        });
        // DesiredLRPs and Routers -> PortLeases; all three -> status of the DesiredLRPs.
        manager.add("port-leases", [](auto& context) { return std::make_unique<controller::PortLeases>(context); });
        manager.add("lrp-routes", [](auto& context) { return std::make_unique<controller::LrpRoutes>(context); });
        // What is wanted -> Publisher; what has become of it -> conditions.
        manager.add("dns-publisher", [&publishing](auto& context) {
            return std::make_unique<controller::DnsPublisher>(context, publishing.publisher(),
                                                              publishing.controller_options());
        });
        add_balancers(clouds);
        skydns.start([this] { return manager.leading(); });
        thread.emplace(manager, clock);
        publishing.start([this] { return manager.leading(); });
        clouds.start([this] { return manager.leading(); });
        stop_publishing = [&publishing, &skydns, &clouds] {
            publishing.stop();
            skydns.stop();
            clouds.stop();
        };
        health.start();
    }
    ~Controllers() { stop_publishing(); }
    Controllers(const Controllers&) = delete;
    Controllers& operator=(const Controllers&) = delete;
    // Claims -> references on LoadBalancers -> which one carries an Ingress -> Works; what becomes of it -> status.
    void add_balancers(CloudRole& clouds) {
        manager.add("claim-binder", [&clouds](auto& context) {
            return std::make_unique<controller::ClaimBinder>(context, clouds.binder_options());
        });
        manager.add("ingress-binding", [this, &clouds](auto& context) {
            return std::make_unique<controller::IngressBinding>(context, clouds.board(), &notes);
        });
        manager.add("balancer-lifecycle", [&clouds](auto& context) {
            return std::make_unique<controller::BalancerLifecycle>(context, clouds.works(), clouds.board(),
                                                                   clouds.lifecycle_options());
        });
    }
    [[nodiscard]] std::optional<std::string> problem() const {
        if (manager.synced()) return std::nullopt;
        return "the controllers have not read everything yet";
    }

    controller::StatusNotes notes;
    control::Fence fence;
    control::FencedStore fenced;
    apiserver::LocalClient client, leases;
    net::AsyncClient clusters;  // other clusters' APIs -> followers of cluster-sync
    net::AsyncClient hooks{controller::WebhookCalls::max_open};
    control::Manager manager;
    std::function<void()> stop_publishing;         // its threads ask the manager whether it leads
    std::optional<control::ControlThread> thread;  // last: steps the manager
};

// Bodies and answers of some size go back to the system when they are freed, and not to a heap that never shrinks
// again.
void return_large_buffers() {
    (void)mallopt(M_MMAP_THRESHOLD, 128 * 1024);  // NOLINT(concurrency-mt-unsafe): called before any thread is started
}

// What an operator may have changed under us: the audit log was rotated, the token file edited, the places renewed.
void reopen_files(DnsRole* dns, apiserver::AuditLog* audit, apiserver::TokenFile* tokens, Log& log) {
    if (dns != nullptr) dns->reload();
    if (audit != nullptr) {
        if (auto done = audit->reopen(); !done) {
            log.warn("cannot reopen the audit log, the old file is used", {{"why", done.error().text()}});
        }
    }
    if (tokens != nullptr) {
        if (auto done = tokens->reload(true); !done) {
            log.warn("cannot read the token file, its old content counts", {{"why", done.error().text()}});
        }
    }
    log.info("files reopened");
}

// Until SIGTERM or SIGINT, which it returns. This thread has nothing else to do, so it also does what is due from time
// to time.
int wait_for_stop(const sigset_t& signals, apiserver::ApiServer& api, DnsRole* dns, apiserver::AuditLog* audit,
                  apiserver::TokenFile* tokens, Log& log) {
    const timespec pause{.tv_sec = maintenance_seconds, .tv_nsec = 0};
    for (;;) {
        const int received = sigtimedwait(&signals, nullptr, &pause);
        if (is_end(received)) return received;
        if (received == SIGHUP) reopen_files(dns, audit, tokens, log);
        api.maintain();
        if (dns != nullptr) dns->maintain();
    }
}

// Where this process can be reached, for tools that find it by its data dir.
Result<void> write_run_file(const std::filesystem::path& file, const std::string& url, const std::string& dns) {
    return write_file(file, fmt::format("{{\"api\":\"{}\",\"dns\":\"{}\",\"pid\":{}}}\n", url, dns, ::getpid()));
}

// Requests -> ZoneInfo, PreviewRole and Publisher, on the API's worker threads. `info` is null where DNS is not served,
// `publishing` where no controllers run.
void add_dns_endpoints(apiserver::ApiServer& api, const dnsinfo::ZoneInfo* info, const PreviewRole& preview,
                       PublishRole* publishing) {
    const auto none = fail(Errc::unavailable, "this server does not serve DNS: see --roles and --dns-listen");
    api.add_endpoint("/dns/explain", [info, none](const apiserver::EndpointRequest& request) -> Result<net::Response> {
        if (info == nullptr) return none;
        return info->explain(request.parameters);
    });
    api.add_endpoint("/dns/zones/", [info, none](const apiserver::EndpointRequest& request) -> Result<net::Response> {
        if (info == nullptr) return none;
        return info->export_zone(request.path);
    });
    const auto previewed = [&preview](const apiserver::EndpointRequest& request) { return preview.preview(request); };
    api.add_endpoint("/dns/preview", previewed, apiserver::ApiServer::Methods::all);
    api.add_endpoint("/dns/plans", [publishing](const apiserver::EndpointRequest& request) -> Result<net::Response> {
        if (publishing == nullptr) return fail(Errc::unavailable, "this server runs no controllers: see --roles");
        return publishing->plans(request);
    });
}

// How roles of this process ask our own API, like anybody else.
Result<cluster::Access> own_access(const std::filesystem::path& kubeconfig) {
    const auto text = read_file(kubeconfig);
    if (!text) return fail(text.error());
    auto login = cluster::parse_kubeconfig(
        *text, {}, [&](std::string_view name) { return read_file(kubeconfig.parent_path() / name); });
    if (!login) return fail(login.error());
    return std::move(login->access);
}

int serve(const cli::ServeOptions& options) {
    return_large_buffers();
    const sigset_t signals = block_signals();
    net::ServerOptions server_options;
    const auto connections =
        connections_that_fit({.http = server_options.max_connections,
                              .dns = options.dns ? dnsserver::TcpLimits{}.max_connections : 0,
                              .probes = options.controllers ? health::MonitorOptions{}.max_in_flight : 0,
                              .clusters = options.controllers ? most_followed * watches_per_cluster : 0});
    server_options.max_connections = connections.http;
    Log log(options.log_level, options.log_format);
    Metrics metrics;
    const SystemClock clock;
    SystemRandom random;

    std::error_code error;
    std::filesystem::create_directories(options.data_dir, error);
    if (error) {
        return failed(log, "cannot use the data dir", {Errc::internal, options.data_dir.string(), error.message()});
    }

    // One server per data dir, whatever its store is: run.json and the kubeconfig are there too.
    auto lock = store::FileLock::take(options.data_dir / "serve.lock");
    if (!lock) return failed(log, "cannot use the data dir", lock.error());

    auto store = open_store(options, log, metrics);
    if (!store) return failed(log, "cannot open the store", store.error());

    // Before anything else: the world asks it, whatever becomes of the rest.
    std::unique_ptr<DnsRole> dns;
    if (options.dns) {
        auto started = DnsRole::start(options, connections.dns, **store, clock, random, log, metrics);
        if (!started) return failed(log, "cannot serve DNS", started.error());
        dns = std::move(*started);
    }

    const resource::Kinds kinds = resource::make_kinds();
    apiserver::ApiOptions api_options;
    api_options.version = version;
    api_options.max_watches = server_options.max_connections / 4 * 3;
    api_options.max_watches_per_user = api_options.max_watches / 2;
    std::unique_ptr<apiserver::TokenFile> tokens;
    if (!options.token_auth_file.empty()) {
        auto opened = apiserver::TokenFile::open(options.token_auth_file);
        if (!opened) return failed(log, "cannot read the token file", opened.error());
        tokens = std::move(*opened);
    }
    std::unique_ptr<apiserver::AuditLog> audit;  // requests -> its own thread
    if (!options.audit_log.empty()) {
        auto opened = apiserver::AuditLog::open(options.audit_log, clock, log, metrics);
        if (!opened) return failed(log, "cannot open the audit log", opened.error());
        audit = std::move(*opened);
    }
    api_options.token_file = tokens.get();
    api_options.audit = audit.get();
    api_options.receptor = {options.receptor_namespace, options.receptor_origins};
    apiserver::ApiServer api(api_options, kinds, **store, clock, random, log, metrics);

    if (dns) api.add_ready_check("dns", [&dns] { return dns->problem(); });

    // Outlive the controllers, which use them.
    std::optional<PublishRole> publishing;
    std::optional<HealthRole> health;
    std::optional<SkydnsRole> skydns;
    std::unique_ptr<CloudRole> clouds;
    std::optional<Controllers> controllers;
    if (options.controllers) {
        publishing.emplace(options, clock, random, log, metrics);
        health.emplace(options, connections.probes, clock, random, log, metrics);
        auto beside = SkydnsRole::options_of(options.skydns);
        if (!beside) return failed(log, "cannot use the etcd of --skydns-etcd", beside.error());
        skydns.emplace(std::move(*beside), clock, random, log, metrics);
        auto settings = CloudRole::settings_of(options.balancers_file);
        if (!settings) return failed(log, "cannot use the file of --balancers", settings.error());
        auto providers = CloudRole::make(std::move(*settings), clock, random, log, metrics);
        if (!providers) return failed(log, "cannot use the file of --balancers", providers.error());
        clouds = std::move(*providers);
        controllers.emplace(options, kinds, **store, dns.get(), *publishing, *health, *skydns, *clouds, clock, random,
                            log, metrics, connections.clusters);
        api.add_ready_check("controllers", [&controllers] { return controllers->problem(); });
    }
    WebhookRole webhook(options, kinds, **store, clock, random, log, metrics);
    webhook.add_endpoints(api);
    const PreviewRole preview(kinds, **store, clock, dns ? &dns->info() : nullptr,
                              health ? &health->lookups() : nullptr);
    add_dns_endpoints(api, dns ? &dns->info() : nullptr, preview, publishing ? &*publishing : nullptr);

    auto identity = apiserver::ensure_identity(options.data_dir, apiserver::server_names(host_of(options.api_listen)),
                                               clock, random, log);
    if (!identity) return failed(log, "cannot make the certificates", identity.error());

    server_options.listen = options.api_listen;
    server_options.tls = net::TlsFiles{identity->server_certificate.string(), identity->server_key.string(),
                                       identity->ca_certificate.string()};
    server_options.threads = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
    server_options.error_response = apiserver::ApiServer::error_response;
    auto server = net::start_server(server_options, api, log, metrics);
    if (!server) return failed(log, "cannot listen", server.error());

    if (!options.webhook_listen.empty()) {
        if (auto listening = webhook.listen(options.webhook_listen); !listening) {
            return failed(log, "cannot listen for external-dns", listening.error());
        }
    }

    const std::string url = url_of((*server)->address());
    auto kubeconfig = apiserver::write_admin_kubeconfig(options.data_dir, *identity, url);
    if (!kubeconfig) return failed(log, "cannot write the kubeconfig", kubeconfig.error());

    if (!options.apply.empty() && cli::apply_paths(options.apply, *kubeconfig) != 0) {
        return failed(log, "cannot apply the manifests of --apply", {Errc::invalid, {}, "see the messages above"});
    }

    Metrics router_checks;  // the controllers probe too, and have these names in the other one
    std::unique_ptr<RouterRole> router;
    std::unique_ptr<BalancerRole> balancers;
    const auto access = own_access(*kubeconfig);
    if (!access) return failed(log, "cannot read the kubeconfig", access.error());
    if (options.router) {
        router = std::make_unique<RouterRole>(*options.router, *access, clock, random, log, metrics, router_checks);
        if (auto started = router->start(); !started) return failed(log, "cannot start the router", started.error());
    }
    if (options.balancers) {
        balancers =
            std::make_unique<BalancerRole>(BalancerRole::options_of(options), *access, clock, random, log, metrics);
        balancers->start();
    }

    const auto dns_addresses = dns ? join(dns->addresses(), ",") : std::string();
    if (auto written = write_run_file(options.data_dir / "run.json", url, dns_addresses); !written) {
        return failed(log, "cannot write run.json", written.error());
    }
    fmt::print("ready api={}{}{}{}{} kubeconfig={}\n", url, dns ? " dns=" : "", dns_addresses,
               webhook.address().empty() ? "" : " webhook=", webhook.address(), kubeconfig->string());
    std::fflush(stdout);
    notify_service_manager("READY=1");

    const int received = wait_for_stop(signals, api, dns.get(), audit.get(), tokens.get(), log);
    log.info("stopping", {{"signal", received == SIGTERM ? "SIGTERM" : "SIGINT"}});
    notify_service_manager("STOPPING=1");
    if (balancers) balancers->stop();
    if (router) router->stop();
    api.drain();
    (*server)->shutdown(shutdown_grace);
    if (publishing) publishing->stop();
    if (skydns) skydns->stop();
    if (clouds) clouds->stop();
    if (health) health->stop();
    if (controllers) controllers->thread->stop();
    if (dns) dns->stop();  // last: resolvers hear of nothing
    std::filesystem::remove(options.data_dir / "run.json", error);
    return 0;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
    return fairlead::cli::run(argc, argv, fairlead::serve, fairlead::run_router, fairlead::run_emitter);
}
