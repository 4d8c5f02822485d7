#include "dnsserver/dns_metrics.h"

#include <fmt/core.h>

#include "dns/record_type.h"

namespace fairlead::dnsserver {
namespace {

using Kind = SampleFamily::Kind;

std::string type_label(std::size_t column) {
    if (column == Tally::other_type) return "other";
    constexpr std::uint16_t any = 255;
    return Tally::types[column] == any ? "ANY" : dns::type_text(Tally::types[column]);
}

std::string rcode_label(std::size_t rcode) {
    static constexpr std::array<std::string_view, 6> usual = {"NOERROR",  "FORMERR", "SERVFAIL",
                                                              "NXDOMAIN", "NOTIMP",  "REFUSED"};
    constexpr std::size_t not_authorised = 9;
    constexpr std::size_t bad_version = 16;
    if (rcode < usual.size()) return std::string(usual[rcode]);
    if (rcode == not_authorised) return "NOTAUTH";
    if (rcode == bad_version) return "BADVERS";
    return fmt::format("RCODE{}", rcode);
}

std::string_view end_label(TcpEnd end) {
    switch (end) {
        case TcpEnd::client:
            return "client";
        case TcpEnd::idle:
            return "idle";
        case TcpEnd::slow:
            return "slow";
        case TcpEnd::lifetime:
            return "lifetime";
        case TcpEnd::queries:
            return "queries";
        case TcpEnd::transfer:
            return "transfer";
        case TcpEnd::garbage:
            return "garbage";
        case TcpEnd::place:
            return "place";
    }
    return "";
}

SampleFamily single(std::string name, std::string help, std::uint64_t value, Kind kind = Kind::counter) {
    return {std::move(name), std::move(help), kind, {Sample{{}, static_cast<double>(value)}}};
}

template <class Parts>
std::uint64_t sum(const Parts& parts, auto cell) {
    std::uint64_t all = 0;
    for (const auto* part : parts) all += (part->*cell).value();
    return all;
}

SampleFamily queries(const Counted& counted) {
    SampleFamily family{"fairlead_dns_queries_total",
                        "Answers by type of the question, response code and transport",
                        Kind::counter,
                        {}};
    for (const bool stream : {false, true}) {
        for (std::size_t type = 0; type < Tally::types.size(); ++type) {
            for (std::size_t rcode = 0; rcode < Tally::rcodes; ++rcode) {
                std::uint64_t all = 0;
                for (const auto* tally : counted.tallies) all += tally->queries(stream, type, rcode);
                if (all == 0) continue;
                family.samples.push_back(
                    {{{"transport", stream ? "tcp" : "udp"}, {"type", type_label(type)}, {"rcode", rcode_label(rcode)}},
                     static_cast<double>(all)});
            }
        }
    }
    return family;
}

void add_tcp(std::vector<SampleFamily>& families, const TcpCounts& tcp) {
    families.push_back(
        single("fairlead_dns_tcp_connections", "Open TCP connections of DNS clients", tcp.open.load(), Kind::gauge));
    families.push_back(single("fairlead_dns_tcp_connections_accepted_total", "TCP connections that DNS clients opened",
                              tcp.accepted.value()));
    families.push_back(single("fairlead_dns_tcp_connections_refused_total",
                              "TCP connections that found no place, nobody being idle", tcp.refused.value()));
    families.push_back(single("fairlead_dns_tcp_accept_errors_total",
                              "Failures to take a TCP connection: usually out of file descriptors",
                              tcp.accept_errors.value()));
    SampleFamily ended{"fairlead_dns_tcp_connections_closed_total",
                       "TCP connections of DNS clients that ended, by cause",
                       Kind::counter,
                       {}};
    for (std::size_t i = 0; i < tcp_ends; ++i) {
        ended.samples.push_back(
            {{{"cause", std::string(end_label(static_cast<TcpEnd>(i)))}}, static_cast<double>(tcp.ended[i].value())});
    }
    families.push_back(std::move(ended));
}

}  // namespace

std::vector<SampleFamily> traffic_metrics(const Counted& counted) {
    std::vector<SampleFamily> families;
    families.push_back(queries(counted));
    families.push_back(single("fairlead_dns_truncated_total", "Answers that did not fit and said so",
                              sum(counted.tallies, &Tally::truncated)));
    families.push_back(single("fairlead_dns_ignored_total", "Packets that got no answer: they were no queries",
                              sum(counted.tallies, &Tally::ignored)));
    families.push_back(single("fairlead_dns_loops_total", "SERVFAIL because a chain of CNAMEs does not end",
                              sum(counted.tallies, &Tally::loops)));
    families.push_back(single("fairlead_dns_dropped_total", "UDP answers that the socket did not take in time",
                              sum(counted.udp, &UdpCounts::dropped)));
    families.push_back(single("fairlead_dns_send_errors_total", "UDP answers that the system refused to send",
                              sum(counted.udp, &UdpCounts::send_errors)));
    families.push_back(single("fairlead_dns_receive_errors_total", "Failed attempts to receive UDP queries",
                              sum(counted.udp, &UdpCounts::receive_errors)));
    if (counted.tcp != nullptr) add_tcp(families, *counted.tcp);
    return families;
}

std::vector<SampleFamily> zone_metrics(const Snapshot& zones) {
    SampleFamily serials{"fairlead_dns_zone_serial", "Serial of the zone as it is served", Kind::gauge, {}};
    SampleFamily names{"fairlead_dns_zone_names", "Names with records in the zone", Kind::gauge, {}};
    for (const auto& apex : zones.zones()) {
        const fairlead::Labels labels{{"zone", apex.host()}};
        if (const auto serial = zones.serial(apex)) serials.samples.push_back({labels, static_cast<double>(*serial)});
        names.samples.push_back({labels, static_cast<double>(zones.names(apex))});
    }
    return {std::move(serials), std::move(names)};
}

SampleFamily set_metrics(const Counted& counted, std::span<const SetLabels> sets) {
    SampleFamily family{
        "fairlead_dns_set_answers_total",
        "Answers from each set with an identifier; sets beyond the first 10,000, and those that are gone, "
        "have one series with * in all labels",
        Kind::counter,
        {}};
    family.samples.reserve(sets.size() + 1);
    std::uint64_t named = 0;
    for (const auto& set : sets) {
        std::uint64_t answers = 0;
        for (const auto* tally : counted.tallies) answers += tally->set_answers(set.counter);
        named += answers;
        family.samples.push_back(
            {{{"zone", set.zone}, {"name", set.name}, {"type", set.type}, {"set_identifier", set.set_identifier}},
             static_cast<double>(answers)});
    }
    std::uint64_t all = 0;
    for (const auto* tally : counted.tallies) all += tally->all_set_answers();
    // Summed after the others, so it is never less.
    if (all > named) {
        family.samples.push_back(
            {{{"zone", "*"}, {"name", "*"}, {"type", "*"}, {"set_identifier", "*"}}, static_cast<double>(all - named)});
    }
    return family;
}

}  // namespace fairlead::dnsserver
