// Endpoints and changes as webhooks and files bring them: what is read is written in a text that reads the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz.h"
#include "provider/webhook/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fairlead::provider;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto endpoints = webhook::parse_endpoints(text)) {
        const auto written = webhook::endpoints_text(*endpoints);
        const auto again = webhook::parse_endpoints(written);
        fairlead::fuzz::require(again && *again == *endpoints, "endpoints read the same", written);
    }
    if (const auto changes = webhook::parse_changes(text)) {
        const auto written = webhook::changes_text(*changes);
        const auto again = webhook::parse_changes(written);
        fairlead::fuzz::require(again && *again == *changes, "changes read the same", written);
    }
    (void)webhook::parse_filter(text);
    return 0;
}
