#include "proxy/gorouter/messages.h"

#include <fmt/core.h>

#include "json/value.h"

namespace fairlead::proxy::gorouter {

namespace {

constexpr std::int64_t max_interval = 3600;  // more would be a mistake: names would be gone for as long
constexpr std::size_t max_hello_values = 1'000;

}  // namespace

std::string mark_text(std::string_view mark, std::string_view domain) { return fmt::format("{}/{}", mark, domain); }

std::optional<std::string_view> domain_of(std::string_view tag, std::string_view mark) {
    if (mark.empty() || !tag.starts_with(mark)) return std::nullopt;
    tag.remove_prefix(mark.size());
    if (!tag.starts_with('/')) return std::nullopt;
    return tag.substr(1);
}

Result<RouterHello> parse_hello(std::string_view body) {
    const auto value = json::parse(body, max_hello_values);
    if (!value) return fail(value.error());
    if (!value->is_object()) return fail(Errc::invalid, "what a router says is no JSON object");
    RouterHello hello;
    hello.id = json::string_at(*value, "id");
    if (hello.id.empty()) return fail(Errc::invalid, "id", "a router must have one");
    const auto interval = json::int_at(*value, "minimumRegisterIntervalInSeconds");
    if (!interval || *interval < 1 || *interval > max_interval) {
        return fail(Errc::invalid, "minimumRegisterIntervalInSeconds",
                    interval ? fmt::format("{} is outside 1..{}", *interval, max_interval) : "must be a number");
    }
    hello.interval = std::chrono::seconds(*interval);
    const auto prune = json::int_at(*value, "pruneThresholdInSeconds").value_or(0);
    hello.prune_threshold = std::chrono::seconds(prune > 0 ? prune : 0);
    return hello;
}

}  // namespace fairlead::proxy::gorouter
