#include "dnsserver/message.h"

#include "dns/address.h"

namespace fairlead::dnsserver {

std::string subnet_option(std::string_view address, unsigned length) {
    const auto parsed = dns::Address::parse(address);
    EXPECT_TRUE(parsed) << address;
    const std::size_t bytes = (length + 7) / 8;
    std::string out;
    dns::put16(out, 8);
    dns::put16(out, static_cast<unsigned>(4 + bytes));
    dns::put16(out, parsed->v6 ? 2 : 1);
    dns::put8(out, length);
    dns::put8(out, 0);
    out.append(reinterpret_cast<const char*>(parsed->bytes.data()), bytes);
    return out;
}

}  // namespace fairlead::dnsserver
