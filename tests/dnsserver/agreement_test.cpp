// The server must agree with the oracle: random zones, questions and clients, each answered by both.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "dns/zones.h"
#include "dnsserver/answer.h"
#include "dnsserver/message.h"
#include "dnsserver/tally.h"
#include "dnsserver/zone_set.h"
#include "geo/table.h"

namespace fairlead::dnsserver {
namespace {

using dns::name_of;

const std::vector<std::pair<std::string, dns::Place>>& client_places() {
    static const std::vector<std::pair<std::string, dns::Place>> places = {
        {"10.1.0.0/16", {"EU", "DE", ""}},      {"10.2.0.0/16", {"EU", "FR", "FR-75"}},
        {"10.3.0.0/16", {"NA", "US", "US-CA"}}, {"10.4.0.0/16", {"NA", "US", ""}},
        {"10.5.0.0/16", {"", "DE", ""}},        {"10.6.0.0/16", {"EU", "", ""}},
    };
    return places;
}

std::shared_ptr<const geo::Table> table() {
    std::vector<geo::Override> overrides;
    for (const auto& [network, place] : client_places()) {
        overrides.push_back({dns::Prefix::parse(network).value(), place});
    }
    return geo::Table::load({}, overrides).value();
}

// Few labels, so that names meet: below, above, covered by wildcards, delegated.
rc::Gen<std::string> some_name() {
    const auto label = rc::gen::element<std::string>("a", "b", "c", "*", "ns");
    return rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(label)),
                        [](const std::vector<std::string>& labels) {
                            std::string text;
                            for (std::size_t i = 0; i < std::min<std::size_t>(labels.size(), 3); ++i) {
                                text += labels[i] + ".";
                            }
                            return text + "test";
                        });
}

rc::Gen<std::string> some_policy() {
    return rc::gen::map(
        rc::gen::tuple(rc::gen::element<std::string>("", "", " geo=DE", " geo=*", " geo=US", " geo=US-CA",
                                                     " geo=GEO-EU", " geo=FR-75", " geo=FR"),
                       rc::gen::element<std::string>("", "", " weight=0", " weight=1", " weight=255"),
                       rc::gen::element<std::string>("", "", "", " down")),
        [](const auto& parts) { return std::get<0>(parts) + std::get<1>(parts) + std::get<2>(parts); });
}

struct Line {
    std::string name, type, data, policy;
};

rc::Gen<Line> some_line() {
    return rc::gen::exec([] {
        Line line;
        line.name = *some_name();
        line.type = *rc::gen::element<std::string>("A", "A", "AAAA", "CNAME", "CNAME", "CNAME", "TXT", "NS", "MX",
                                                   "SRV", "SRV");
        if (line.type == "A") line.data = fmt::format("192.0.2.{}", *rc::gen::inRange(1, 200));
        if (line.type == "AAAA") line.data = fmt::format("2001:db8::{}", *rc::gen::inRange(1, 200));
        if (line.type == "TXT") line.data = "\"text\"";
        if (line.type == "MX") line.data = "10 " + *some_name();
        if (line.type == "SRV") line.data = fmt::format("10 {} 80 {}", *rc::gen::inRange(0, 100), *some_name());
        if (line.type == "NS") line.data = *some_name();
        if (line.type == "CNAME")
            line.data = *rc::gen::oneOf(some_name(), some_name(), rc::gen::just<std::string>("out.example"));
        if (line.type != "NS") line.policy = *some_policy();
        return line;
    });
}

// Lines as the feed would let them through: no CNAME beside other sets or at an apex, no unnamed set beside named ones.
struct World {
    dns::Zones plain;
    ZoneSet compiled{7};

    explicit World(const std::vector<Line>& lines) {
        std::vector<std::string> apexes = {"test", "b.test"};
        for (const auto& apex : apexes) {
            auto zone = dns::make_zone(apex, {});
            std::map<std::string, std::vector<std::pair<std::string, bool>>> at;  // name -> (type, has policy)
            for (std::size_t i = 0; i < lines.size(); ++i) {
                const auto& line = lines[i];
                const bool inner = name_of(line.name).at_or_below(name_of("b.test"));
                if (inner != (apex == "b.test")) continue;
                auto& there = at[line.name];
                const bool policy = !line.policy.empty() && line.policy != " down";
                const bool alias = line.type == "CNAME";
                if (line.name == apex && (alias || line.type == "NS")) continue;
                const bool clash = std::any_of(there.begin(), there.end(), [&](const auto& one) {
                    if ((one.first == "CNAME") != alias) return true;
                    return one.first == line.type && !(one.second && policy);
                });
                if (clash) continue;
                there.emplace_back(line.type, policy);
                dns::add_line(zone, fmt::format("{} {} {} {} |{}{}", line.name, 60 + i, line.type, line.data,
                                                policy ? fmt::format(" id=set{:03}", i) : "", line.policy));
            }
            compiled.add_zone(zone.apex());
            zone.for_each([&](const dns::Name& name, const dns::Sets& sets) { compiled.put(zone.apex(), name, sets); });
            plain.put(std::move(zone));
        }
        compiled.publish();
    }
};

