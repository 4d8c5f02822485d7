#include "balancer_role.h"

#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>

#include <utility>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/router_options.h"
#include "cluster/http_link.h"
#include "net/handles.h"
#include "proxy/haproxy/driver.h"
#include "proxy/nginx/driver.h"
#include "resource/describe.h"
#include "router/route_figures.h"

namespace fairlead {

namespace {

constexpr std::size_t api_connections = 4;
constexpr std::size_t max_balancers = 10'000;  // that are followed; a machine serves a few of them
constexpr std::chrono::milliseconds while_leaving{200};
constexpr std::chrono::seconds addresses_again{5};  // keepalived moves them
constexpr std::uint16_t first_status_port = 1936, last_status_port = 2035;
constexpr std::size_t max_folder_path = 69;  // a proxy's own folder has at most 80 bytes, and "/nginx-http" is of it

// Claims come and go, and are nothing to us.
Result<resource::LoadBalancer> read_balancer(const json::Value& object) {
    auto read = resource::decode<resource::LoadBalancer>(object);
    if (!read) return read;
    resource::LoadBalancer balancer;
    balancer.spec.bare_metal_load_balancer = std::move(read->spec.bare_metal_load_balancer);
    balancer.spec.listen = std::move(read->spec.listen);
    return balancer;
}

cluster::FollowerOptions follower_options() {
    cluster::FollowerOptions options;
    options.max_objects = max_balancers;
    options.backoff = {.base = std::chrono::milliseconds(100), .cap = std::chrono::seconds(2)};
    return options;
}

// Whether a socket of this machine can have the address, and with it the port; 0: any.
bool can_have(const std::string& address, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(address.c_str(), fmt::format("{}", port).c_str(), &hints, &found) != 0) return false;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
    const net::Fd socket(::socket(owned->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return socket.get() >= 0 && ::bind(socket.get(), owned->ai_addr, owned->ai_addrlen) == 0;
}

std::string with_port(const std::string& address, std::uint16_t port) {
    const bool ipv6 = address.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", address, ipv6 ? "]" : "", port);
}

}  // namespace

BalancerRole::BalancerRole(BalancerRoleOptions options, cluster::Access access, const Clock& clock, Random& random,
                           Log& log, Metrics& metrics)
    : options_(std::move(options)),
      access_(std::move(access)),
      clock_(clock),
      random_(random),
      log_(log),
      running_(metrics.gauge("fairlead_balancers_running", "LoadBalancers whose proxies this server runs.")),
      client_(api_connections),
      link_(cluster::make_http_link(client_, access_)),
      shelf_(
          balancers_, read_balancer, [](const std::string&, const auto*, const auto*) {}, log, "our own",
          max_balancers),
      collecting_(metrics.collect_with([this] { return figures(); })),
      thread_([this] { return step(); }, clock) {
    const cluster::ListWatchParts parts{*link_, clock_, random_, shelf_, [this] { thread_.wake(); }};
    topic_.emplace(cluster::topic_of(resource::load_balancer_kind()), parts, follower_options());
}

BalancerRole::~BalancerRole() {
    thread_.stop();
    topic_.reset();
    leaving_.clear();  // they wake the thread when they are done
}

BalancerRoleOptions BalancerRole::options_of(const cli::ServeOptions& options) {
    return {.directory = options.data_dir / "balancers", .haproxy = options.haproxy, .nginx = options.nginx};
}

void BalancerRole::start() { thread_.start(); }

void BalancerRole::stop() {
    thread_.stop();
    for (auto& [name, instance] : std::exchange(instances_, {})) leave(name, std::move(instance));
    leaving_.clear();  // waits for them
    running_.set(0);
}

std::map<std::string, std::string> BalancerRole::wanted() {
    std::map<std::string, std::string> found;
    std::set<std::string> elsewhere;
    for (const auto& [name, balancer] : balancers_) {
        const auto& spec = balancer.spec;
        if (!spec.bare_metal_load_balancer || !spec.listen || spec.listen->address.empty()) continue;
        if (can_have(spec.listen->address, 0)) {
            found.emplace(name, spec.listen->address);
            continue;
        }
        elsewhere.insert(name);
        if (!elsewhere_.contains(name)) {
            log_.info("load balancer is not served here: this machine does not have its address",
                      {{"balancer", name}, {"address", spec.listen->address}});
        }
    }
    elsewhere_ = std::move(elsewhere);
    return found;
}

Step BalancerRole::step() {
    auto next = topic_->step();
    forget_ended();
    if (!topic_->listed()) return next;
    const auto want = wanted();
    if (!std::exchange(looked_behind_, true)) end_left_behind(want);
    std::vector<std::string> gone;
    for (const auto& [name, instance] : instances_) {
        const auto still = want.find(name);
        if (still == want.end() || still->second != instance.address) gone.push_back(name);
    }
    for (const auto& name : gone) {
        auto node = instances_.extract(name);
        leave(name, std::move(node.mapped()));
    }
    for (const auto& [name, address] : want) {
        if (!instances_.contains(name) && !leaving_.contains(name)) begin(name, address);
    }
    running_.set(static_cast<double>(instances_.size()));
    const auto again = [&](std::chrono::milliseconds time) {
        const auto due = clock_.monotonic() + time;
        if (!next.due || due < *next.due) next.due = due;
    };
    if (!leaving_.empty()) again(while_leaving);
    if (!elsewhere_.empty() || !instances_.empty()) again(addresses_again);
    return next;
}

std::filesystem::path BalancerRole::directory_of(const std::string& name) const {
    auto whole = options_.directory / name;
    if (whole.native().size() <= max_folder_path) return whole;
    return options_.directory / fmt::format("{}-{}", name.substr(0, 7), sha256_hex(name).substr(0, 12));
}

// The one that it had before, which its proxy may still have; else one that nobody has.
std::uint16_t BalancerRole::status_port(const std::filesystem::path& directory, const std::string& address) const {
    const auto file = directory / "status-port";
    const auto known = parse_int(trim(read_file(file).value_or(""))).value_or(0);
    if (known >= first_status_port && known <= last_status_port) return static_cast<std::uint16_t>(known);
    for (auto port = first_status_port; port <= last_status_port; ++port) {
        if (!can_have(address, port)) continue;
        if (const auto written = write_file(file, fmt::format("{}\n", port), 0600); !written) {
            log_.warn("cannot remember a balancer's port", {{"why", written.error().text()}});
        }
        return port;
    }
    return first_status_port;
}

void BalancerRole::begin(const std::string& name, const std::string& address) {
    cli::InstanceOptions with;
    with.load_balancer = name;
    with.name = cli::instance_name(name);
    with.address = address;
    with.at_listen_address = true;
    with.state_dir = directory_of(name);
    with.haproxy = options_.haproxy;
    with.nginx = options_.nginx;
    with.drain = options_.drain;
    std::error_code ignored;  // the instance says so, too
    std::filesystem::create_directories(with.state_dir, ignored);
    with.status_listen = with_port(address, status_port(with.state_dir, address));
    Instance instance{.address = address, .metrics = std::make_unique<Metrics>(), .role = nullptr};
    instance.role =
        std::make_unique<RouterRole>(with, access_, clock_, random_, log_, *instance.metrics, *instance.metrics);
    if (const auto started = instance.role->start(); !started) {
        log_.warn("load balancer cannot be served", {{"balancer", name}, {"why", started.error().text()}});
        return;
    }
    log_.info("load balancer is served here", {{"balancer", name}, {"address", address}});
    {
        const std::lock_guard lock(shown_mutex_);
        shown_[name] = instance.role.get();
    }
    instances_.emplace(name, std::move(instance));
}

void BalancerRole::leave(const std::string& name, Instance instance) {
    log_.info("load balancer is no longer served here", {{"balancer", name}});
    {
        const std::lock_guard lock(shown_mutex_);
        shown_.erase(name);
    }
    auto shared = std::make_shared<Instance>(std::move(instance));
    leaving_[name] = std::async(std::launch::async, [shared, wake = [this] { thread_.wake(); }] {
        shared->role->stop();
        shared->role.reset();
        wake();
    });
}

// Folders of balancers that are gone go, too; those of balancers that are elsewhere now may be needed again.
void BalancerRole::forget_ended() {
    std::erase_if(leaving_, [this](const auto& one) {
        if (one.second.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
        std::error_code ignored;  // the next start looks again
        if (topic_->listed() && !balancers_.contains(one.first)) {
            std::filesystem::remove_all(directory_of(one.first), ignored);
        }
        return true;
    });
}

std::vector<SampleFamily> BalancerRole::figures() const {
    std::vector<SampleFamily> all;
    const std::lock_guard lock(shown_mutex_);
    for (const auto& [name, role] : shown_) router::merge(all, role->figures());
    return all;
}

void BalancerRole::end_left_behind(const std::map<std::string, std::string>& wanted) {
    std::set<std::filesystem::path> ours, known;
    for (const auto& [name, address] : wanted) ours.insert(directory_of(name));
    for (const auto& [name, balancer] : balancers_) known.insert(directory_of(name));
    std::error_code error;
    for (std::filesystem::directory_iterator entry(options_.directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (ours.contains(entry->path())) continue;
        proxy::haproxy::end_left_behind(entry->path() / "haproxy", clock_);
        proxy::nginx::end_left_behind(entry->path() / "nginx-http", clock_);
        std::error_code ignored;
        if (!known.contains(entry->path())) std::filesystem::remove_all(entry->path(), ignored);
    }
}

}  // namespace fairlead
