// fairlead.dev/v1 Maintenance: a time in which some routers may be out of service.
#include "base/text.h"
#include "resource/meta.h"

namespace fairlead::resource {

struct MaintenanceSpec {
    std::string reason, start, end;
    LabelSelector routers;
    std::int32_t at_once = 1;
    bool operator==(const MaintenanceSpec&) const = default;
    static void describe(Fields<MaintenanceSpec>& f);
};

struct MaintenanceStatus {
    std::string phase;
    std::vector<Condition> conditions;
    bool operator==(const MaintenanceStatus&) const = default;
    static void describe(Fields<MaintenanceStatus>& f);
};

struct Maintenance {
    ObjectMeta metadata;
    MaintenanceSpec spec;
    MaintenanceStatus status;
    bool operator==(const Maintenance&) const = default;
    static void describe(Fields<Maintenance>& f);
};

void MaintenanceSpec::describe(Fields<MaintenanceSpec>& f) {
    f.name("MaintenanceSpec").doc("When, and which routers.");
    f.field("reason", &MaintenanceSpec::reason, "Why, for people.").length(0, 256);
    f.field("start", &MaintenanceSpec::start, "When it begins.").required().format("date-time").immutable();
    f.field("end", &MaintenanceSpec::end, "When it is over.").required().format("date-time");
    f.field("routers", &MaintenanceSpec::routers, "Labels of the routers it is for.").required();
    f.field("atOnce", &MaintenanceSpec::at_once, "How many of them may be out at the same time.")
        .range(1, 100)
        .default_value(1);
    // A rule over several fields: runs when each field by itself is right.
    f.rule([](const json::Object& spec, const json::Object*, Violations& violations) {
        const json::Value whole(spec);
        const auto start = from_rfc3339(json::string_at(whole, "start"));
        const auto end = from_rfc3339(json::string_at(whole, "end"));
        if (start && end && *end <= *start) violations.invalid("end", spec.at("end"), "must be after start");
    });
}

void MaintenanceStatus::describe(Fields<MaintenanceStatus>& f) {
    f.name("MaintenanceStatus").doc("How far it has come.");
    f.field("phase", &MaintenanceStatus::phase, "Planned, Running or Done.").one_of({"Planned", "Running", "Done"});
    f.field("conditions", &MaintenanceStatus::conditions, "Why it is in this phase.").keyed_by({"type"});
}

void Maintenance::describe(Fields<Maintenance>& f) {
    f.name("Maintenance").doc("A time in which some routers may be out of service.");
    f.field("metadata", &Maintenance::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &Maintenance::spec, "When, and which routers.").required();
    f.field("status", &Maintenance::status, "How far it has come.");
}

Kind maintenance_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "Maintenance";
    kind.plural = "maintenances";
    kind.singular = "maintenance";
    kind.short_names = {"mnt"};
    kind.categories = {"fairlead"};
    kind.scope = Scope::cluster;
    kind.schema = object_schema<Maintenance>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("Start", "spec.start", "When it begins."),
                    path_column("End", "spec.end", "When it is over."),
                    path_column("Phase", "status.phase", "Planned, Running or Done."),
                    age_column(),
                    path_column("Reason", "spec.reason", "Why.", 1)};
    kind.selectable_fields = {"status.phase"};
    return kind;
}

}  // namespace fairlead::resource
