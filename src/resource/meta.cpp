// ObjectMeta and its companions, described, with the documentation texts of Kubernetes in short. Pure.
#include "resource/meta.h"

#include <fmt/core.h>

#include "resource/names.h"
#include "resource/selector.h"

namespace fairlead::resource {

namespace {

json::Value shown(std::string_view text) { return json::Value(json::String(text.data(), text.size())); }

void check_expression(const LabelSelectorRequirement& expression, const std::string& path, Violations& violations) {
    const auto field = [&](std::string_view member) { return fmt::format("{}.{}", path, member); };
    if (const auto broken = broken_qualified_name_rule(expression.key)) {
        violations.invalid(field("key"), shown(expression.key), *broken);
    }
    if (expression.op == "In" || expression.op == "NotIn") {
        if (expression.values.empty()) {
            violations.required(field("values"), "must be specified when `operator` is 'In' or 'NotIn'");
        }
    } else if ((expression.op == "Exists" || expression.op == "DoesNotExist") && !expression.values.empty()) {
        violations.forbidden(field("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
    for (std::size_t i = 0; i < expression.values.size(); ++i) {
        if (const auto broken = broken_label_value_rule(expression.values[i])) {
            violations.invalid(fmt::format("{}[{}]", field("values"), i), shown(expression.values[i]), *broken);
        }
    }
}

// What cannot be read would match nobody: the mistake is told to whoever makes it, in the words of Kubernetes. What is
// stored already may stay, so that the rest of the object can be changed. An unknown operator is the schema's.
void check_selector(const json::Object& written, const json::Object* old, Violations& violations) {
    const auto selector = decode<LabelSelector>(json::Value(written));
    if (!selector) return;
    if (const auto before = old != nullptr ? decode<LabelSelector>(json::Value(*old)) : fail(Errc::not_found, "");
        before && *before == *selector) {
        return;
    }
    const auto whole = Selector::from(*selector);
    if (whole) return;
    if (whole.error().code == Errc::too_large) return violations.invalid("", written, whole.error().message);
    for (const auto& [key, value] : selector->match_labels) {
        if (const auto broken = broken_qualified_name_rule(key)) {
            violations.invalid("matchLabels", shown(key), *broken);
        } else if (const auto bad = broken_label_value_rule(value)) {
            violations.invalid(fmt::format("matchLabels[{}]", key), shown(value), *bad);
        }
    }
    for (std::size_t i = 0; i < selector->match_expressions.size(); ++i) {
        check_expression(selector->match_expressions[i], fmt::format("matchExpressions[{}]", i), violations);
    }
}

}  // namespace

void OwnerReference::describe(Fields<OwnerReference>& f) {
    f.name("OwnerReference").doc("An object that this object depends on; when its last owner goes, this object goes.");
    f.field("apiVersion", &OwnerReference::api_version, "API version of the owner.").required();
    f.field("kind", &OwnerReference::kind, "Kind of the owner.").required();
    f.field("name", &OwnerReference::name, "Name of the owner.").required();
    f.field("uid", &OwnerReference::uid, "UID of the owner.").required();
    f.field("controller", &OwnerReference::controller, "If true, this owner is the managing controller.");
    f.field("blockOwnerDeletion", &OwnerReference::block_owner_deletion,
            "If true, foreground deletion of the owner waits until this object is gone.");
}

void ObjectMeta::describe(Fields<ObjectMeta>& f) {
    f.name("ObjectMeta").doc("Metadata that every stored object has.");
    f.field("name", &ObjectMeta::name, "Name, unique within a namespace. Cannot be changed.");
    f.field("generateName", &ObjectMeta::generate_name,
            "Prefix from which the server makes a unique name if name is not given.");
    f.field("namespace", &ObjectMeta::namespace_, "Namespace that the name is unique in. Cannot be changed.");
    f.field("uid", &ObjectMeta::uid, "Unique in time and space. Set by the server.");
    f.field("resourceVersion", &ObjectMeta::resource_version,
            "Version of this object, to be compared for equality only. Set by the server; when sent in an update, the "
            "update is refused if the object has changed since.");
    f.field("generation", &ObjectMeta::generation, "Counts changes of the desired state. Set by the server.");
    f.field("creationTimestamp", &ObjectMeta::creation_timestamp, "When the object was created. Set by the server.")
        .format("date-time");
    f.field("deletionTimestamp", &ObjectMeta::deletion_timestamp,
            "When deletion was asked for; the object goes once its finalizers are gone. Set by the server.")
        .format("date-time");
    f.field("deletionGracePeriodSeconds", &ObjectMeta::deletion_grace_period_seconds,
            "Seconds that the object has to end by itself. Set by the server.");
    f.field("labels", &ObjectMeta::labels, "Keys and values that selectors match on.");
    f.field("annotations", &ObjectMeta::annotations,
            "Keys and values for tools: not selectable, at most 256 KiB in all.");
    f.field("finalizers", &ObjectMeta::finalizers, "Who must act before a deleted object may go.").set_list();
    f.field("ownerReferences", &ObjectMeta::owner_references, "Objects that this object depends on.").keyed_by({"uid"});
    f.opaque("managedFields", Type::array, "Which manager owns which fields. Kept by the server for apply.");
    f.opaque("selfLink", Type::string, "Deprecated; accepted and ignored.");
}

void Condition::describe(Fields<Condition>& f) {
    f.name("Condition").doc("One aspect of the state of an object.");
    f.field("type", &Condition::type, "Name of the condition, in CamelCase.").required().length(1, 316);
    f.field("status", &Condition::status, "Whether the condition holds.")
        .required()
        .one_of({"True", "False", "Unknown"});
    f.field("observedGeneration", &Condition::observed_generation,
            "The metadata.generation that the condition was computed from.")
        .minimum(0);
    f.field("lastTransitionTime", &Condition::last_transition_time, "When status last changed.")
        .required()
        .format("date-time");
    f.field("reason", &Condition::reason, "Why, as a CamelCase word for programs.").required().length(1, 1024);
    f.field("message", &Condition::message, "Why, as a sentence for people.").required().length(0, 32768);
}

void LabelSelectorRequirement::describe(Fields<LabelSelectorRequirement>& f) {
    f.name("LabelSelectorRequirement").doc("One condition on a label.");
    f.field("key", &LabelSelectorRequirement::key, "Label key.").required();
    f.field("operator", &LabelSelectorRequirement::op, "How the label relates to the values.")
        .required()
        .one_of({"In", "NotIn", "Exists", "DoesNotExist"});
    f.field("values", &LabelSelectorRequirement::values,
            "Values to compare with: at least one for In and NotIn, none for Exists and DoesNotExist.");
}

void LabelSelector::describe(Fields<LabelSelector>& f) {
    f.name("LabelSelector").doc("A query over labels. All conditions must hold; an empty selector matches everything.");
    f.field("matchLabels", &LabelSelector::match_labels, "Labels that must have exactly these values.");
    f.field("matchExpressions", &LabelSelector::match_expressions, "Further conditions on labels.");
    f.rule(check_selector);
}

}  // namespace fairlead::resource
