// Answers of Route 53: whatever arrives is an error or values that keep their promises, and a set that can be written
// is read back the same.
#include "fuzz.h"
#include "provider/route53/batch.h"
#include "provider/route53/xml.h"

using namespace fairlead;
namespace route53 = fairlead::provider::route53;

namespace {

void check_sets(const route53::RecordSets& page) {
    const route53::Terms terms{"example.com", "ZOWN", 300, false};
    fuzz::require(!page.truncated || !page.next_name.empty(), "a page that is not the last names the next");
    for (const auto& set : page.sets) {
        fuzz::require(!set.name.empty() && !set.type.empty(), "a set has a name and a type");
        const auto endpoint = route53::endpoint_of(set, terms);
        const auto ours = route53::record_set_of(endpoint, terms);
        if (!ours) continue;
        const auto canonical = route53::endpoint_of(*ours, terms);
        const auto again = route53::record_set_of(canonical, terms);
        fuzz::require(again && *again == *ours, "a canonical endpoint is what its set is read as", set.name);
        const route53::SetChange change{route53::SetChange::Action::create, *ours};
        fuzz::require(!route53::change_batch_xml({&change, 1}).empty(), "what can be expressed can be written");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view xml(reinterpret_cast<const char*>(data), size);
    if (const auto page = route53::parse_record_sets(xml)) check_sets(*page);
    if (const auto zones = route53::parse_hosted_zones(xml)) {
        for (const auto& zone : zones->zones) fuzz::require(!zone.id.empty(), "a hosted zone has an id");
    }
    if (const auto zone = route53::parse_hosted_zone(xml)) fuzz::require(!zone->id.empty(), "a hosted zone has an id");
    if (const auto info = route53::parse_change_info(xml)) fuzz::require(!info->id.empty(), "a change has an id");
    const auto error = route53::parse_error(xml);
    route53::Work work;
    work.names = {"www.example.com"};
    const std::vector<const route53::Work*> works{&work};
    (void)route53::blamed(works, error.messages);
    for (const auto& message : error.messages) {
        fuzz::require(route53::outcome_of(message).state != provider::Outcome::State::applied,
                      "an error is no success");
    }
    return 0;
}
