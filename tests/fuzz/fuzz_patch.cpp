// Patches on any three values, separated by 0xFF: merge patches are idempotent, a JSON patch is all or nothing and
// stays within the depth limit, and a three-way patch leaves nothing to do.
#include "fuzz.h"
#include "json/patch.h"

using namespace fairlead;

namespace {

bool has_null(const json::Value& value) {
    const auto* object = value.if_object();
    if (object == nullptr) return value.is_null();
    for (const auto& member : *object) {
        if (has_null(member.value())) return true;
    }
    return false;
}

void check_three_way(const json::Value& original, const json::Value& modified, const json::Value& current) {
    const auto patch = json::three_way_patch(original, modified, current);
    json::Value result = current;
    json::merge_patch(result, patch);
    const auto once_more = json::three_way_patch(original, modified, result);
    fuzz::require(json::serialize(once_more) == "{}", "a three-way patch leaves nothing to do",
                  json::serialize(patch) + "\n" + json::serialize(once_more));
    // What nobody but the server set is still there.
    for (const auto& member : current.get_object()) {
        const bool ours = (original.is_object() && original.get_object().contains(member.key())) ||
                          modified.get_object().contains(member.key());
        const auto* kept = result.get_object().if_contains(member.key());
        fuzz::require(ours || (kept != nullptr && json::equal(*kept, member.value())), "others' members stay",
                      json::serialize(patch));
    }
    for (const auto& member : modified.get_object()) {
        if (has_null(member.value()) || member.value().is_object()) continue;
        const auto* now = result.get_object().if_contains(member.key());
        fuzz::require(now != nullptr && json::equal(*now, member.value()), "what is wanted is there",
                      json::serialize(patch));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto texts = fuzz::parts(data, size, 3);
    const auto target = json::parse(texts[0]);
    const auto patch = json::parse(texts[1]);
    if (!target || !patch) return 0;

    json::Value merged = *target;
    json::merge_patch(merged, *patch);
    json::Value again = merged;
    json::merge_patch(again, *patch);
    fuzz::require(json::equal(merged, again), "a merge patch is idempotent", json::serialize(*patch));

    if (patch->is_array()) {
        const auto patched = json::json_patch(*target, *patch);
        if (patched) {
            fuzz::require(json::parse(json::serialize(*patched)).has_value(), "a patched value is within the limits");
            const auto same = json::json_patch(*target, *patch);
            fuzz::require(same && json::equal(*same, *patched), "a JSON patch gives the same each time");
        }
    }
    const auto third = json::parse(texts[2]);
    if (third && target->is_object() && patch->is_object() && third->is_object())
        check_three_way(*third, *patch, *target);
    return 0;
}
