#include "router_role.h"

#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "cluster/http_link.h"
#include "json/value.h"
#include "net/handles.h"
#include "net/tcp_client.h"
#include "proxy/joined.h"
#include "resource/describe.h"
#include "route/certificate.h"
#include "router/reporter.h"

namespace fairlead {

namespace {

constexpr std::size_t api_connections = 16;  // five watches, a report, and room
constexpr std::size_t probe_connections = 256;
constexpr std::chrono::seconds ask_within{10}, between_questions{1}, between_starts{5}, leave_within{3};
constexpr std::chrono::milliseconds look_again{200};
// An old worker of nginx passes no answers on any more.
constexpr std::chrono::seconds udp_drain{1};
constexpr const char* memory_file = "router.json";
constexpr const char* http_directory = "nginx-http";

// Members are addresses, never names.
void no_names(const std::string& host, const std::function<void(Result<std::vector<std::string>>)>& found) {
    found(fail(Errc::not_found, host + " is no address"));
}

// The address from which this machine reaches the API: the best guess at how others reach this machine.
std::string own_address(const std::string& server) {
    const auto scheme = server.find("://");
    auto rest = server.substr(scheme == std::string::npos ? 0 : scheme + 3);
    rest = rest.substr(0, rest.find('/'));
    if (rest.rfind(':') == std::string::npos || rest.ends_with(']')) rest += ":443";
    const auto to = net::parse_host_port(rest);
    if (!to) return "127.0.0.1";
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(to->host.c_str(), fmt::format("{}", to->port).c_str(), &hints, &found) != 0) return "127.0.0.1";
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
    for (const auto* each = addresses.get(); each != nullptr; each = each->ai_next) {
        const net::Fd socket(::socket(each->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (socket.get() < 0 || ::connect(socket.get(), each->ai_addr, each->ai_addrlen) != 0) continue;
        sockaddr_storage own{};
        socklen_t size = sizeof(own);
        std::array<char, NI_MAXHOST> text{};
        // Sockets speak sockaddr; the storage is made to be seen as one.
        auto* name = reinterpret_cast<sockaddr*>(&own);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
        if (::getsockname(socket.get(), name, &size) != 0) continue;
        if (::getnameinfo(name, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0) return text.data();
    }
    return "127.0.0.1";
}

std::string with_port(const std::string& address, std::string_view port) {
    if (address.find(':') != std::string::npos) return fmt::format("[{}]:{}", address, port);
    return fmt::format("{}:{}", address, port);
}

bool has_ipv6() { return ::access("/proc/net/if_inet6", R_OK) == 0; }

std::vector<std::string> all_addresses(std::int32_t port) {
    std::vector<std::string> listens = {fmt::format("0.0.0.0:{}", port)};
    if (has_ipv6()) listens.push_back(fmt::format("[::]:{}", port));
    return listens;
}

// Each address of these "ADDRESS:PORT" once.
std::vector<std::string> hosts_of(const std::vector<std::string>& listens) {
    std::vector<std::string> hosts;
    for (const auto& listen : listens) {
        auto host = listen.substr(0, listen.rfind(':'));
        if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(std::move(host));
    }
    return hosts;
}

Result<router::RouterFacts> facts_of(const std::string& router_text, const std::string& secret_text) {
    const auto object = json::parse(router_text);
    if (!object) return fail(Errc::corrupt, object.error().text());
    if (json::string_at(*object, "kind") == "LoadBalancer") {
        const auto balancer = resource::decode<resource::LoadBalancer>(*object);
        if (!balancer) return fail(Errc::corrupt, balancer.error().text());
        if (!balancer->spec.bare_metal_load_balancer) {
            return fail(Errc::invalid, "it is a balancer of a cloud: only a bareMetalLoadBalancer is served here");
        }
        return router::facts_of(balancer->spec);
    }
    auto router = resource::decode<resource::Router>(*object);
    if (!router) return fail(Errc::corrupt, router.error().text());
    router::RouterFacts facts{std::move(router->spec), std::nullopt};
    if (secret_text.empty()) return facts;
    const auto secret = json::parse(secret_text);
    auto read = secret ? resource::decode<resource::Secret>(*secret) : fail(Errc::corrupt, secret.error().text());
    if (!read) return fail(Errc::corrupt, read.error().text());
    resource::Secret kept;  // as the agent keeps it, so that both can be compared
    for (const auto* key : {"tls.crt", "tls.key"}) {
        if (const auto found = read->data.find(key); found != read->data.end()) kept.data.insert(*found);
    }
    facts.default_certificate = std::move(kept);
    return facts;
}

}  // namespace

RouterRole::RouterRole(cli::InstanceOptions options, const cluster::Access& access, const Clock& clock, Random& random,
                       Log& log, Metrics& metrics, Metrics& checks)
    : options_(std::move(options)),
      clock_(clock),
      random_(random),
      log_(log),
      metrics_(metrics),
      api_client_(api_connections),
      probe_client_(probe_connections),
      link_(cluster::make_http_link(api_client_, access)),
      prober_(probe_client_, no_names),
      monitor_(prober_, clock, random, checks, {.max_in_flight = probe_connections, .log = &log}),
      probes_([this] { return monitor_.run(); }, clock) {
    if (options_.address.empty()) options_.address = own_address(access.server);
}

RouterRole::~RouterRole() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = hurry_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    monitor_.on_work({});
    probes_.stop();
}

Result<void> RouterRole::start() {
    // Which proxy a balancer wants is said by the balancer.
    if (options_.load_balancer.empty() && ::access(options_.haproxy.c_str(), X_OK) != 0) {
        return fail(Errc::not_found, "--haproxy",
                    fmt::format("{} cannot be run; install HAProxy 2.6 or later, on Debian: apt-get install haproxy",
                                options_.haproxy.string()));
    }
    std::error_code error;
    std::filesystem::create_directories(options_.state_dir, error);
    if (error)
        return fail(Errc::internal, "--state-dir", fmt::format("{}: {}", options_.state_dir.string(), error.message()));
    monitor_.on_work([this] { probes_.wake(); });
    probes_.start();
    thread_ = std::thread([this] { run(); });
    return {};
}

void RouterRole::stop() {
    {
        const std::lock_guard lock(mutex_);
        hurry_ = stop_;
        stop_ = true;
        changed_.notify_all();
        if (hurry_) return;  // the first call waits
    }
    if (thread_.joinable()) thread_.join();
}

bool RouterRole::ready() const {
    const std::lock_guard lock(mutex_);
    return agent_ != nullptr && agent_->ready();
}

std::string RouterRole::problem() const {
    const std::lock_guard lock(mutex_);
    return agent_ != nullptr ? agent_->problem() : problem_;
}

std::vector<SampleFamily> RouterRole::figures() const {
    const std::lock_guard lock(mutex_);
    return agent_ != nullptr ? agent_->figures() : std::vector<SampleFamily>{};
}

bool RouterRole::stopping() const {
    const std::lock_guard lock(mutex_);
    return stop_;
}

bool RouterRole::pause(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [this] { return stop_; });
    return !stop_;
}

// Told once, not each time that it is tried again.
void RouterRole::set_problem(std::string text) {
    const std::lock_guard lock(mutex_);
    if (text == problem_) return;
    problem_ = std::move(text);
    if (!problem_.empty()) log_.warn("router waits", {{kind(), served()}, {"why", problem_}});
}

void RouterRole::run() {
    recall_ports();
    while (!stopping()) {
        const auto facts = find_router();
        if (facts) serve(*facts);
    }
}

Result<std::string> RouterRole::get(const std::string& path) {
    struct Answer {
        std::mutex mutex;
        std::condition_variable there;
        std::optional<Result<std::string>> body;
    };
    const auto answer = std::make_shared<Answer>();
    const auto call = link_->list(path, [answer](Result<std::string> body) {
        {
            const std::lock_guard lock(answer->mutex);
            answer->body = std::move(body);
        }
        answer->there.notify_all();
    });
    std::unique_lock lock(answer->mutex);
    if (!answer->there.wait_for(lock, ask_within, [&] { return answer->body.has_value(); })) {
        return fail(Errc::timeout, "the API does not answer");
    }
    return std::move(*answer->body);
}

// The Router, remembered for a start while the API is away.
Result<router::RouterFacts> RouterRole::ask_router() {
    const auto* path = options_.load_balancer.empty() ? "routers" : "loadbalancers";
    const auto text = get(fmt::format("/apis/fairlead.dev/v1/{}/{}", path, served()));
    if (!text) return fail(text.error());
    std::string secret;
    const auto parsed = json::parse(*text);
    const std::string name(parsed ? json::string_at(*parsed, "spec.defaultCertificate") : std::string_view());
    if (const auto slash = name.find('/'); slash != std::string::npos) {
        auto body = get(fmt::format("/api/v1/namespaces/{}/secrets/{}", name.substr(0, slash), name.substr(slash + 1)));
        if (body) secret = std::move(*body);
    }
    auto facts = facts_of(*text, secret);
    if (!facts) return facts;
    remembered_ = json::Object{{"router", *parsed}};
    if (const auto value = json::parse(secret); !secret.empty() && value) json::set_at(remembered_, "secret", *value);
    remember();
    return facts;
}

void RouterRole::remember() {
    json::Object ports;
    for (const auto& [transport, leased] : leased_) ports[std::string(traffic::name_of(transport))] = leased.text();
    json::set_at(remembered_, "ports", json::Value(std::move(ports)));
    if (auto written = write_file(options_.state_dir / memory_file, json::serialize(remembered_), 0600); !written) {
        log_.warn("cannot remember the router", {{"why", written.error().text()}});
    }
}

void RouterRole::recall_ports() {
    const auto text = read_file(options_.state_dir / memory_file);
    const auto kept = text ? json::parse(*text) : fail(text.error());
    if (!kept) return;
    for (const auto transport : {traffic::Transport::tcp, traffic::Transport::udp}) {
        const auto ports =
            PortRanges::parse(json::string_at(*kept, fmt::format("ports.{}", traffic::name_of(transport))));
        if (ports && !ports->empty()) leased_[transport] = *ports;
    }
}

std::optional<router::RouterFacts> RouterRole::find_router() {
    do {
        auto facts = ask_router();
        if (facts) return std::move(*facts);
        if (facts.error().code == Errc::not_found) {
            const auto* what = options_.load_balancer.empty() ? "Router" : "LoadBalancer";
            set_problem(fmt::format("there is no {} \"{}\": create it", what, served()));
            continue;
        }
        const auto text = read_file(options_.state_dir / memory_file);
        const auto kept = text ? json::parse(*text) : fail(text.error());
        const auto* router = kept ? json::find(*kept, "router") : nullptr;
        if (router != nullptr) {
            const auto* secret = json::find(*kept, "secret");
            auto known = facts_of(json::serialize(*router), secret != nullptr ? json::serialize(*secret) : "");
            if (known) {
                log_.warn("router starts with what it remembers: the API is away",
                          {{kind(), served()}, {"why", facts.error().text()}});
                return std::move(*known);
            }
        }
        set_problem(facts.error().text());
    } while (pause(between_questions));
    return std::nullopt;
}

bool RouterRole::DriverOptions::same(const DriverOptions& other) const {
    const auto udp = [](const DriverOptions& one) {
        return one.nginx ? one.nginx->settings : proxy::nginx::UdpSettings{};
    };
    // What nginx is told for HTTP is made from what HAProxy would be told.
    return haproxy.settings == other.haproxy.settings && nginx.has_value() == other.nginx.has_value() &&
           udp(*this) == udp(other) && http.has_value() == other.http.has_value();
}

RouterRole::DriverOptions RouterRole::driver_options(const router::RouterFacts& facts) {
    DriverOptions out{.haproxy = haproxy_options(facts)};
    ports_problem_.clear();
    if (facts.nginx) out.http = nginx_options(out.haproxy.settings);
    if (facts.leased != nullptr && *facts.leased != leased_) {
        leased_ = *facts.leased;
        remember();
    }
    const auto hosts = hosts_of(out.haproxy.settings.http_listen);
    if (auto tcp = open_ports(facts, traffic::Transport::tcp); !tcp.empty()) {
        out.haproxy.settings.tcp_ports = std::move(tcp);
        out.haproxy.settings.port_hosts = hosts;
    }
    if (auto udp = open_ports(facts, traffic::Transport::udp); !udp.empty()) {
        out.nginx = proxy::nginx::Options{
            .server = {.binary = options_.nginx, .directory = options_.state_dir / "nginx", .drain = udp_drain},
            .settings = {.ports = std::move(udp), .hosts = hosts}};
    }
    return out;
}

PortRanges RouterRole::open_ports(const router::RouterFacts& facts, traffic::Transport transport) {
    const auto reservable = facts.spec.reservable_ports.value_or(resource::RouterReservablePorts{});
    // The API checks them: what cannot be read was written by a newer one.
    auto ports = PortRanges::parse(transport == traffic::Transport::tcp ? reservable.tcp : reservable.udp);
    if (!ports) {
        ports_problem_ = fmt::format("spec.reservablePorts.{}: {}", traffic::name_of(transport), ports.error().text());
        ports = PortRanges{};
    }
    const auto leased = leased_.find(transport);
    return leased != leased_.end() ? ports->with(leased->second) : *ports;
}

proxy::nginx::HttpOptions RouterRole::nginx_options(const proxy::haproxy::Settings& like) const {
    proxy::nginx::HttpOptions out;
    out.server = {.binary = options_.nginx, .directory = options_.state_dir / http_directory, .drain = like.drain};
    auto& settings = out.settings;
    settings.http_listen = like.http_listen;
    settings.https_listen = like.https_listen;
    settings.status_listen = like.status_listen;
    settings.proxy_protocol = like.proxy_protocol;
    settings.default_certificate_pem = like.default_certificate_pem;
    // nginx writes it by itself, and has no standard output of ours.
    settings.access_log = like.access_log == "-" ? options_.state_dir / http_directory / "access.log" : like.access_log;
    return out;
}

Result<std::unique_ptr<proxy::Driver>> RouterRole::start_proxies(const DriverOptions& with) {
    if (with.http) {
        // Of a balancer that was served by HAProxy until now.
        proxy::haproxy::end_left_behind(with.haproxy.directory, clock_);
        auto nginx = proxy::nginx::start(*with.http, clock_, log_, metrics_);
        if (!nginx) return fail(nginx.error().code, "cannot run nginx: " + nginx.error().text());
        return nginx;
    }
    proxy::nginx::end_left_behind(options_.state_dir / http_directory, clock_);
    auto haproxy = proxy::haproxy::start(with.haproxy, clock_, log_, metrics_);
    if (!haproxy) return fail(haproxy.error().code, "cannot run HAProxy: " + haproxy.error().text());
    if (!with.nginx) {
        // Of a Router that had UDP ports until now.
        proxy::nginx::end_left_behind(options_.state_dir / "nginx", clock_);
        return proxy::join(std::move(*haproxy), nullptr);
    }
    auto nginx = proxy::nginx::start(*with.nginx, clock_, log_, metrics_);
    if (!nginx) return fail(nginx.error().code, "cannot run nginx: " + nginx.error().text());
    return proxy::join(std::move(*haproxy), std::move(*nginx));
}

bool RouterRole::other_proxies(const router::RouterFacts& facts, const DriverOptions& now, router::Agent& agent) {
    const auto wanted = driver_options(facts);
    auto fine = wanted.http ? Result<void>() : proxy::haproxy::check(wanted.haproxy.settings);
    auto notice = certificate_problem_;
    if (!fine) notice += (notice.empty() ? "" : "; ") + fmt::format("goes on as before: {}", fine.error().text());
    if (!ports_problem_.empty()) notice += (notice.empty() ? "" : "; ") + ports_problem_;
    agent.set_notice(std::move(notice));
    return fine && !wanted.same(now);
}

proxy::haproxy::Options RouterRole::haproxy_options(const router::RouterFacts& facts) {
    proxy::haproxy::Options out;
    out.binary = options_.haproxy;
    out.directory = options_.state_dir / "haproxy";
    auto& settings = out.settings;
    settings.http_listen = listens(options_.http_listen, facts.spec.ports.http, facts);
    settings.https_listen = listens(options_.https_listen, facts.spec.ports.https, facts);
    settings.status_listen = options_.status_listen;
    settings.proxy_protocol = facts.spec.proxy_protocol;
    settings.access_log = options_.access_log;
    if (!options_.load_balancer.empty()) {
        // Ingresses ask for it, and one that leads elsewhere takes another backend while the former one drains.
        settings.usual = traffic::Balance::round_robin;
        settings.first_pools = 512;
    }
    settings.drain =
        std::max(std::chrono::seconds(1), std::chrono::duration_cast<std::chrono::seconds>(options_.drain));
    for (const auto& [code, html] : facts.spec.error_pages) {
        if (const auto number = parse_int(code)) settings.error_pages[static_cast<int>(*number)] = html;
    }
    if (facts.spec.default_certificate.empty()) {
        certificate_problem_.clear();
        return out;
    }
    const auto at = [&](const char* key) -> std::string {
        if (!facts.default_certificate) return {};
        const auto found = facts.default_certificate->data.find(key);
        return found != facts.default_certificate->data.end() ? from_base64(found->second).value_or("") : std::string();
    };
    const auto parsed = route::parse_certificate(at("tls.crt"), at("tls.key"), {});
    if (parsed) {
        settings.default_certificate_pem = parsed->pem;
        certificate_problem_.clear();
        return out;
    }
    const auto why = facts.default_certificate ? parsed.error().text() : "it does not exist or may not be read";
    auto problem =
        fmt::format("default certificate {} cannot be used, one is made up: {}", facts.spec.default_certificate, why);
    if (problem != certificate_problem_) {
        log_.warn("default certificate of the router cannot be used, one is made up",
                  {{"router", options_.router}, {"secret", facts.spec.default_certificate}, {"why", why}});
    }
    certificate_problem_ = std::move(problem);
    return out;
}

std::vector<std::string> RouterRole::listens(const std::vector<std::string>& given, std::int32_t port,
                                             const router::RouterFacts& facts) const {
    if (!given.empty()) return given;
    if (options_.at_listen_address && !facts.listen_address.empty()) {
        return {with_port(facts.listen_address, fmt::format("{}", port))};
    }
    return all_addresses(port);
}

router::AgentOptions RouterRole::agent_options(const DriverOptions& with) const {
    const auto colon = options_.status_listen.rfind(':');
    const auto host = options_.status_listen.substr(0, colon);
    const auto port = std::string_view(options_.status_listen).substr(colon + 1);
    const bool anywhere = host == "0.0.0.0" || host == "[::]" || host == "*";
    return {.router = options_.router,
            .load_balancer = options_.load_balancer,
            .instance = options_.name,
            .address = options_.address,
            .probe = anywhere ? with_port(options_.address, port) : options_.status_listen,
            .proxy = with.http    ? "nginx"
                     : with.nginx ? "HAProxy, nginx"
                                  : "HAProxy"};
}

// An instance that cannot start its proxy says so in its RouterInstance, where people look, and not in its log alone.
void RouterRole::tell_trouble(const DriverOptions& with, const std::string& why) {
    set_problem(why);
    const auto who = agent_options(with);
    router::Reporter reporter(
        {.instance = who.instance,
         .spec = {.router = who.router, .load_balancer = who.load_balancer, .address = who.address, .probe = who.probe},
         .lease = who.lease},
        *link_, clock_, random_, log_, [waker = waker_] { waker->wake(); });
    router::Report report;
    report.message = why;  // and no proxy: what runs none does not hold its name
    StepThread steps([&] { return reporter.step(report); }, clock_);
    follow(&steps);
    steps.start();
    (void)pause(between_starts);
    follow(nullptr);
    steps.stop();
}

// Until it is time to stop, the Router says something else about the proxy itself, or its balancer is no more.
void RouterRole::serve(const router::RouterFacts& facts) {
    const auto driver_with = driver_options(facts);
    auto driver = start_proxies(driver_with);
    if (!driver) return tell_trouble(driver_with, driver.error().text());
    set_problem({});
    auto agent = std::make_unique<router::Agent>(agent_options(driver_with),
                                                 router::AgentParts{.link = *link_,
                                                                    .driver = **driver,
                                                                    .monitor = monitor_,
                                                                    .clock = clock_,
                                                                    .random = random_,
                                                                    .log = log_,
                                                                    .metrics = metrics_,
                                                                    .wake = [waker = waker_] { waker->wake(); }});
    StepThread steps([&agent] { return agent->step(); }, clock_);
    follow(&steps);
    {
        const std::lock_guard lock(mutex_);
        agent_ = agent.get();
    }
    (void)other_proxies(facts, driver_with, *agent);
    steps.start();
    auto seen = facts;
    bool orphaned = false;
    while (pause(look_again)) {
        // Routes of a Router that was deleted are served until another one has them.
        orphaned = agent->orphaned() && !options_.load_balancer.empty();
        if (orphaned) {
            log_.warn("load balancer was deleted, its proxy is stopped",
                      {{"balancer", options_.load_balancer}, {"instance", options_.name}});
            break;
        }
        const auto now = agent->router();
        if (!now || *now == seen) continue;
        seen = *now;
        if (other_proxies(seen, driver_with, *agent)) {
            log_.info("router changed, its proxies are set up anew", {{kind(), served()}});
            break;
        }
    }
    const bool end = stopping() || orphaned;
    // Nobody is led to a balancer that was deleted.
    if (end) take_leave(*agent, orphaned ? std::chrono::milliseconds(0) : options_.drain);
    {
        const std::lock_guard lock(mutex_);
        agent_ = nullptr;
    }
    follow(nullptr);
    steps.stop();
    agent.reset();
    if (end) (*driver)->stop_proxy_at_end();
}

void RouterRole::follow(StepThread* thread) {
    const std::lock_guard lock(waker_->mutex);
    waker_->thread = thread;
}

void RouterRole::take_leave(router::Agent& agent, std::chrono::milliseconds drain) {
    std::unique_lock lock(mutex_);
    for (auto waited = std::chrono::milliseconds(0); waited < leave_within && !hurry_; waited += look_again) {
        lock.unlock();
        const bool told = agent.leave();
        lock.lock();
        if (told) break;
        changed_.wait_for(lock, look_again, [this] { return hurry_; });
    }
    // Those who looked us up a moment ago still come.
    changed_.wait_for(lock, drain, [this] { return hurry_; });
}

}  // namespace fairlead