std::vector<std::string> texts(std::vector<dns::Record> records) {
    std::vector<std::string> out;
    out.reserve(records.size());
    for (const auto& one : records) {
        out.push_back(fmt::format("{} {} {} {}", one.owner.text(), one.ttl, dns::type_text(one.type),
                                  dns::rdata_text(one.type, one.data)));
    }
    std::sort(out.begin(), out.end());
    return out;
}

bool same(const Message& message, const dns::Outcome& outcome) {
    const unsigned scope = outcome.by_place ? 16 : 0;  // every place above is a /16
    return dns::get8(message.options, 7) == scope && message.rcode == static_cast<unsigned>(outcome.rcode) &&
           message.authoritative == outcome.authoritative && texts(message.answer) == texts(outcome.answer) &&
           texts(message.authority) == texts(outcome.authority) &&
           texts(message.additional) == texts(outcome.additional);
}

std::string show(const dns::Resolution& resolution) {
    std::string out;
    for (const auto& outcome : resolution.outcomes) {
        out += fmt::format("{} rcode {} aa {}\n", outcome.probability, static_cast<int>(outcome.rcode),
                           outcome.authoritative);
        for (const auto& line : texts(outcome.answer)) out += "  answer " + line + "\n";
        for (const auto& line : texts(outcome.authority)) out += "  authority " + line + "\n";
        for (const auto& line : texts(outcome.additional)) out += "  additional " + line + "\n";
    }
    return out;
}

RC_GTEST_PROP(Agreement, EveryAnswerIsOneOfTheOraclesAndNoneThatItCallsImpossible, ()) {
    static const auto places = table();
    const auto lines = *rc::gen::resize(40, rc::gen::container<std::vector<Line>>(some_line()));
    World world(lines);
    ZoneSet::Reader reader(world.compiled.published());
    const AnswerSettings settings;
    Tally tally;
    Answerer answerer(settings, FastRandom(*rc::gen::arbitrary<std::uint64_t>()), tally);
    std::vector<char> out(max_message_bytes);
    for (int i = 0; i < 20; ++i) {
        const auto name = *some_name();
        const auto type = *rc::gen::element<unsigned>(1, 28, 5, 16, 2, 15, 255, 6, 33);
        const auto network = client_places().at(*rc::gen::inRange<std::size_t>(0, client_places().size())).first;
        const auto place = places->place_of(dns::Prefix::parse(network).value().address);
        const auto resolution = dns::resolve(world.plain, {name_of(name), static_cast<std::uint16_t>(type)}, place);
        QueryOptions how;
        how.payload = 4096;
        how.options = subnet_option(network.substr(0, network.find('/')), 24);
        const Asker asker{dns::Address::parse("10.9.9.9").value(), true};
        const auto reply = answerer.answer(reader.pin(), places.get(), make_query(name, type, how), asker, out);
        RC_ASSERT(reply.kind == Reply::Kind::message);
        const auto message = read_message({out.data(), reply.size});
        const bool known = std::any_of(resolution.outcomes.begin(), resolution.outcomes.end(),
                                       [&](const auto& one) { return one.probability > 0 && same(message, one); });
        if (!known) {
            RC_LOG() << "scope " << dns::get8(message.options, 7) << " question " << name << " " << type << " from "
                     << network << "\noracle:\n"
                     << show(resolution) << "server: rcode " << message.rcode << " aa " << message.authoritative
                     << "\n";
            for (const auto& line : texts(message.answer)) RC_LOG() << "  answer " << line << "\n";
            for (const auto& line : texts(message.authority)) RC_LOG() << "  authority " << line << "\n";
            for (const auto& line : texts(message.additional)) RC_LOG() << "  additional " << line << "\n";
        }
        RC_ASSERT(known);
    }
}

}  // namespace
}  // namespace fairlead::dnsserver
