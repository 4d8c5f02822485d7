// What a Gateway over many clusters costs: the record trees of all Gateways from scratch, and how long a change of one
// cluster's status takes until the compiled zone answers with it. No sockets: store, API, controllers and the feed run
// in this process, each on the thread that it has in the server. Prints one line of JSON. No peer can be run here.
//
//   tree_bench build [GATEWAYS]
//   tree_bench path memory|disk [GATEWAYS] [CHANGES]
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include "apiserver/local_client.h"
#include "apiserver/object_bytes.h"
#include "apiserver/rest.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "control/control_thread.h"
#include "controller/dns_status.h"
#include "controller/gateway_dns.h"
#include "dns/bytes.h"
#include "dnsfeed/feed.h"
#include "dnsfeed/feed_thread.h"
#include "dnsserver/answer.h"
#include "dnsserver/tally.h"
#include "dnsserver/zone_set.h"
#include "gateway/tree.h"
#include "store/embedded.h"
#include "store/memory.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::size_t listeners = 10, clusters = 20;
constexpr std::array<const char*, 5> geos{"IE", "US", "AU", "BR", "IN"};
constexpr const char* apex = "bench.example.com";
constexpr std::size_t commit_objects = 100;  // per commit while the world is made
constexpr std::size_t writes_at_once = 16;   // as in the server
constexpr auto patience = 60s;               // for one change; much more than any should take

[[noreturn]] void die(std::string_view what, const Error& error) {
    fmt::print(stderr, "{}: {}\n", what, error.text());
    std::_Exit(1);
}
template <class T>
T need(Result<T> result, std::string_view what) {
    if (!result) die(what, result.error());
    return std::move(*result);
}

void need(const Result<void>& result, std::string_view what) {
    if (!result) die(what, result.error());
}

struct Size {
    std::size_t listeners = fairlead::listeners, clusters = fairlead::clusters;
};

std::string gateway_name(std::size_t gateway) { return fmt::format("gw-{:04}", gateway); }
std::string cluster_name(std::size_t cluster) { return fmt::format("cluster-{:02}", cluster); }
std::string address_of(std::size_t gateway, std::size_t cluster) {
    return fmt::format("10.{}.{}.{}", gateway / 250, gateway % 250, cluster + 1);
}

resource::Gateway make_gateway(std::size_t number, Size size = {}) {
    resource::Gateway gateway;
    gateway.metadata.name = gateway_name(number);
    gateway.metadata.namespace_ = "default";
    gateway.spec.gateway_class_name = "multi-cluster";
    for (std::size_t i = 0; i < size.listeners; ++i) {
        resource::Listener listener;
        listener.name = fmt::format("l{}", i);
        listener.hostname = fmt::format("h{}.{}.{}", i, gateway.metadata.name, apex);
        listener.port = 443;
        listener.protocol = "HTTPS";
        gateway.spec.listeners.push_back(std::move(listener));
    }
    for (std::size_t c = 0; c < size.clusters; ++c) {
        gateway.status.addresses.push_back(
            {std::string(gateway::multi_cluster_ip), fmt::format("{}/{}", cluster_name(c), address_of(number, c))});
        for (const auto& listener : gateway.spec.listeners) {
            resource::ListenerStatus status;
            status.name = fmt::format("{}.{}", cluster_name(c), listener.name);
            status.attached_routes = 1;
            gateway.status.listeners.push_back(std::move(status));
        }
    }
    return gateway;
}

resource::DnsPolicy make_policy(std::size_t number) {
    resource::DnsPolicy policy;
    policy.metadata.name = gateway_name(number);
    policy.metadata.namespace_ = "default";
    policy.spec.target_ref = {"gateway.networking.k8s.io", "Gateway", policy.metadata.name, {}, {}};
    policy.spec.routing_strategy = "loadbalanced";
    policy.spec.load_balancing =
        resource::DnsLoadBalancing{resource::WeightedBalancing{100, {}}, resource::GeoBalancing{geos.front()}};
    return policy;
}

