// Signed requests and requests for transfers as strangers send them, and answers to our own signed requests: whatever
// comes, the answer is well-formed, nobody without the key gets a record, and who signs well gets a signed answer.
//
// The first byte says how the rest is sent: bit 0 over TCP, bit 1 signed with the key of the zone, bit 2 as the reply
// to a notice of ours.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/metrics.h"
#include "dns/bytes.h"
#include "dns/query.h"
#include "dns/rdata.h"
#include "dnsserver/correspondent.h"
#include "dnsserver/transfer.h"
#include "fuzz.h"

namespace {

using fairlead::fuzz::require;
namespace dns = fairlead::dns;
namespace dnsserver = fairlead::dnsserver;

dns::Name name_of(std::string_view text) { return dns::Name::parse(text).value_or(dns::Name()); }

dns::Variant records(dns::RecordType type, std::string_view text) {
    dns::Variant variant;
    variant.ttl = 60;
    variant.data.push_back(dns::parse_rdata(type, text).value_or(std::string(4, '\0')));
    return variant;
}

// One zone, which its peer may copy with a key.
struct World {
    World() {
        const auto apex = name_of("example.com");
        zones.add_zone(apex);
        dns::Sets top;
        top[dns::RecordType::soa].push_back(records(dns::RecordType::soa, "ns.example.com h.example.com 7 1 1 1 1"));
        top[dns::RecordType::ns].push_back(records(dns::RecordType::ns, "ns.example.com"));
        zones.put(apex, apex, top);
        dns::Sets host;
        host[dns::RecordType::a].push_back(records(dns::RecordType::a, "192.0.2.1"));
        zones.put(apex, name_of("www.example.com"), host);
        zones.publish();
        auto policy = std::make_shared<dnsserver::TransferPolicy>();
        policy->keys[key.name] = key;
        policy->peers[apex] = {{dns::Prefix::parse("192.0.2.0/24").value_or(dns::Prefix{}), 53, key.name, true}};
        correspondent.set_policy(policy);
    }

    dns::TsigKey key{name_of("transfer.key"), dns::TsigAlgorithm::hmac_sha256, "a secret that the fuzzer cannot guess"};
    fairlead::ManualClock clock;
    fairlead::Log log{fairlead::LogLevel::error, fairlead::LogFormat::text};
    fairlead::Metrics metrics;
    dnsserver::ZoneSet zones{1};
    dnsserver::Places places{std::make_unique<const std::shared_ptr<const fairlead::geo::Table>>()};
    dnsserver::AnswerSettings settings;
    dnsserver::Correspondent correspondent{{zones.published(), places, settings, clock, log, metrics}, 1};
};

bool is_transfer(std::string_view packet) {
    dns::Query query;
    if (dns::read_query(packet, query) != dns::Verdict::answer) return false;
    return query.type == dnsserver::type_axfr || query.type == dnsserver::type_ixfr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto world = std::make_unique<World>();
    if (size < 1 || size > 4'096) return 0;
    const unsigned how = data[0];
    std::string packet(reinterpret_cast<const char*>(data) + 1, size - 1);
    if ((how & 4U) != 0) {
        require(!dns::check_reply(packet, world->key, std::string(32, 'm'), world->clock.now()),
                "nobody can sign without the key");
        return 0;
    }
    dns::Query query;
    const bool sign = (how & 2U) != 0 && dns::read_query(packet, query) == dns::Verdict::answer && !query.signature_at;
    std::string mac;
    if (sign) mac = dns::sign_request(packet, world->key, world->clock.now());
    const bool stream = (how & 1U) != 0;
    const auto source =
        world->correspondent.answer(packet, {dns::Address::parse("192.0.2.9").value_or(dns::Address{}), stream});
    if (!source) return 0;
    std::string message;
    for (std::size_t i = 0; source->next(message); ++i) {
        require(i < 100, "an answer ends");
        require(message.size() >= 12 && message.size() <= dnsserver::max_message_bytes, "a message has a length");
        require(message.substr(0, 2) == packet.substr(0, 2), "an answer has the id of its request");
        require((dns::get8(message, 2) & 0x80U) != 0, "an answer says that it is one");
        if (sign && i == 0) {
            const auto checked = dns::check_reply(message, world->key, mac, world->clock.now());
            require(checked.has_value(), "who signs well gets a signed answer", checked ? "" : checked.error().text());
        }
        if (!sign && is_transfer(packet)) require(dns::get16(message, 6) == 0, "no transfer without the key");
    }
    return 0;
}
