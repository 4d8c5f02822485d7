#include "control/recorder.h"

#include <fmt/core.h>

#include "base/random.h"
#include "base/text.h"

namespace fairlead::control {

namespace {

constexpr std::string_view cluster_namespace = "default";  // where events of objects without a namespace live
constexpr std::size_t max_message_bytes = 1'024;           // the Event kind's own rule
constexpr std::size_t max_reason_bytes = 128;

// No more than `most` bytes, cut where a character begins.
std::string_view cut(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    return text.substr(0, most);
}

std::string namespace_of(const resource::ObjectReference& about) {
    return about.namespace_.empty() ? std::string(cluster_namespace) : about.namespace_;
}

}  // namespace

resource::ObjectReference reference_to(const json::Value& object) {
    resource::ObjectReference reference;
    reference.api_version = json::string_at(object, "apiVersion");
    reference.kind = json::string_at(object, "kind");
    reference.name = json::string_at(object, "metadata.name");
    reference.namespace_ = json::string_at(object, "metadata.namespace");
    reference.uid = json::string_at(object, "metadata.uid");
    reference.resource_version = json::string_at(object, "metadata.resourceVersion");
    return reference;
}

resource::ObjectReference reference_to(const resource::Kind& kind, const resource::ObjectMeta& metadata) {
    resource::ObjectReference reference;
    reference.api_version = kind.api_version();
    reference.kind = kind.name;
    reference.name = metadata.name;
    reference.namespace_ = metadata.namespace_;
    reference.uid = metadata.uid;
    reference.resource_version = metadata.resource_version;
    return reference;
}

EventSink::EventSink(Client client, const resource::Kind& events, const Clock& clock, Random& random, Metrics& metrics,
                     RecorderLimits limits)
    : client_(std::move(client)),
      kind_(events),
      clock_(clock),
      random_(random),
      limits_(limits),
      filter_(clock, limits.spam),
      written_(metrics.counter("fairlead_events_recorded_total", "Events of controllers by what became of them.",
                               {{"result", "written"}})),
      dropped_(metrics.counter("fairlead_events_recorded_total", "Events of controllers by what became of them.",
                               {{"result", "dropped"}})),
      failed_(metrics.counter("fairlead_events_recorded_total", "Events of controllers by what became of them.",
                              {{"result", "failed"}})) {}

void EventSink::add(const resource::ObjectReference& about, std::string_view component, EventType type,
                    std::string_view reason, std::string_view message) {
    if (queue_.size() >= limits_.queued) return dropped_.add();
    Sighting sighting;
    sighting.about = about;
    sighting.component = component;
    sighting.type = type == EventType::normal ? "Normal" : "Warning";
    sighting.reason = cut(reason, max_reason_bytes);
    sighting.message = message;
    sighting.at = clock_.now();
    if (!filter_.admit(sighting)) return dropped_.add();
    sighting.message = std::string(cut(sighting.message, max_message_bytes));
    queue_.push_back(std::move(sighting));
}

bool EventSink::ready() const { return !queue_.empty() && (failures_ == 0 || clock_.monotonic() >= retry_at_); }

std::optional<MonotonicTime> EventSink::due() const {
    if (queue_.empty()) return std::nullopt;
    return failures_ == 0 ? clock_.monotonic() : retry_at_;
}

void EventSink::flush_one() {
    if (queue_.empty()) return;
    auto& sighting = queue_.front();
    const auto result = write(sighting);
    if (result) {
        written_.add();
    } else {
        // What may work later is tried again; anything else (the namespace is going, the event is refused) is not.
        const auto code = result.error().code;
        if ((code == Errc::unavailable || code == Errc::timeout) && ++sighting.attempts < limits_.attempts) {
            retry_at_ = clock_.monotonic() + backoff_.delay(++failures_, random_);
            return;
        }
        failed_.add();
    }
    failures_ = 0;
    queue_.pop_front();
}

Result<void> EventSink::write(const Sighting& sighting) {
    auto* known = filter_.known(sighting.same_key);
    if (!known) return create(sighting);
    json::Value patch;
    json::set_at(patch, "count", known->count + 1);
    json::set_at(patch, "lastTimestamp", json::Value(rfc3339(sighting.at)));
    json::set_at(patch, "message", json::Value(sighting.message));
    const auto patched = client_.merge_patch({&kind_, known->namespace_, known->name}, std::move(patch));
    if (patched) {
        ++known->count;
        return {};
    }
    if (patched.error().code != Errc::not_found) return fail(patched.error());
    filter_.forget(sighting.same_key);  // its time was over
    return create(sighting);
}

std::string EventSink::unique_name(const Sighting& sighting) {
    const auto stamp = std::chrono::duration_cast<std::chrono::nanoseconds>(sighting.at.time_since_epoch()).count();
    last_stamp_ = std::max(last_stamp_ + 1, stamp);
    return fmt::format("{}.{:016x}", sighting.about.name, last_stamp_);
}

Result<void> EventSink::create(const Sighting& sighting) {
    resource::Event event;
    event.metadata.namespace_ = namespace_of(sighting.about);
    event.involved_object = sighting.about;
    event.type = sighting.type;
    event.reason = sighting.reason;
    event.message = sighting.message;
    event.source.component = sighting.component;
    event.reporting_component = sighting.component;
    event.first_timestamp = rfc3339(sighting.at);
    event.last_timestamp = event.first_timestamp;
    event.count = 1;
    // A name can be taken when another process, or we before a restart, wrote about the same object in that moment.
    for (int attempt = 0;; ++attempt) {
        event.metadata.name = unique_name(sighting);
        const auto created =
            client_.create({&kind_, event.metadata.namespace_, event.metadata.name}, new_object(kind_, event));
        if (created) break;
        if (created.error().code != Errc::already_exists || attempt == 3) return fail(created.error());
    }
    filter_.remember(sighting.same_key, {event.metadata.namespace_, event.metadata.name, 1});
    return {};
}

void EventRecorder::normal(const json::Value& object, std::string_view reason, std::string_view message) {
    record(reference_to(object), EventType::normal, reason, message);
}

void EventRecorder::warning(const json::Value& object, std::string_view reason, std::string_view message) {
    record(reference_to(object), EventType::warning, reason, message);
}

void EventRecorder::record(const resource::ObjectReference& about, EventType type, std::string_view reason,
                           std::string_view message) {
    sink_.add(about, component_, type, reason, message);
}

}  // namespace fairlead::control
