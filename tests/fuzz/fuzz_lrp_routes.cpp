// Routes of a DesiredLRP: whatever is read is a name, a port or a record by our rules, and is read the same again; what
// one provider says does not change what another does.
#include <algorithm>

#include "fuzz.h"
#include "lrp/names.h"
#include "lrp/routes.h"

using namespace fairlead;

namespace {

constexpr std::uint16_t ports[] = {4000, 5000};

void check(const lrp::Routes& routes) {
    const auto open = [](std::uint16_t port) { return port == ports[0] || port == ports[1]; };
    for (const auto& route : routes.http) {
        fuzz::require(open(route.port), "a route leads to a port that is open");
        fuzz::require(!route.names.empty(), "a route has names");
        fuzz::require(std::is_sorted(route.names.begin(), route.names.end()), "names are in order");
        for (const auto& name : route.names) {
            const auto again = lrp::read_name(name);
            fuzz::require(again && *again == name, "a name is read the same again", name);
            fuzz::require(lrp::text_of(lrp::key_of(name)) == name, "a name is its key", name);
        }
        fuzz::require(route.route_service.empty() || route.route_service.starts_with("https://"), "services have TLS");
        fuzz::require(route.options.empty() || json::parse(route.options), "options are JSON");
    }
    for (const auto& route : routes.ports) fuzz::require(open(route.port), "a port route leads to a port that is open");
    for (const auto& route : routes.sky) {
        const auto again = lrp::read_host(route.host);
        fuzz::require(open(route.port) && again && *again == route.host, "a record is read the same again", route.host);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto name = lrp::read_name(text)) {
        const auto again = lrp::read_name(*name);
        fuzz::require(again && *again == *name, "a name is read the same again", *name);
    }
    const auto value = json::parse(text);
    if (!value) return 0;
    check(lrp::read_routes(*value, ports));
    for (const auto provider : {lrp::cf_router, lrp::tcp_router, lrp::skydns}) {
        json::Object raw;
        raw[provider] = *value;
        json::Object beside = raw;
        beside[provider == lrp::skydns ? lrp::cf_router : lrp::skydns] = "[";
        const auto alone = lrp::read_routes(raw, ports);
        check(alone);
        const auto both = lrp::read_routes(beside, ports);
        fuzz::require(alone.http == both.http && alone.ports == both.ports && alone.sky == both.sky,
                      "what one provider cannot parse is its own problem");
        if (value->is_string()) continue;
        json::Object quoted;
        quoted[provider] = text;
        fuzz::require(lrp::read_routes(quoted, ports) == alone, "JSON and a string that holds it mean the same");
    }
    return 0;
}
