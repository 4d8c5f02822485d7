#include "dnsinfo/client.h"

#include <fmt/core.h>

namespace fairlead::dnsinfo {

namespace {

// A place from its code alone.
dns::Place place_of(const dns::GeoCode& code) {
    switch (code.level) {
        case dns::GeoLevel::everywhere:
            return {};
        case dns::GeoLevel::continent:
            return {code.code, "", ""};
        case dns::GeoLevel::country:
            return {"", code.code, ""};
        case dns::GeoLevel::subdivision:
            return {"", code.code.substr(0, 2), code.code};
    }
    return {};
}

dns::Prefix network_around(const dns::Address& address, unsigned length) {
    dns::Prefix network{address, length};
    for (unsigned i = length; i < address.bits(); ++i) {
        network.address.bytes.at(i / 8) &= static_cast<unsigned char>(~(0x80U >> (i % 8)));
    }
    return network;
}

}  // namespace

Result<Client> find_client(std::string_view from, const geo::Table* places) {
    Client client;
    client.from = from;
    if (from.empty()) return client;
    if (const auto address = dns::Address::parse(from)) {
        client.by = Client::By::address;
        if (places == nullptr) {
            client.network = network_around(*address, 0);
            return client;
        }
        client.place = places->place_of(*address);
        client.network = network_around(*address, places->find(*address).scope);
        return client;
    }
    const auto code = dns::GeoCode::parse(from);
    if (!code) {
        return fail(Errc::invalid, "from",
                    fmt::format("\"{}\" is neither an IP address nor a place (DE, US-CA, GEO-EU, *)", from));
    }
    client.by = Client::By::code;
    client.place = places == nullptr ? place_of(*code) : places->place_of(*code);
    return client;
}

}  // namespace fairlead::dnsinfo
