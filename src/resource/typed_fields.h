// Objects seen through their schema, as server-side apply sees them: which fields an object has, which differ between
// two, how an applied configuration is merged into a live object, how given-up fields leave it. As
// structured-merge-diff of Kubernetes: objects and maps field by field, lists item by item if they are maps or sets,
// whole otherwise; members that are not described are maps all the way down. Pure; used by managed_fields.h.
#pragma once

#include "resource/field_set.h"
#include "resource/schema.h"

namespace fairlead::resource {

// The fields that a configuration sets.
FieldSet fields_of(const json::Value& config, const Schema& schema);

struct Comparison {
    FieldSet changed;  // added, or with another value
    FieldSet removed;
    [[nodiscard]] bool same() const { return changed.empty() && removed.empty(); }
};
// `before` null: there was nothing. The order of lists that are maps or sets does not count.
Comparison compare(const json::Value* before, const json::Value& after, const Schema& schema);

// `config` over `live`. Items of lists that are maps or sets come in the order of `config`, the others keep their
// place.
json::Value merge_config(const json::Value& live, const json::Value& config, const Schema& schema);

// Takes out what is in `given_up` and in `managed` no more. A field of a struct counts as managed if anything below it
// is; an item of a list or map only if it is managed itself.
void remove_unmanaged(json::Value& object, const Schema& schema, const FieldSet& given_up, const FieldSet& managed);

// What makes a configuration impossible to merge: members that the schema does not know, items without key or with the
// key of another item. Texts as Kubernetes words them, the first hundred.
std::vector<std::string> untypable(const json::Value& config, const Schema& schema);

}  // namespace fairlead::resource
