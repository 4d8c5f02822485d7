#include "apiserver/filter.h"

#include "apiserver/object_bytes.h"

namespace fairlead::apiserver {

namespace {

bool pins_only(const resource::Selector& fields) {
    for (const auto& requirement : fields.requirements()) {
        if (requirement.op != resource::SelectorOp::equals) return false;
        if (requirement.key != "metadata.name" && requirement.key != "metadata.namespace") return false;
    }
    return true;
}

}  // namespace

Outcome<Filter> Filter::make(const resource::Kind& kind, std::string_view ns, std::string_view name,
                             const QueryOptions& options) {
    Filter filter;
    filter.kind_ = &kind;
    if (!options.label_selector.empty()) {
        auto labels = resource::Selector::parse_labels(options.label_selector);
        if (!labels) return refuse(bad_request(labels.error().message));
        filter.labels_ = std::move(*labels);
    }
    if (!options.field_selector.empty()) {
        auto fields = resource::Selector::parse_fields(options.field_selector, kind);
        if (!fields) return refuse(bad_request(fields.error().message));
        filter.name_ = fields->pinned("metadata.name");
        filter.namespace_ = fields->pinned("metadata.namespace");
        if (!pins_only(*fields)) filter.fields_ = std::move(*fields);
    }
    if (!name.empty()) {
        if (filter.name_ && *filter.name_ != name) {
            return refuse(bad_request("fieldSelector metadata.name doesn't match requested name"));
        }
        filter.name_ = name;
    }
    const bool namespaced = kind.scope == resource::Scope::namespaced;
    if (namespaced && !ns.empty()) filter.prefix_ = std::string(ns) + "/";
    if (namespaced && ns.empty() && filter.namespace_) filter.prefix_ = *filter.namespace_ + "/";
    if (filter.name_ && (!namespaced || !filter.prefix_.empty())) filter.only_ = filter.prefix_ + *filter.name_;
    return filter;
}

bool Filter::matches(const store::Object& object, SelectableMemory* memory) const {
    const auto full = object.name();
    if (only_ && full != *only_) return false;
    if (!full.starts_with(prefix_)) return false;
    if (name_ || namespace_) {
        const auto slash = full.find('/');
        const auto ns = slash == std::string_view::npos ? std::string_view() : full.substr(0, slash);
        const auto name = slash == std::string_view::npos ? full : full.substr(slash + 1);
        if (name_ && name != *name_) return false;
        if (namespace_ && ns != *namespace_) return false;
    }
    if (!needs_object()) return true;
    if (memory != nullptr) {
        const auto known = memory->of(*kind_, object);
        return known && labels_.matches_labels(known->labels) && fields_.matches_fields(known->fields);
    }
    const auto value = parse_object(object);
    return value && labels_.matches_labels(*value) && fields_.matches_fields(*value);
}

}  // namespace fairlead::apiserver