resource::Cluster make_cluster(std::size_t number) {
    resource::Cluster cluster;
    cluster.metadata.name = cluster_name(number);
    cluster.metadata.labels.emplace(resource::geo_code_label, geos.at(number % geos.size()));
    return cluster;
}

gateway::Tree tree_of(const resource::Gateway& gateway, const resource::DnsPolicy& policy, std::size_t cluster_count) {
    gateway::TreeInput input{gateway, policy.spec, {}, {}, {{"bench", *dns::Name::parse(apex)}}, {}};
    for (const auto& listener : gateway.spec.listeners) input.listeners.push_back(listener.name);
    for (std::size_t c = 0; c < cluster_count; ++c) {
        const auto made = make_cluster(c);
        input.clusters.push_back({made.metadata.name, {}, made.metadata.labels, false});
    }
    return gateway::build_tree(input);
}

// --- trees alone ---

// Milliseconds of this process, so that neighbours on the machine count as little as they can.
double spent() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Built {
    double milliseconds = 0;
    std::size_t endpoints = 0;
};

Built build(std::size_t gateways, Size size) {
    std::vector<resource::Gateway> all;
    all.reserve(gateways);
    for (std::size_t i = 0; i < gateways; ++i) all.push_back(make_gateway(i, size));
    const auto policy = make_policy(0);
    std::vector<double> took;
    Built built;
    for (int turn = 0; turn < 3; ++turn) {
        built.endpoints = 0;
        const auto from = spent();
        for (const auto& gateway : all) {
            const auto tree = tree_of(gateway, policy, size.clusters);
            if (tree.hosts.size() != size.listeners || !tree.problems.empty())
                die("build_tree", {Errc::internal, {}, "not the tree that was asked for"});
            for (const auto& host : tree.hosts) built.endpoints += host.endpoints.size();
        }
        took.push_back(spent() - from);
    }
    std::sort(took.begin(), took.end());
    built.milliseconds = took[1];
    return built;
}

int run_build(std::size_t gateways) {
    json::Object out;
    out["gateways"] = gateways;
    const auto add = [&](const char* name, std::size_t count, Size size) {
        const auto built = build(count, size);
        const std::string prefix(name);
        out[prefix + "_ms"] = built.milliseconds;
        out[prefix + "_gateway_ms"] = built.milliseconds / static_cast<double>(count);
        out[prefix + "_endpoints"] = built.endpoints;
    };
    add("all", gateways, {});
    add("tenth", std::max<std::size_t>(1, gateways / 10), {});
    add("half_clusters", std::max<std::size_t>(1, gateways / 10), {listeners, clusters / 2});
    add("double_clusters", std::max<std::size_t>(1, gateways / 10), {listeners, clusters * 2});
    add("double_listeners", std::max<std::size_t>(1, gateways / 10), {listeners * 2, clusters});
    fmt::print("{}\n", json::serialize(json::Value(out)));
    return 0;
}

// --- the whole way ---

class NoProber final : public health::Prober {
    void probe(const health::Probe& /*probe*/, std::function<void(health::Answer)> done) override { done({}); }
};
class NoResolver final : public lookup::Resolver {
    Result<lookup::Addresses> resolve(const std::string& host) override { return fail(Errc::not_found, host); }
};

