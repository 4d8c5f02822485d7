// Event: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/event.h"

#include <fmt/core.h>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

// kube-apiserver's rule: an event lives where its object lives, in "default" for objects of cluster scope.
void check_namespace(const json::Object& event, const json::Object*, Violations& violations) {
    const auto* involved = object_of(event, "involvedObject");
    const auto* metadata = object_of(event, "metadata");
    if (involved == nullptr || metadata == nullptr) return;
    const auto own = text_of(*metadata, "namespace");
    const auto theirs = text_of(*involved, "namespace");
    if (own.empty()) return;
    if (theirs.empty() ? own != "default" && own != "kube-system" : own != theirs) {
        violations.invalid("involvedObject.namespace", text_value(theirs), "does not match event.namespace");
    }
}

// The first time that is set, of those that writers of different ages use.
std::string_view first_set(const json::Value& event, std::initializer_list<const char*> paths) {
    for (const auto* path : paths) {
        if (const auto found = json::string_at(event, path); !found.empty()) return found;
    }
    return {};
}

json::Value last_seen_cell(const json::Value& event, WallTime now) {
    return text_value(
        age_since(first_set(event, {"series.lastObservedTime", "lastTimestamp", "eventTime", "firstTimestamp"}), now));
}

json::Value first_seen_cell(const json::Value& event, WallTime now) {
    return text_value(age_since(first_set(event, {"firstTimestamp", "eventTime"}), now));
}

json::Value object_cell(const json::Value& event, WallTime) {
    return text_value(fmt::format("{}/{}", lower(json::string_at(event, "involvedObject.kind")),
                                  json::string_at(event, "involvedObject.name")));
}

json::Value source_cell(const json::Value& event, WallTime) {
    std::string component(first_set(event, {"source.component", "reportingComponent"}));
    const auto host = first_set(event, {"source.host", "reportingInstance"});
    return text_value(host.empty() ? component : fmt::format("{}, {}", component, host));
}

json::Value count_cell(const json::Value& event, WallTime) {
    const auto series = json::int_at(event, "series.count");
    return json::Value(series ? *series : json::int_at(event, "count").value_or(1));
}

}  // namespace

void EventSource::describe(Fields<EventSource>& f) {
    f.name("EventSource").doc("Who saw it.").keep_unknown();
    f.field("component", &EventSource::component, "Program that reports.");
    f.field("host", &EventSource::host, "Machine that it reports from.");
}

void EventSeries::describe(Fields<EventSeries>& f) {
    f.name("EventSeries").doc("How often the same thing has happened.").keep_unknown();
    f.field("count", &EventSeries::count, "Number of times so far.").minimum(0);
    f.field("lastObservedTime", &EventSeries::last_observed_time, "When it last happened.").format("date-time");
    f.opaque("state", Type::string, "Whether the series goes on, as Kubernetes 1.18 reported it.");
}

void Event::describe(Fields<Event>& f) {
    f.name("Event").doc("Something that happened to an object. Events tell people; nothing should depend on them.");
    f.keep_unknown();
    f.field("metadata", &Event::metadata, "Name, labels and the server's bookkeeping.").required();
    f.field("involvedObject", &Event::involved_object, "The object that it happened to.").required();
    f.field("reason", &Event::reason, "Why, as one CamelCase word for programs.").length(0, 128);
    f.field("message", &Event::message, "What happened, as a sentence for people.").length(0, 1024);
    f.field("type", &Event::type, "Normal, or Warning when somebody should look.").default_value("Normal");
    f.field("source", &Event::source, "Who saw it.");
    f.field("firstTimestamp", &Event::first_timestamp, "When it first happened.").format("date-time");
    f.field("lastTimestamp", &Event::last_timestamp, "When it last happened.").format("date-time");
    f.field("count", &Event::count, "How often it has happened.").minimum(0);
    f.field("eventTime", &Event::event_time, "When it was first observed, to the microsecond.").format("date-time");
    f.field("series", &Event::series, "Repetitions, as newer reporters count them.");
    f.field("action", &Event::action, "What was done, or failed to be done.").length(0, 128);
    f.field("related", &Event::related, "A second object that took part.");
    f.field("reportingComponent", &Event::reporting_component, "Controller that reports, as newer reporters give it.");
    f.field("reportingInstance", &Event::reporting_instance, "Instance of that controller.").length(0, 128);
    f.rule(check_namespace);
}

Kind event_kind() {
    Kind kind;
    kind.version = "v1";
    kind.name = "Event";
    kind.plural = "events";
    kind.singular = "event";
    kind.short_names = {"ev"};
    kind.status_subresource = false;
    kind.built_in = true;
    kind.schema = object_schema<Event>();
    kind.doc = kind.schema.doc;
    Column name = name_column();
    name.priority = 1;
    Column count = cell_column("Count", "How often it has happened.", count_cell, 1);
    count.type = "integer";
    kind.columns = {cell_column("Last Seen", "Time since it last happened.", last_seen_cell),
                    path_column("Type", "type", "Normal or Warning."),
                    path_column("Reason", "reason", "Why, in one word."),
                    cell_column("Object", "What it happened to.", object_cell),
                    path_column("Subobject", "involvedObject.fieldPath", "Part of the object that is meant.", 1),
                    cell_column("Source", "Who saw it.", source_cell, 1),
                    path_column("Message", "message", "What happened."),
                    cell_column("First Seen", "Time since it first happened.", first_seen_cell, 1),
                    std::move(count),
                    std::move(name)};
    kind.selectable_fields = {"involvedObject.kind",
                              "involvedObject.namespace",
                              "involvedObject.name",
                              "involvedObject.uid",
                              "involvedObject.apiVersion",
                              "involvedObject.resourceVersion",
                              "involvedObject.fieldPath",
                              "reason",
                              "type",
                              "source"};
    return kind;
}

}  // namespace fairlead::resource
