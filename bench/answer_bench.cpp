// What one answer costs without the kernel: packet in, reply out, for the loads of ./dev bench dns.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <string>
#include <vector>

#include "dns/bytes.h"
#include "dns/rdata.h"
#include "dnsserver/answer.h"
#include "dnsserver/tally.h"
#include "dnsserver/zone_set.h"
#include "geo/table.h"

namespace fairlead::dnsserver {
namespace {

constexpr int hosts = 1'000;
constexpr int plain_names = 10'000;
constexpr const char* countries[] = {"US", "CA", "MX", "BR", "AR", "DE", "FR", "GB",
                                     "PL", "RU", "CN", "JP", "IN", "ZA", "EG", "AU"};

dns::Name name_of(const std::string& text) { return dns::Name::parse(text).value(); }

class World {
public:
    World() {
        add("bench.test", dns::RecordType::soa, "ns.bench.test host.bench.test 1 7200 900 86400 300");
        for (int i = 0; i < plain_names; ++i) {
            add(fmt::format("h{:09}.bench.test", i), dns::RecordType::a, "192.0.2.1");
        }
        for (int i = 0; i < hosts; ++i) {
            const auto named = [&](const char* what) { return fmt::format("{}{:04}.bench.test", what, i); };
            for (int k = 0; k < 3; ++k)
                add(named("w"), dns::RecordType::a, "192.0.2.1", fmt::format("t{}", k), "", 100);
            add(named("host"), dns::RecordType::cname, named("lb"));
            add(named("lb"), dns::RecordType::cname, named("geo"));
            for (const auto* country : countries) {
                const auto branch = fmt::format("wrr-{}-{:04}.bench.test", country, i);
                add(named("g"), dns::RecordType::a, "198.51.100.1", country, country);
                add(named("geo"), dns::RecordType::cname, branch, country, country);
                for (int k = 0; k < 3; ++k)
                    add(branch, dns::RecordType::a, "203.0.113.1", fmt::format("t{}", k), "", 100);
            }
        }
        const auto apex = name_of("bench.test");
        zones.add_zone(apex);
        for (const auto& [name, sets] : names_) zones.put(apex, name, sets);
        zones.publish();
        std::vector<geo::Override> overrides;
        for (int i = 0; i < 20'000; ++i) {
            overrides.push_back(geo::parse_override(fmt::format("{}.{}.{}.0/24={}", 11 + i / 2'500, i / 10 % 250,
                                                                i % 10, countries[i % 16]))
                                    .value());
        }
        places = geo::Table::load({}, overrides).value();
    }

    ZoneSet zones{1};
    std::shared_ptr<const geo::Table> places;

private:
    void add(const std::string& name, dns::RecordType type, const std::string& data, std::string identifier = {},
             const std::string& place = {}, int weight = -1) {
        dns::Variant variant;
        variant.ttl = 60;
        variant.data = {dns::parse_rdata(type, data).value()};
        variant.set_identifier = std::move(identifier);
        if (!place.empty()) variant.geo = dns::GeoCode::parse(place).value();
        if (weight >= 0) variant.weight = static_cast<unsigned>(weight);
        names_[name_of(name)][type].push_back(std::move(variant));
    }
    std::map<dns::Name, dns::Sets> names_;
};

std::string query(const std::string& name, bool with_subnet, int i) {
    std::string out;
    dns::put32(out, 0x12340000);
    dns::put16(out, 1);
    dns::put32(out, 0);
    dns::put16(out, with_subnet ? 1 : 0);
    out += name_of(name).wire();
    dns::put16(out, 1);
    dns::put16(out, 1);
    if (!with_subnet) return out;
    out += std::string("\0\0\x29\4\xd0\0\0\0\0\0\x0b\0\x08\0\x07\0\1\x18\0", 19);
    dns::put8(out, static_cast<unsigned>(11 + i % 8));
    dns::put8(out, static_cast<unsigned>(i % 250));
    dns::put8(out, static_cast<unsigned>(i % 10));
    return out;
}

void answers(benchmark::State& state, const char* format, int count, bool with_subnet) {
    static World world;
    std::vector<std::string> queries;
    for (int i = 0; i < 10'000; ++i)
        queries.push_back(query(fmt::format(fmt::runtime(format), i * 7919 % count), with_subnet, i));
    ZoneSet::Reader reader(world.zones.published());
    const AnswerSettings settings;
    Tally tally;
    Answerer answerer(settings, FastRandom(1), tally);
    std::vector<char> out(max_message_bytes);
    const Asker asker{};
    const auto& zones = reader.pin();
    std::size_t i = 0;
    for (auto _ : state) {
        const auto reply = answerer.answer(zones, world.places.get(), queries[i++ % queries.size()], asker, out);
        benchmark::DoNotOptimize(reply);
        if (out[3] != 0 && state.iterations() == 1) state.SkipWithError("not answered");
    }
    reader.unpin();
}

BENCHMARK_CAPTURE(answers, plain, "h{:09}.bench.test", plain_names, false);
BENCHMARK_CAPTURE(answers, missing, "x{:09}.bench.test", plain_names, false);
BENCHMARK_CAPTURE(answers, weighted, "w{:04}.bench.test", hosts, true);
BENCHMARK_CAPTURE(answers, geo, "g{:04}.bench.test", hosts, true);
BENCHMARK_CAPTURE(answers, smart_chain, "host{:04}.bench.test", hosts, true);

}  // namespace
}  // namespace fairlead::dnsserver

BENCHMARK_MAIN();