// Everything that is between a Gateway and an answer in the server.
class Server {
public:
    explicit Server(std::unique_ptr<store::Store> store)
        : store_(std::move(store)),
          fenced_(*store_, fence_, clock_),
          client_(kinds, fenced_, clock_, random_, writes_at_once),
          leases_(kinds, *store_, clock_, random_),
          manager_({kinds, *store_, client_, leases_, fence_, clock_, random_, log_, metrics_}, options()),
          feed_({*store_, zones, &board_, clock_, log_, metrics_}, {}) {
        apiserver::Rest rest(kinds, *store_, clock_, random_);
        need(rest.prepare(), "prepare");
    }
    // After the world was written.
    void start() {
        manager_.add("gateway-dns", [this](auto& context) {
            return std::make_unique<controller::GatewayDns>(context, monitor_, lookups_);
        });
        manager_.add("dns-status", [this](auto& context) {
            return std::make_unique<controller::DnsStatus>(context, board_, controller::DnsStatusOptions{});
        });
        feed_.step();
        feeding_.emplace(feed_, clock_);
        controlling_.emplace(manager_, clock_);
    }
    // Until nobody has written anything for a while.
    void rest() const {
        for (auto last = store_->revision(), now = last;; last = now) {
            std::this_thread::sleep_for(150ms);
            now = store_->revision();
            if (now == last) return;
        }
    }
    void write(std::vector<store::Op>& ops) {
        if (!ops.empty()) need(store_->commit_and_wait(std::move(ops)), "commit");
        ops.clear();
    }
    [[nodiscard]] control::ObjectId gateway(std::size_t number) const {
        return {kinds.find("gateway.networking.k8s.io", "v1", "gateways"), "default", gateway_name(number)};
    }
    control::Client client() { return {leases_, "bench", nullptr, clock_}; }

    resource::Kinds kinds = resource::make_kinds();
    dnsserver::ZoneSet zones{1};

private:
    static control::ManagerOptions options() {
        control::ManagerOptions options;
        options.election = control::ElectionOptions{};
        options.election->identity = "bench";
        return options;
    }
    SystemClock clock_;
    SystemRandom random_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    std::unique_ptr<store::Store> store_;
    control::Fence fence_;
    control::FencedStore fenced_;
    apiserver::LocalClient client_, leases_;
    NoProber prober_;
    NoResolver resolver_;
    health::Monitor monitor_{prober_, clock_, random_, metrics_};
    lookup::Lookups lookups_{resolver_, clock_, metrics_};
    dns::VerdictBoard board_;
    control::Manager manager_;
    dnsfeed::Feed feed_;
    std::optional<dnsfeed::FeedThread> feeding_;
    std::optional<control::ControlThread> controlling_;
};

template <class T>
store::Op written(const resource::Kind& kind, T object, std::size_t number) {
    object.metadata.uid = fmt::format("00000000-0000-4000-8000-{:012}", number);
    object.metadata.generation = 1;
    object.metadata.creation_timestamp = "2026-01-01T00:00:00Z";
    const auto name = object.metadata.namespace_.empty()
                          ? object.metadata.name
                          : fmt::format("{}/{}", object.metadata.namespace_, object.metadata.name);
    return store::put({kind.table(), name}, store::Expect::anything(),
                      apiserver::stored_form(control::new_object(kind, object)));
}

void make_world(Server& server, std::size_t gateways) {
    std::vector<store::Op> ops;
    std::size_t number = 0;
    resource::ManagedZone zone;
    zone.metadata.name = "bench";
    zone.metadata.namespace_ = "default";
    zone.spec.domain_name = apex;
    ops.push_back(written(resource::managed_zone_kind(), zone, ++number));
    for (std::size_t i = 0; i < clusters; ++i)
        ops.push_back(written(resource::cluster_kind(), make_cluster(i), ++number));
    for (std::size_t i = 0; i < gateways; ++i) {
        ops.push_back(written(resource::gateway_kind(), make_gateway(i), ++number));
        ops.push_back(written(resource::dns_policy_kind(), make_policy(i), ++number));
        if (ops.size() >= commit_objects) server.write(ops);
    }
    server.write(ops);
}

