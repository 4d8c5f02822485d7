// Zone files as anybody may write them: what is accepted is written in a text that means the same zone.
#include "fuzz.h"
#include "provider/zonefile/master_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fairlead;
    namespace zonefile = provider::zonefile;
    if (size > 65'536) return 0;
    static const auto apex = dns::Name::parse("example.com").value_or(dns::Name());
    const auto zone = zonefile::parse_master_file({reinterpret_cast<const char*>(data), size}, apex);
    if (!zone) return 0;
    const auto written = zonefile::master_file_text(*zone, apex, 300);
    const auto again = zonefile::parse_master_file(written, apex);
    fuzz::require(again.has_value(), "what is written can be read", again ? "" : again.error().text() + "\n" + written);
    fuzz::require(again->sets == zone->sets, "what is written is the same zone", written);
    fuzz::require(again->others.size() == zone->others.size(), "records of others stay", written);
    fuzz::require(zonefile::master_file_text(*again, apex, 300) == written, "the same zone is the same text", written);
    return 0;
}
