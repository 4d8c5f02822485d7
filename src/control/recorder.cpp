#include "control/recorder.h"

#include <fmt/core.h>

#include <iterator>
#include <set>
#include <utility>

#include "base/random.h"
#include "base/text.h"

namespace fairlead::control {

namespace {

constexpr std::string_view cluster_namespace = "default";  // where events of objects without a namespace live
constexpr std::size_t max_message_bytes = 1'024;           // the Event kind's own rule
constexpr std::size_t max_reason_bytes = 128;
constexpr std::size_t created_at_once = 16;

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

void EventSink::flush() {
    if (queue_.empty()) return;
    const auto counted = count_up(queue_.front());
    if (!counted) return create_some();
    if (conclude(queue_.front(), *counted)) queue_.pop_front();
}

bool EventSink::conclude(Sighting& sighting, const Result<void>& result) {
    if (result) {
        written_.add();
    } else {
        // What may work later is tried again; anything else (the namespace is going, the event is refused) is not.
        const auto code = result.error().code;
        if ((code == Errc::unavailable || code == Errc::timeout) && ++sighting.attempts < limits_.attempts) {
            retry_at_ = clock_.monotonic() + backoff_.delay(++failures_, random_);
            return false;
        }
        failed_.add();
    }
    failures_ = 0;
    return true;
}

std::optional<Result<void>> EventSink::count_up(const Sighting& sighting) {
    auto* known = filter_.known(sighting.same_key);
    if (!known) return std::nullopt;
    json::Value patch;
    json::set_at(patch, "count", known->count + 1);
    json::set_at(patch, "lastTimestamp", json::Value(rfc3339(sighting.at)));
    json::set_at(patch, "message", json::Value(sighting.message));
    const auto patched = client_.merge_patch({&kind_, known->namespace_, known->name}, std::move(patch));
    if (patched) {
        ++known->count;
        return Result<void>();
    }
    if (patched.error().code != Errc::not_found) return Result<void>(fail(patched.error()));
    filter_.forget(sighting.same_key);  // its time was over
    return std::nullopt;
}

// The first, and those behind it that are new as well. The same twice is one that is counted up when its turn comes.
void EventSink::create_some() {
    std::vector<Request> requests;
    std::set<std::string_view> same;
    for (const auto& sighting : queue_) {
        const bool is_new = filter_.known(sighting.same_key) == nullptr && same.insert(sighting.same_key).second;
        if (!is_new || requests.size() == created_at_once) break;
        requests.push_back(creation(sighting));
    }
    std::vector<ObjectId> names;
    names.reserve(requests.size());
    for (const auto& request : requests) names.push_back(request.object);
    auto answers = client_.write_all(std::move(requests));
    // Those that have to wait stay at the front, in their order.
    std::deque<Sighting> waiting;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        auto sighting = std::move(queue_.front());
        queue_.pop_front();
        auto& answer = answers[i];
        // A name can be taken when another process, or we before a restart, wrote about the same object in that moment.
        for (int attempt = 0; attempt < 3 && !answer && answer.error().code == Errc::already_exists; ++attempt) {
            auto again = creation(sighting);
            names[i] = again.object;
            answer = client_.create(names[i], std::move(again.body));
        }
        if (answer) filter_.remember(sighting.same_key, {names[i].namespace_, names[i].name, 1});
        if (!conclude(sighting, answer ? Result<void>() : fail(answer.error()))) waiting.push_back(std::move(sighting));
    }
    if (!waiting.empty() && failures_ == 0) retry_at_ = clock_.monotonic() + backoff_.delay(++failures_, random_);
    queue_.insert(queue_.begin(), std::make_move_iterator(waiting.begin()), std::make_move_iterator(waiting.end()));
}

std::string EventSink::unique_name(const Sighting& sighting) {
    const auto stamp = std::chrono::duration_cast<std::chrono::nanoseconds>(sighting.at.time_since_epoch()).count();
    last_stamp_ = std::max(last_stamp_ + 1, stamp);
    return fmt::format("{}.{:016x}", sighting.about.name, last_stamp_);
}

Request EventSink::creation(const Sighting& sighting) {
    resource::Event event;
    event.metadata.namespace_ = namespace_of(sighting.about);
    event.metadata.name = unique_name(sighting);
    event.involved_object = sighting.about;
    event.type = sighting.type;
    event.reason = sighting.reason;
    event.message = sighting.message;
    event.source.component = sighting.component;
    event.reporting_component = sighting.component;
    event.first_timestamp = rfc3339(sighting.at);
    event.last_timestamp = event.first_timestamp;
    event.count = 1;
    Request request;
    request.verb = Verb::create;
    request.object = {&kind_, event.metadata.namespace_, event.metadata.name};
    request.body = new_object(kind_, event);
    return request;
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
