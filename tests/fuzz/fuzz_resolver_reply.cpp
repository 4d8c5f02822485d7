// Replies of resolvers, and resolv.conf: whatever comes, it ends, and what is taken are addresses. The input is a
// packet without its id, which the question's is put before: a fuzzer would hardly guess it.
#include "dns/address.h"
#include "fuzz.h"
#include "lookup/question.h"
#include "lookup/stub_resolver.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fairlead;
    if (size > 65'533) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    static const auto host = dns::Name::parse("www.example").value_or(dns::Name());

    for (const auto type : {dns::RecordType::a, dns::RecordType::aaaa}) {
        const lookup::Question question{0, host, type};
        const auto reply = lookup::read_reply(question, std::string(2, '\0').append(bytes));
        if (!reply) continue;
        fuzz::require(reply->addresses.empty() || (reply->rcode == 0 && !reply->truncated), "errors have no addresses");
        for (const auto& text : reply->addresses) {
            fuzz::require(dns::Address::parse(text).has_value(), "what is taken is an address", text);
        }
    }
    const auto settings = lookup::parse_resolv_conf(bytes);
    fuzz::require(!settings.servers.empty() && settings.servers.size() <= 8, "there is somebody to ask, not too many");
    fuzz::require(settings.attempts >= 1 && settings.attempts <= 5, "attempts within their limits");
    fuzz::require(settings.timeout.count() >= 1'000 && settings.timeout.count() <= 5'000, "time within its limits");
    return 0;
}
