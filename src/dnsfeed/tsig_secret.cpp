#include "dnsfeed/tsig_secret.h"

#include <fmt/core.h>

#include "base/text.h"
#include "json/value.h"

namespace fairlead::dnsfeed {

namespace {

// The decoded value under a key of Secret.data; empty if there is none.
Result<std::string> data_of(const json::Value& secret, std::string_view key) {
    const auto* data = json::find(secret, "data");
    const auto* members = data != nullptr ? data->if_object() : nullptr;
    const auto* value = members != nullptr ? members->if_contains(key) : nullptr;
    if (value == nullptr) return std::string();
    auto bytes = value->is_string() ? from_base64(json::view(value->get_string())) : std::nullopt;
    if (!bytes) return fail(Errc::invalid, fmt::format("data[{}]", key), "is no base64");
    return std::string(trim(*bytes));
}

}  // namespace

Result<dns::TsigKey> tsig_key_of(const store::Object& secret) {
    const auto value = json::parse(secret.value());
    if (!value) return fail(Errc::invalid, "it cannot be read");
    auto name = data_of(*value, "name");
    if (!name) return fail(name.error());
    if (name->empty()) *name = secret.name().substr(secret.name().rfind('/') + 1);
    const auto algorithm = data_of(*value, "algorithm");
    if (!algorithm) return fail(algorithm.error());
    const auto text = data_of(*value, "secret");
    if (!text) return fail(text.error());
    return dns::tsig_key_of(*name, *algorithm, *text);
}

}  // namespace fairlead::dnsfeed
