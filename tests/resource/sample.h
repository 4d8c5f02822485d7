// A described struct with every member type, and a kind made of it: what the tests of this folder work on.
#pragma once

#include <gtest/gtest.h>

#include "resource/describe.h"
#include "resource/kind.h"
#include "resource/meta.h"

namespace fairlead::resource::test {

inline json::Value parsed(std::string_view text) {
    auto value = json::parse(text);
    if (!value) ADD_FAILURE() << value.error().text() << " in " << text;
    return value.value_or(json::Value(nullptr));
}

struct Port {
    std::int32_t number = 0;
    std::string protocol;
    std::optional<std::string> alias;
    bool operator==(const Port&) const = default;
    static void describe(Fields<Port>& f) {
        f.name("SamplePort").doc("A port.");
        f.field("number", &Port::number, "Number of the port.").required().range(1, 65535);
        f.field("protocol", &Port::protocol, "Transport.").one_of({"TCP", "UDP"}).default_value("TCP");
        f.field("alias", &Port::alias, "Another name.").immutable();
    }
};

struct Backend {
    std::string service;
    std::optional<std::int64_t> weight;
    bool operator==(const Backend&) const = default;
    static void describe(Fields<Backend>& f) {
        f.name("SampleBackend").doc("Where requests go. Others add members to it.").keep_unknown();
        f.field("service", &Backend::service, "Name of the service.").required();
        f.field("weight", &Backend::weight, "Share of the requests.").range(0, 100);
    }
};

struct SampleSpec {
    std::string host;
    bool enabled = false;
    std::int32_t replicas = 1;
    std::int64_t serial = 0;
    double ratio = 0;
    Quantity bandwidth;
    json::Value extra;
    std::optional<std::string> note;
    std::optional<bool> drained;
    std::vector<std::string> zones;
    std::vector<Port> ports;
    std::vector<Backend> backends;
    std::map<std::string, std::string> selector;
    std::map<std::string, Backend> named;
    std::optional<Backend> fallback;
    json::Value target;
    std::string secret, started;
    bool operator==(const SampleSpec&) const = default;
    static void describe(Fields<SampleSpec>& f) {
        f.name("SampleSpec").doc("What is wanted.");
        f.field("host", &SampleSpec::host, "Host name.").required().length(1, 20).pattern("^[a-z][a-z0-9.-]*$");
        f.field("enabled", &SampleSpec::enabled, "Whether it runs.");
        f.field("replicas", &SampleSpec::replicas, "How many.").range(0, 100).default_value(1);
        f.field("serial", &SampleSpec::serial, "A large number.");
        f.field("ratio", &SampleSpec::ratio, "A fraction.").range(0, 1);
        f.field("bandwidth", &SampleSpec::bandwidth, "How much.");
        f.field("extra", &SampleSpec::extra, "Anything.");
        f.field("note", &SampleSpec::note, "A note.");
        f.field("drained", &SampleSpec::drained, "Whether it is empty.");
        f.field("zones", &SampleSpec::zones, "Where.").set_list().items(0, 3).length(1, 8);
        f.field("ports", &SampleSpec::ports, "Ports.").keyed_by({"number", "protocol"});
        f.field("backends", &SampleSpec::backends, "Backends.");
        f.field("selector", &SampleSpec::selector, "Labels.").items(0, 2);
        f.field("named", &SampleSpec::named, "Backends by name.");
        f.field("fallback", &SampleSpec::fallback, "Used when all else fails.");
        f.field("target", &SampleSpec::target, "A port.").int_or_string();
        f.field("secret", &SampleSpec::secret, "Bytes.").format("byte");
        f.field("started", &SampleSpec::started, "When.").format("date-time");
        f.rule([](const json::Object& spec, const json::Object* old, Violations& violations) {
            const json::Value* host = spec.if_contains("host");
            const json::Value* note = spec.if_contains("note");
            if (host != nullptr && note != nullptr && *host == *note) {
                violations.invalid("note", *note, "must differ from host");
            }
            if (old != nullptr && old->contains("drained") && !spec.contains("drained")) {
                violations.forbidden("drained", "may not be removed");
            }
        });
    }
};

struct SampleStatus {
    std::string phase;
    std::vector<Condition> conditions;
    bool operator==(const SampleStatus&) const = default;
    static void describe(Fields<SampleStatus>& f) {
        f.name("SampleStatus").doc("What is.");
        f.field("phase", &SampleStatus::phase, "Phase.");
        f.field("conditions", &SampleStatus::conditions, "State.").keyed_by({"type"});
    }
};

struct Sample {
    ObjectMeta metadata;
    SampleSpec spec;
    SampleStatus status;
    bool operator==(const Sample&) const = default;
    static void describe(Fields<Sample>& f) {
        f.name("Sample").doc("A sample.");
        f.field("metadata", &Sample::metadata, "Name and labels.");
        f.field("spec", &Sample::spec, "What this sample asks for.").required();
        f.field("status", &Sample::status, "What is.");
    }
};

inline Kind sample_kind() {
    Kind kind;
    kind.group = "example.fairlead.dev";
    kind.version = "v1";
    kind.name = "Sample";
    kind.plural = "samples";
    kind.singular = "sample";
    kind.short_names = {"sa"};
    kind.doc = "A sample.";
    kind.schema = object_schema<Sample>();
    kind.columns = {name_column(), path_column("Host", "spec.host", "Host name."), age_column()};
    kind.selectable_fields = {"spec.host", "spec.replicas", "status.phase"};
    return kind;
}

}  // namespace fairlead::resource::test
