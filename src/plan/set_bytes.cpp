#include "plan/set_bytes.h"

#include <cstdint>
#include <cstring>
#include <limits>

namespace fairlead::plan {

inline void SetBytes::put(const void* from, std::size_t count) {
    if (count > most - used_) {
        too_long_ = true;
        return;
    }
    std::memcpy(buffer_.data() + used_, from, count);
    used_ += count;
}

// With its length before it, so that no two lists of texts give the same bytes.
inline void SetBytes::put(std::string_view text) {
    const auto size = static_cast<unsigned char>(text.size());
    put(&size, 1);
    put(text.data(), text.size());
}

std::string_view SetBytes::of(std::string_view normal_name, const dns::Endpoint& endpoint) {
    used_ = 0;
    too_long_ = endpoint.targets.size() > most;
    const std::int64_t ttl = endpoint.ttl.value_or(std::numeric_limits<std::int64_t>::min());
    const auto targets = static_cast<unsigned char>(endpoint.targets.size());
    put(normal_name);
    put(&ttl, sizeof(ttl));
    put(&targets, 1);
    put(endpoint.record_type);
    put(endpoint.set_identifier);
    for (const auto& target : endpoint.targets) put(target);
    for (const auto& property : endpoint.properties) {
        put(property.name);
        put(property.value);
    }
    return too_long_ ? std::string_view() : std::string_view(buffer_.data(), used_);
}

}  // namespace fairlead::plan
