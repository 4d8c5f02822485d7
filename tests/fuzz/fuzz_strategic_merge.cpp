// Strategic merge patches with merge keys, on any two values separated by 0xFF: no crash, results within the limits,
// the same each time; and where neither lists nor directives play a part, exactly a merge patch.
#include "fuzz.h"
#include "json/patch.h"
#include "resource/strategic_merge.h"

using namespace fairlead;
using resource::Property;
using resource::Schema;
using resource::Type;

namespace {

// {"ports": [...by port, name], "tags": [...a set], "nested": {the same once}, ...}
Schema make_schema(int depth) {
    Schema text;
    text.type = Type::string;
    Schema port;
    port.type = Type::object;
    port.keep_unknown = true;
    port.properties = {Property{"port", true, Schema{}}, Property{"name", false, text}};
    Schema ports;
    ports.type = Type::array;
    ports.items = std::make_shared<const Schema>(port);
    ports.list_map_keys = {"port"};
    Schema tags;
    tags.type = Type::array;
    tags.items = std::make_shared<const Schema>(text);
    tags.set_list = true;
    Schema whole;
    whole.type = Type::object;
    whole.keep_unknown = true;
    whole.properties = {Property{"ports", false, ports}, Property{"tags", false, tags}};
    if (depth > 0) whole.properties.push_back(Property{"nested", false, make_schema(depth - 1)});
    return whole;
}

bool is_plain(const json::Value& value) {
    if (value.is_array()) return false;
    const auto* object = value.if_object();
    if (object == nullptr) return true;
    for (const auto& member : *object) {
        if (member.key().starts_with('$') || !is_plain(member.value())) return false;
    }
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Schema schema = make_schema(2);
    const auto texts = fuzz::parts(data, size, 2);
    const auto target = json::parse(texts[0]);
    const auto patch = json::parse(texts[1]);
    if (!target || !patch || !target->is_object() || !patch->is_object()) return 0;
    const auto merged = resource::strategic_merge(*target, *patch, schema);
    if (!merged) {
        fuzz::require(!merged.error().message.empty(), "an error says something");
        return 0;
    }
    fuzz::require(json::parse(json::serialize(*merged)).has_value(), "a merged value is within the limits");
    const auto same = resource::strategic_merge(*target, *patch, schema);
    fuzz::require(same && json::equal(*same, *merged), "a merge gives the same each time");
    if (is_plain(*patch) && is_plain(*target)) {
        json::Value plain = *target;
        json::merge_patch(plain, *patch);
        fuzz::require(json::equal(plain, *merged), "without lists and directives it is a merge patch",
                      json::serialize(*patch));
    }
    return 0;
}
