// The data of records as people write it: what is accepted is shown in a text that means the same bytes.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dns/name.h"
#include "dns/rdata.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fairlead;
    using dns::RecordType;
    static constexpr std::array types = {RecordType::a,   RecordType::aaaa, RecordType::cname, RecordType::txt,
                                         RecordType::ns,  RecordType::mx,   RecordType::srv,   RecordType::caa,
                                         RecordType::ptr, RecordType::tlsa, RecordType::svcb,  RecordType::https,
                                         RecordType::soa};
    if (size == 0) return 0;
    const auto type = types.at(data[0] % types.size());
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (const auto wire = dns::parse_rdata(type, text)) {
        const auto shown = dns::rdata_text(type, *wire);
        const auto again = dns::parse_rdata(type, shown);
        fuzz::require(again && *again == *wire, "what is shown means the same", shown);
    }
    if (const auto name = dns::Name::parse(text)) {
        const auto again = dns::Name::parse(name->text());
        fuzz::require(again && *again == *name, "a name that is shown is the same name", name->text());
    }
    return 0;
}
