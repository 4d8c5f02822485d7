// Replies of name servers: whatever comes, it ends, and what is taken can be shown and read again. The first byte says
// how the rest is cut into the messages of a transfer.
#include "base/clock.h"
#include "dns/message_reader.h"
#include "dns/rdata.h"
#include "fuzz.h"
#include "provider/rfc2136/session.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fairlead;
    namespace rfc2136 = provider::rfc2136;
    if (size < 1 || size > 65'536) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    static const auto apex = dns::Name::parse("example.com").value_or(dns::Name());
    static const dns::TsigKey key{apex, dns::TsigAlgorithm::hmac_sha256, "a secret that the fuzzer cannot guess"};
    const ManualClock clock;

    const std::size_t step = 1 + data[0] * std::size_t{8};
    rfc2136::TransferReader transfer(apex);
    rfc2136::TransferEnd end;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        const auto packet = bytes.substr(at, step);
        (void)end.reached(packet);
        rfc2136::ReplyReader reply(0, 0, dns::TsigReplies(key, std::string(32, 'm')));
        fuzz::require(!reply.take(packet, clock.now()), "nobody can sign without the key");
        const auto message = dns::read_message(packet);
        if (!message) continue;
        (void)transfer.take(*message, [](const dns::WireRecord& record) {
            if (!record.known) return;
            const auto type = static_cast<dns::RecordType>(record.type);
            const auto again = dns::parse_rdata(type, dns::rdata_text(type, record.data));
            fuzz::require(again && *again == record.data, "what is taken means the same in text");
        });
    }
    return 0;
}