// Asks the compiled zones as a client would.
class Asker {
public:
    explicit Asker(dnsserver::ZoneSet& zones) : reader_(zones.published()) {}
    // Whether the answer for an address ends with this one.
    bool has(const dns::Name& name, const std::string& address) {
        std::string query;
        dns::put32(query, 0x12340000);
        dns::put16(query, 1);
        dns::put32(query, 0);
        dns::put16(query, 0);
        query += name.wire();
        dns::put16(query, 1);
        dns::put16(query, 1);
        const auto reply = answerer_.answer(reader_.pin(), nullptr, query, {}, out_);
        reader_.unpin();
        return reply.kind == dnsserver::Reply::Kind::message &&
               std::string_view(out_.data(), reply.size).find(address) != std::string_view::npos;
    }
    // How many of the variants of a name lead to this one.
    std::size_t count(const dns::Name& name, const dns::Name& target) {
        const auto sets = reader_.pin().sets(*dns::Name::parse(apex), name);
        reader_.unpin();
        std::size_t found = 0;
        if (!sets) return found;
        for (const auto& [type, variants] : *sets) {
            for (const auto& variant : variants)
                found += static_cast<std::size_t>(std::count(variant.data.begin(), variant.data.end(), target.wire()));
        }
        return found;
    }

private:
    dnsserver::ZoneSet::Reader reader_;
    dnsserver::AnswerSettings settings_;
    dnsserver::Tally tally_;
    dnsserver::Answerer answerer_{settings_, dnsserver::FastRandom(1), tally_};
    std::vector<char> out_ = std::vector<char>(dnsserver::max_message_bytes);
};

// The names of a cluster in the tree of each host: its own, and the place that leads to it.
struct Leaf {
    dns::Name name, place;
};
std::vector<Leaf> leaves_of(std::size_t gateway, std::size_t cluster) {
    std::vector<Leaf> leaves;
    const auto address = address_of(gateway, cluster);
    for (const auto& host : tree_of(make_gateway(gateway), make_policy(gateway), clusters).hosts) {
        Leaf leaf;
        for (const auto& endpoint : host.endpoints) {
            if (endpoint.targets == std::vector<std::string>{address}) leaf.name = *dns::Name::parse(endpoint.dns_name);
        }
        for (const auto& endpoint : host.endpoints) {
            if (endpoint.targets.size() == 1 && endpoint.record_type == "CNAME" &&
                dns::Name::parse(endpoint.targets.front()) == leaf.name)
                leaf.place = *dns::Name::parse(endpoint.dns_name);
        }
        leaves.push_back(std::move(leaf));
    }
    return leaves;
}

struct Took {
    std::vector<double> written, first, all;  // the status itself, one host, all hosts
};

json::Object quantiles(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        return values[std::min(values.size() - 1,
                               static_cast<std::size_t>(share * static_cast<double>(values.size())))];
    };
    return {{"p50_ms", at(0.5)}, {"p99_ms", at(0.99)}, {"max_ms", values.back()}};
}

// Waits until the change can be seen at one host, and at all.
void wait_for(std::vector<std::function<bool()>> seen, std::chrono::steady_clock::time_point from, Took& took) {
    const auto passed = [&] { return std::chrono::steady_clock::now() - from; };
    const auto hosts = seen.size();
    while (!seen.empty()) {
        std::erase_if(seen, [](const auto& each) { return each(); });
        if (seen.size() < hosts && took.first.size() == took.all.size())
            took.first.push_back(Milliseconds(passed()).count());
        if (passed() > patience) die("change", {Errc::timeout, {}, "no answer has it"});
        if (!seen.empty()) std::this_thread::sleep_for(50us);  // the server has two cores, and we are none of its load
    }
    took.all.push_back(Milliseconds(passed()).count());
}

// The cluster has another address now.
void move_cluster(Server& server, Asker& asker, std::size_t turn, std::size_t gateways, Took& took) {
    const auto gateway = turn * 7919 % gateways, cluster = turn % clusters;
    const auto id = server.gateway(gateway);
    auto client = server.client();
    auto object = need(client.get(id), "gateway");
    const std::array<char, 4> bytes{static_cast<char>(172), 16, static_cast<char>(turn / 250),
                                    static_cast<char>(turn % 250 + 1)};
    json::find(object, "status.addresses")->as_array()[cluster].as_object()["value"] =
        fmt::format("{}/172.16.{}.{}", cluster_name(cluster), turn / 250, turn % 250 + 1);
    std::vector<std::function<bool()>> seen;
    for (const auto& leaf : leaves_of(gateway, cluster)) {
        seen.emplace_back(
            [&asker, leaf, bytes] { return asker.has(leaf.name, std::string(bytes.data(), bytes.size())); });
    }
    const auto from = std::chrono::steady_clock::now();
    need(client.update_status(id, std::move(object)), "status");
    took.written.push_back(Milliseconds(std::chrono::steady_clock::now() - from).count());
    wait_for(std::move(seen), from, took);
}

