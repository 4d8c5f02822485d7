// Packets from strangers, through the whole of answering: whatever comes, the reply is one that a resolver can read, no
// longer than the asker can take, and answers the question that was asked.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dns/bytes.h"
#include "dns/query.h"
#include "dns/rdata.h"
#include "dnsserver/answer.h"
#include "dnsserver/tally.h"
#include "dnsserver/zone_set.h"
#include "fuzz.h"
#include "geo/table.h"

namespace {

using namespace fairlead;
using fuzz::require;

struct Line {
    const char *name, *type, *data, *identifier, *place;
    int weight;
    bool down;
};

// Every way through the code: chains, loops, wildcards, delegations, places, weights, large sets.
constexpr Line lines[] = {
    {"z", "SOA", "ns.z host.z 1 7200 900 86400 300", "", "", -1, false},
    {"z", "NS", "ns.z", "", "", -1, false},
    {"ns.z", "A", "192.0.2.53", "", "", -1, false},
    {"a.z", "A", "192.0.2.1", "", "", -1, false},
    {"c.z", "CNAME", "g.z", "", "", -1, false},
    {"g.z", "CNAME", "w.z", "de", "DE", -1, false},
    {"g.z", "CNAME", "d.z", "all", "*", -1, false},
    {"w.z", "CNAME", "a.z", "one", "", 100, false},
    {"w.z", "CNAME", "out.example", "two", "", 0, false},
    {"d.z", "A", "192.0.2.9", "x", "", 1, true},
    {"d.z", "A", "192.0.2.8", "y", "", 2, false},
    {"l.z", "CNAME", "m.z", "", "", -1, false},
    {"m.z", "CNAME", "l.z", "", "", -1, false},
    {"*.s.z", "CNAME", "x.y.s.z", "", "", -1, false},
    {"e.f.z", "TXT", "\"some text\"", "", "", -1, false},
    {"sub.z", "NS", "ns.sub.z", "", "", -1, false},
    {"ns.sub.z", "AAAA", "2001:db8::1", "", "", -1, false},
    {"q.z", "MX", "10 a.z", "", "", -1, false},
    {"h.z", "HTTPS", "1 . alpn=h2", "", "", -1, false},
};

struct World {
    World() {
        std::map<dns::Name, dns::Sets> names;
        for (const auto& line : lines) {
            dns::Variant variant;
            const auto type = *dns::parse_type(line.type);
            variant.ttl = 60;
            variant.data = {dns::parse_rdata(type, line.data).value()};
            variant.set_identifier = line.identifier;
            if (*line.place != 0) variant.geo = dns::GeoCode::parse(line.place).value();
            if (line.weight >= 0) variant.weight = static_cast<unsigned>(line.weight);
            if (line.down) variant.unhealthy.insert(variant.data.front());
            names[dns::Name::parse(line.name).value()][type].push_back(std::move(variant));
        }
        auto& large = names[dns::Name::parse("big.z").value()][dns::RecordType::a].emplace_back();
        for (char i = 1; i < 100; ++i) large.data.push_back(std::string("\xc0\0\2", 3) + i);
        const auto apex = dns::Name::parse("z").value();
        zones.add_zone(apex);
        for (const auto& [name, sets] : names) zones.put(apex, name, sets);
        zones.publish();
        const std::vector<geo::Override> overrides = {geo::parse_override("10.0.0.0/8=DE").value()};
        places = geo::Table::load({}, overrides).value();
    }
    dnsserver::ZoneSet zones{1};
    dnsserver::ZoneSet::Reader reader{zones.published()};
    std::shared_ptr<const geo::Table> places;
    dnsserver::AnswerSettings settings{.version = "v", .identity = "i", .udp_payload = 1232};
    dnsserver::Tally tally;
    dnsserver::Answerer answerer{settings, dnsserver::FastRandom(1), tally};
    std::vector<char> out = std::vector<char>(dnsserver::max_message_bytes);
};

// Past the name at `at`, which may point backwards only.
std::size_t skip_name(std::string_view message, std::size_t at) {
    std::size_t end = 0;
    for (int steps = 0; steps < 300; ++steps) {
        require(at < message.size(), "a name ends within the message");
        const unsigned size = dns::get8(message, at);
        if (size >= 0xc0) {
            const std::size_t target = dns::get16(message, at) & 0x3fffU;
            require(target < at, "pointers point backwards");
            if (end == 0) end = at + 2;
            at = target;
            continue;
        }
        at += 1 + size;
        if (size == 0) return end == 0 ? at : end;
    }
    require(false, "a name has an end");
    return at;
}

void check_reply(std::string_view query, std::string_view reply, bool stream) {
    require(reply.size() >= 12 && dns::get16(reply, 0) == dns::get16(query, 0), "the id is the query's");
    require((dns::get8(reply, 2) & 0x80U) != 0, "it is a reply");
    require(stream || reply.size() <= 1232, "it fits");
    std::size_t at = 12;
    if (dns::get16(reply, 4) == 1) {
        at = skip_name(reply, at) + 4;
        require(reply.substr(12, at - 12) == query.substr(12, at - 12), "the question is given back");
    }
    const unsigned records = dns::get16(reply, 6) + dns::get16(reply, 8) + dns::get16(reply, 10);
    for (unsigned i = 0; i < records; ++i) {
        at = skip_name(reply, at);
        require(at + 10 <= reply.size(), "a record is whole");
        at += 10 + dns::get16(reply, at + 8);
        require(at <= reply.size(), "its data is whole");
    }
    require(at == reply.size(), "nothing stands behind the last record");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static World world;
    const std::string_view packet(reinterpret_cast<const char*>(data), size);
    if (size > 65'535) return 0;
    for (const bool stream : {false, true}) {
        const dnsserver::Asker asker{dns::Address::parse("10.1.2.3").value(), stream};
        const auto& zones = world.reader.pin();
        auto reply = world.answerer.answer(zones, world.places.get(), packet, asker, world.out);
        if (reply.kind == dnsserver::Reply::Kind::special) {
            reply = world.answerer.answer_unsigned(zones, world.places.get(), packet, asker, 100, world.out);
        }
        if (reply.kind == dnsserver::Reply::Kind::message) {
            check_reply(packet, {world.out.data(), reply.size}, stream);
        }
        world.reader.unpin();
    }
    return 0;
}
