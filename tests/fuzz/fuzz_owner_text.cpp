// Ownership texts as anybody may write them into a zone: what is read can be written again and means the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "fuzz.h"
#include "plan/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fairlead;
    constexpr std::string_view key = "0123456789abcdef0123456789abcdef";
    const auto parts = fuzz::parts(data, size, 3);
    const auto target = parts[0];
    if (const auto text = plan::parse_owner_text(target, key); text && plan::plain_value(text->owner)) {
        const auto written = plan::owner_text(*text);
        const auto again = plan::parse_owner_text(written, "");
        fuzz::require(again.has_value(), "what is written is an ownership text", written);
        fuzz::require(plan::owner_text(*again) == written, "and written the same again", written);
    }
    SeededRandom random(1);
    plan::RegistryOptions options;
    options.owner = "me";
    options.wildcard_replacement = "any";
    const auto registry = plan::Registry::make(options, random);
    const dns::Endpoint txt{std::string(parts[1]), "TXT", {}, {}, {}, {std::string(target)}, {}};
    const dns::Endpoint record{std::string(parts[2]), "A", {}, {}, {}, {"192.0.2.1"}, {}};
    const auto read = registry->read({txt, record});
    fuzz::require(read.records().size() + read.ownership().size() >= 2, "nothing gets lost");
    (void)registry->repair(read);
    (void)registry->subjects(txt);
    (void)registry->ownership_names(record.dns_name);
    return 0;
}
