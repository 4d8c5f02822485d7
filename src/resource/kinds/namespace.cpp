// Namespace: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/namespace.h"

#include "resource/kinds/rules.h"

namespace fairlead::resource {

void NamespaceSpec::describe(Fields<NamespaceSpec>& f) {
    f.name("NamespaceSpec").doc("What must be done before the namespace may go.").keep_unknown();
    f.field("finalizers", &NamespaceSpec::finalizers,
            "Names of those who still have to clean up; the namespace is removed when the list is empty.");
}

void NamespaceStatus::describe(Fields<NamespaceStatus>& f) {
    f.name("NamespaceStatus").doc("State of the namespace.").keep_unknown();
    f.field("phase", &NamespaceStatus::phase, "Active, or Terminating once it is being deleted with its content.")
        .one_of({"Active", "Terminating"})
        .default_value("Active");
    f.field("conditions", &NamespaceStatus::conditions, "What holds up a deletion, if anything.").keyed_by({"type"});
}

void Namespace::describe(Fields<Namespace>& f) {
    f.name("Namespace").doc("A room for objects: names are unique per kind and namespace.").keep_unknown();
    f.field("metadata", &Namespace::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &Namespace::spec, "Conditions of its removal.");
    f.field("status", &Namespace::status, "State of the namespace.").default_value(json::Object{{"phase", "Active"}});
}

namespace {

// A namespace is usable from its first moment, and selectable by name (as Kubernetes 1.21 and later label it).
void admit_namespace(json::Value& object, const json::Value* old, Violations& violations) {
    if (!object.is_object()) return;
    const bool deleted = !json::string_at(object, "metadata.deletionTimestamp").empty();
    if (old != nullptr && !deleted && json::string_at(object, "status.phase") == "Terminating") {
        violations.invalid("status.phase", text_value("Terminating"),
                           "may only be 'Active' if `deletionTimestamp` is empty");
    }
    if (old != nullptr) return;
    json::set_at(object, "status", json::Object{{"phase", "Active"}});
    const auto name = json::string_at(object, "metadata.name");
    if (name.empty()) return;
    auto label = text_value(name);
    auto& metadata = object.at("metadata").as_object();
    auto& labels = metadata["labels"];
    if (labels.is_null()) labels = json::Object{};
    if (auto* map = labels.if_object()) (*map)["kubernetes.io/metadata.name"] = std::move(label);
}

}  // namespace

Kind namespace_kind() {
    Kind kind;
    kind.version = "v1";
    kind.name = "Namespace";
    kind.plural = "namespaces";
    kind.singular = "namespace";
    kind.short_names = {"ns"};
    kind.scope = Scope::cluster;
    kind.built_in = true;
    kind.name_rule = Kind::NameRule::label;
    kind.schema = object_schema<Namespace>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), path_column("Status", "status.phase", "Active or Terminating."), age_column()};
    kind.selectable_fields = {"status.phase"};
    kind.admit = admit_namespace;
    return kind;
}

}  // namespace fairlead::resource
