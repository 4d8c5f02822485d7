// JSON text: whatever parses, writes back to something that parses to the same, compact and pretty, and never deeper
// than the limit; its parts as they were written say the same.
#include "fuzz.h"
#include "json/exact.h"
#include "json/value.h"

using namespace fairlead;

namespace {
std::size_t depth(const json::Value& value) {
    std::size_t below = 0;
    if (const auto* object = value.if_object()) {
        for (const auto& member : *object) below = std::max(below, depth(member.value()));
        return below + 1;
    }
    if (const auto* array = value.if_array()) {
        for (const auto& item : *array) below = std::max(below, depth(item));
        return below + 1;
    }
    return 0;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto value = json::parse(text);
    if (!value) {
        fuzz::require(value.error().code == Errc::invalid, "an error of the text is Errc::invalid",
                      value.error().text());
        return 0;
    }
    fuzz::require(depth(*value) <= json::max_depth, "the depth limit holds");
    const auto compact = json::serialize(*value);
    const auto back = json::parse(compact);
    fuzz::require(back && json::equal(*back, *value), "parse(serialize(v)) == v", compact);
    fuzz::require(json::serialize(*back) == compact, "serialize is stable", compact);
    const auto exact = json::compact(text);
    const auto same = json::parse(exact);
    fuzz::require(same && json::serialize(*same) == compact, "compact() keeps what a text says", exact);
    if (const auto* object = value->if_object()) {
        for (const auto& member : *object) {
            const auto part = json::parse(json::text_at(text, {member.key().data(), member.key().size()}));
            fuzz::require(part && json::serialize(*part) == json::serialize(member.value()), "text_at() finds members",
                          exact);
        }
    }
    const auto shown = json::parse(json::pretty(*value));
    fuzz::require(shown && json::equal(*shown, *value), "parse(pretty(v)) == v", compact);
    return 0;
}
