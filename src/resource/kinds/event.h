// v1 Event: something that happened to an object and that a person would ask about.
#pragma once

#include "resource/kinds/references.h"
#include "resource/meta.h"

namespace fairlead::resource {

struct EventSource {
    std::string component, host;
    bool operator==(const EventSource&) const = default;
    static void describe(Fields<EventSource>& f);
};

struct EventSeries {
    std::int32_t count = 0;
    std::string last_observed_time;
    bool operator==(const EventSeries&) const = default;
    static void describe(Fields<EventSeries>& f);
};

struct Event {
    ObjectMeta metadata;
    ObjectReference involved_object;
    std::string reason, message, type, first_timestamp, last_timestamp, event_time;
    EventSource source;
    std::optional<std::int32_t> count;
    std::optional<EventSeries> series;
    std::string action, reporting_component, reporting_instance;
    std::optional<ObjectReference> related;
    bool operator==(const Event&) const = default;
    static void describe(Fields<Event>& f);
};

Kind event_kind();

}  // namespace fairlead::resource