// The last route has left the cluster: nobody is sent there any more.
void drain_cluster(Server& server, Asker& asker, std::size_t turn, std::size_t gateways, Took& took) {
    const auto gateway = (turn * 7919 + 1) % gateways, cluster = turn % clusters;
    const auto id = server.gateway(gateway);
    auto client = server.client();
    auto object = need(client.get(id), "gateway");
    for (auto& status : json::find(object, "status.listeners")->as_array()) {
        if (json::string_at(status, "name").starts_with(cluster_name(cluster) + "."))
            status.as_object()["attachedRoutes"] = 0;
    }
    std::vector<std::function<bool()>> seen;
    for (const auto& leaf : leaves_of(gateway, cluster)) {
        if (asker.count(leaf.place, leaf.name) != 1) die("drain", {Errc::internal, {}, "the cluster is not there"});
        seen.emplace_back([&asker, leaf] { return asker.count(leaf.place, leaf.name) == 0; });
    }
    const auto from = std::chrono::steady_clock::now();
    need(client.update_status(id, std::move(object)), "status");
    took.written.push_back(Milliseconds(std::chrono::steady_clock::now() - from).count());
    wait_for(std::move(seen), from, took);
}

int run_path(std::unique_ptr<store::Store> store, std::size_t gateways, std::size_t changes) {
    Server server(std::move(store));
    make_world(server, gateways);
    const auto from = std::chrono::steady_clock::now();
    server.start();
    Asker asker(server.zones);
    const auto last = leaves_of(gateways - 1, clusters - 1).back();
    Took start;
    wait_for({[&] { return asker.count(last.place, last.name) == 1; }}, from, start);
    server.rest();
    json::Object out;
    out["gateways"] = gateways;
    out["changes"] = changes;
    out["start_ms"] = Milliseconds(std::chrono::steady_clock::now() - from).count();
    Took moved, drained;
    for (std::size_t i = 0; i < changes; ++i) {
        move_cluster(server, asker, i, gateways, moved);
        server.rest();
        drain_cluster(server, asker, i, gateways, drained);
        server.rest();
    }
    out["address_written"] = quantiles(moved.written);
    out["address_first"] = quantiles(moved.first);
    out["address_all"] = quantiles(moved.all);
    out["drain_written"] = quantiles(drained.written);
    out["drain_first"] = quantiles(drained.first);
    out["drain_all"] = quantiles(drained.all);
    fmt::print("{}\n", json::serialize(json::Value(out)));
    return 0;
}

int run_path_on_disk(std::size_t gateways, std::size_t changes) {
    std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) return 1;
    Log log(LogLevel::error, LogFormat::text);
    Metrics metrics;
    store::EmbeddedOptions options;
    options.file = std::filesystem::path(pattern) / "store.db";
    const int code = run_path(need(store::open_embedded_store(options, log, metrics), "store"), gateways, changes);
    std::error_code ignored;
    std::filesystem::remove_all(pattern, ignored);
    return code;
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
    using namespace fairlead;
    const auto text = [&](int at) { return std::string_view(argc > at ? argv[at] : ""); };
    const auto number = [&](int at, std::size_t otherwise) {
        const auto given = parse_int(text(at));
        return given && *given > 0 ? static_cast<std::size_t>(*given) : otherwise;
    };
    if (text(1) == "path") {
        const auto gateways = number(3, 1'000), changes = number(4, 50);
        return text(2) == "disk" ? run_path_on_disk(gateways, changes)
                                 : run_path(store::make_memory_store(), gateways, changes);
    }
    return run_build(number(2, 1'000));
}
