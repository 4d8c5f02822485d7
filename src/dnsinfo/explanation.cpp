#include "dnsinfo/explanation.h"

#include <algorithm>

#include "dns/rdata.h"

namespace fairlead::dnsinfo {

namespace {

std::string_view rcode_text(dns::Rcode rcode) {
    switch (rcode) {
        case dns::Rcode::noerror:
            return "NOERROR";
        case dns::Rcode::servfail:
            return "SERVFAIL";
        case dns::Rcode::nxdomain:
            return "NXDOMAIN";
        case dns::Rcode::refused:
            return "REFUSED";
    }
    return "";
}

std::string_view by_text(Client::By by) {
    switch (by) {
        case Client::By::nothing:
            return "nothing";
        case Client::By::address:
            return "address";
        case Client::By::code:
            return "code";
    }
    return "";
}

json::Array records(const std::vector<dns::Record>& list) {
    json::Array array;
    for (const auto& record : list) {
        array.push_back(json::Object{{"name", record.owner.host()},
                                     {"ttl", record.ttl},
                                     {"type", dns::type_text(record.type)},
                                     {"data", dns::rdata_text(record.type, record.data)}});
    }
    return array;
}

json::Value outcome(const dns::Outcome& one) {
    json::Object object{
        {"probability", one.probability}, {"rcode", rcode_text(one.rcode)}, {"authoritative", one.authoritative}};
    if (const auto ttl = dns::ttl_of(one)) object["ttl"] = *ttl;
    object["answer"] = records(one.answer);
    object["authority"] = records(one.authority);
    object["additional"] = records(one.additional);
    json::Array why;
    for (const auto& line : one.why) why.emplace_back(line);
    object["why"] = std::move(why);
    return object;
}

json::Array data_texts(dns::RecordType type, const std::vector<std::string>& data) {
    json::Array array;
    for (const auto& each : data) array.emplace_back(dns::rdata_text(type, each));
    return array;
}

// What a name on the way is, by how it chooses and how it was chosen: the tree of a Gateway has host, load balancer (by
// place), place (by weight) and cluster; other names are just names.
std::string_view level_of(const dns::Step& one, const dns::Branch* chosen_by) {
    const auto any = [&](const auto& has) { return std::any_of(one.branches.begin(), one.branches.end(), has); };
    if (chosen_by == nullptr) return "host";
    if (any([](const auto& branch) { return branch.geo.has_value(); })) return "loadBalancer";
    if (any([](const auto& branch) { return branch.weight.has_value(); })) return "place";
    return chosen_by->weight ? "cluster" : "name";
}

// Calls itself for each link of a chain: as deep as dns::max_chain.
json::Value step(const dns::Step& one, const dns::Branch* chosen_by) {
    const auto level = level_of(one, chosen_by);
    json::Object object{{"name", one.name.host()}, {"level", level}};
    if (level == "place" && chosen_by->geo) object["place"] = chosen_by->geo->text();
    if (level == "cluster" && !chosen_by->set_identifier.empty()) object["cluster"] = chosen_by->set_identifier;
    if (one.wildcard) object["wildcard"] = one.wildcard->host();
    if (one.type) object["type"] = dns::type_text(*one.type);
    object["why"] = one.why;
    json::Array variants;
    for (const auto& branch : one.branches) {
        json::Object variant;
        if (!branch.set_identifier.empty()) variant["setIdentifier"] = branch.set_identifier;
        if (branch.geo) variant["geo"] = branch.geo->text();
        if (branch.weight) variant["weight"] = *branch.weight;
        variant["ttl"] = branch.ttl;
        variant["data"] = data_texts(*one.type, branch.data);
        if (!branch.unhealthy.empty()) variant["unhealthy"] = data_texts(*one.type, branch.unhealthy);
        variant["share"] = branch.share;
        if (!branch.why_not.empty()) variant["whyNot"] = branch.why_not;
        if (!branch.next.empty()) variant["next"] = step(branch.next.front(), &branch);
        variants.push_back(std::move(variant));
    }
    object["variants"] = std::move(variants);
    return object;
}

json::Value client_of(const Client& client) {
    json::Object object{{"from", client.from},
                        {"foundBy", by_text(client.by)},
                        {"place", json::Object{{"continent", client.place.continent},
                                               {"country", client.place.country},
                                               {"subdivision", client.place.subdivision}}}};
    if (client.network) object["network"] = client.network->text();
    return object;
}

}  // namespace

json::Value explanation(const Explained& explained) {
    const auto& resolution = explained.resolution;
    json::Array outcomes;
    for (const auto& one : resolution.outcomes) outcomes.push_back(outcome(one));
    json::Object object{{"name", explained.question.name.host()}, {"type", dns::type_text(explained.question.type)},
                        {"zone", explained.zone.host()},          {"serial", explained.serial},
                        {"client", client_of(explained.client)},  {"byPlace", resolution.by_place}};
    // What a reply to a client subnet would say: the answer holds for that much of the address.
    if (explained.client.network) object["scope"] = resolution.by_place ? explained.client.network->length : 0U;
    object["complete"] = resolution.complete;
    object["outcomes"] = std::move(outcomes);
    object["way"] = step(resolution.way, nullptr);
    return object;
}

}  // namespace fairlead::dnsinfo
