#include "dnsserver/dns_server.h"

#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "base/metrics.h"
#include "dnsserver/dns_metrics.h"
#include "dnsserver/tcp_loop.h"
#include "dnsserver/udp_loop.h"

namespace fairlead::dnsserver {
namespace {

// The cores that this process may use, in order.
std::vector<std::size_t> own_cores() {
    std::vector<std::size_t> cores;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
    return cores;
}

bool pin_to(std::thread& thread, std::size_t core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return pthread_setaffinity_np(thread.native_handle(), sizeof set, &set) == 0;
}

}  // namespace

std::size_t default_dns_threads() { return std::clamp(std::thread::hardware_concurrency(), 1U, 4U); }

struct DnsServer::Impl {
    Impl(DnsServerOptions with, DnsServerParts from)
        : options(std::move(with)), parts(std::move(from)), scrape_reader(parts.zones.published()) {}

    WorkerParts worker_parts() {
        tallies.push_back(std::make_unique<Tally>());
        return {parts.zones.published(),         parts.places,   options.answers, parts.special,
                FastRandom(parts.random.next()), *tallies.back()};
    }

    Result<void> open() {
        std::vector<net::Fd> tcp_listeners;
        for (const auto& asked : options.listen) {
            auto opened = open_listeners(asked, options.threads);
            if (!opened) return fail(std::move(opened.error()));
            addresses.push_back(opened->address);
            for (auto& socket : opened->udp) {
                udp.push_back(std::make_unique<UdpLoop>(std::move(socket), asked.address.v6, worker_parts()));
            }
            tcp_listeners.push_back(std::move(opened->tcp));
        }
        auto loop = TcpLoop::make(std::move(tcp_listeners), options.tcp, worker_parts(), parts.clock, parts.log);
        if (!loop) return fail(std::move(loop.error()));
        tcp = std::move(*loop);
        return {};
    }

    void run() {
        threads.reserve(udp.size() + 1);
        const auto cores = options.pin ? own_cores() : std::vector<std::size_t>{};
        for (std::size_t i = 0; i < udp.size(); ++i) {
            auto& thread = threads.emplace_back([loop = udp[i].get()] { loop->run(); });
            (void)pthread_setname_np(thread.native_handle(), fmt::format("dns-udp-{}", i).c_str());
            if (!options.pin) continue;
            // Threads of one address spread over the cores; those of the next begin at the first again.
            const auto place = i % options.threads;
            if (cores.empty() || !pin_to(thread, cores[place % cores.size()])) {
                parts.log.warn("cannot pin a DNS thread", {{"thread", i}});
            }
        }
        auto& thread = threads.emplace_back([loop = tcp.get()] { loop->run(); });
        (void)pthread_setname_np(thread.native_handle(), "dns-tcp");
        collecting.emplace(parts.metrics.collect_with([this] { return collect(); }));
    }

    std::vector<SampleFamily> collect() {
        Counted counted;
        for (const auto& tally : tallies) counted.tallies.push_back(tally.get());
        if (parts.special_tally != nullptr) counted.tallies.push_back(parts.special_tally);
        for (const auto& loop : udp) counted.udp.push_back(&loop->counts());
        counted.tcp = &tcp->counts();
        auto families = traffic_metrics(counted);
        auto zones = zone_metrics(scrape_reader.pin());
        scrape_reader.unpin();
        std::move(zones.begin(), zones.end(), std::back_inserter(families));
        families.push_back(set_metrics(counted, parts.zones.set_labels(max_set_series)));
        return families;
    }

    void stop() {
        collecting.reset();
        for (const auto& loop : udp) loop->stop();
        if (tcp) tcp->stop();
        for (auto& thread : threads) thread.join();
        threads.clear();
    }

    const DnsServerOptions options;
    DnsServerParts parts;
    ZoneSet::Reader scrape_reader;  // Metrics asks one collector at a time
    std::vector<std::unique_ptr<Tally>> tallies;
    std::vector<std::unique_ptr<UdpLoop>> udp;
    std::unique_ptr<TcpLoop> tcp;
    std::vector<ListenAddress> addresses;
    std::size_t next_box = 0;
    std::vector<std::thread> threads;
    std::optional<Metrics::Collecting> collecting;  // last: reads all of the above
};

DnsServer::DnsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DnsServer::~DnsServer() { stop(); }

Result<std::unique_ptr<DnsServer>> DnsServer::start(DnsServerOptions options, DnsServerParts parts) {
    const auto wanted = options.threads * options.listen.size();
    if (options.threads == 0 || wanted > max_udp_threads) {
        return fail(Errc::invalid, "--dns-threads",
                    fmt::format("{} threads for each of {} addresses is outside 1..{} in all", options.threads,
                                options.listen.size(), max_udp_threads));
    }
    auto impl = std::make_unique<Impl>(std::move(options), std::move(parts));
    if (auto opened = impl->open(); !opened) return fail(std::move(opened.error()));
    impl->run();
    return std::unique_ptr<DnsServer>(new DnsServer(std::move(impl)));
}

const std::vector<ListenAddress>& DnsServer::addresses() const { return impl_->addresses; }

std::optional<dns::Name> DnsServer::next_looped() {
    // In turn, so that a busy worker does not hide the others.
    for (std::size_t i = 0; i < impl_->tallies.size(); ++i) {
        auto& box = impl_->tallies[impl_->next_box]->looped;
        impl_->next_box = (impl_->next_box + 1) % impl_->tallies.size();
        if (auto name = box.take()) return name;
    }
    return std::nullopt;
}

void DnsServer::stop() { impl_->stop(); }

}  // namespace fairlead::dnsserver
