// FieldsV1 comes back from clients in managedFields: parsing must never crash, and what is accepted must be written the
// same way ever after and obey the algebra that ownership is computed with.
#include "fuzz.h"
#include "resource/field_set.h"

using namespace fairlead;
using resource::FieldSet;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto value = json::parse(text);
    if (!value) return 0;
    const auto set = resource::parse_field_set(*value);
    if (!set) return 0;
    const auto written = resource::to_value(*set);
    const auto again = resource::parse_field_set(written);
    fuzz::require(again.has_value(), "what we write we read", std::string(text));
    fuzz::require(*again == *set, "a set survives its text", json::serialize(written));
    fuzz::require(json::serialize(resource::to_value(*again)) == json::serialize(written), "one text for one set",
                  std::string(text));
    fuzz::require(resource::subtract(*set, *set).empty(), "nothing is left of a set without itself", std::string(text));
    fuzz::require(resource::unite(*set, *again) == *set, "union with itself", std::string(text));
    fuzz::require(resource::intersect(*set, *again) == *set, "intersection with itself", std::string(text));
    fuzz::require(set->paths().size() == set->size(), "every path is shown", std::string(text));
    return 0;
}
