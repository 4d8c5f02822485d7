#include "control/spam_filter.h"

#include <algorithm>

namespace fairlead::control {

namespace {

void append(std::string& key, std::initializer_list<std::string_view> parts) {
    for (const auto part : parts) key.append(part).push_back('\n');
}

std::string object_key(const Sighting& sighting) {
    std::string key;
    const auto& about = sighting.about;
    append(key, {sighting.component, about.api_version, about.kind, about.namespace_, about.name, about.uid});
    return key;
}

}  // namespace

SpamFilter::SpamFilter(const Clock& clock, SpamLimits limits)
    : clock_(clock),
      limits_(limits),
      buckets_(limits.remembered),
      similar_(limits.remembered),
      known_(limits.remembered) {}

bool SpamFilter::admit(Sighting& sighting) {
    const auto now = clock_.monotonic();
    auto key = object_key(sighting);
    auto& bucket = buckets_.get(key);
    if (bucket.filled) {
        const std::chrono::duration<double> passed = now - *bucket.filled;
        bucket.tokens = std::min(
            limits_.burst, bucket.tokens + passed.count() / std::chrono::duration<double>(limits_.refill).count());
    } else {
        bucket.tokens = limits_.burst;
    }
    bucket.filled = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;

    append(key, {sighting.type, sighting.reason});
    auto& similar = similar_.get(key);
    if (similar.last && now - *similar.last > limits_.similar_within) similar.messages.clear();
    similar.last = now;
    if (similar.messages.size() < limits_.similar || similar.messages.contains(sighting.message)) {
        similar.messages.insert(sighting.message);
        append(key, {sighting.message});
    } else {
        sighting.message = "(combined from similar events): " + sighting.message;
    }
    sighting.same_key = std::move(key);
    return true;
}

}  // namespace fairlead::control
