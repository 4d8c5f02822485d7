// YAML text: limits hold, every document writes back as YAML that reads as the same, and lines stay inside the text.
#include <algorithm>

#include "fuzz.h"
#include "json/yaml.h"

using namespace fairlead;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const json::YamlLimits limits{.max_bytes = 64 * 1024, .max_nodes = 5'000};
    const auto documents = json::parse_yaml(text, limits);
    if (!documents) {
        fuzz::require(!documents.error().message.empty(), "an error says something");
        return 0;
    }
    const auto last_line = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) * 2 + size + 1;
    for (const auto& document : *documents) {
        fuzz::require(!document.value.is_null(), "empty documents are left out");
        for (const auto& [path, line] : document.lines)
            fuzz::require(line >= 1 && line <= last_line, "lines are in the text", path);
        const auto written = json::to_yaml(document.value);
        const auto back = json::parse_yaml(written);
        fuzz::require(back && back->size() == 1 && json::equal(back->front().value, document.value),
                      "parse_yaml(to_yaml(v)) == v", written);
        const auto as_json = json::parse(json::serialize(document.value));
        fuzz::require(as_json && json::equal(*as_json, document.value), "what YAML holds is JSON", written);
    }
    return 0;
}
