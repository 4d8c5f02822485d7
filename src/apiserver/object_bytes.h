// The stored form of an object: compact JSON that begins with apiVersion, kind and metadata, and whose
// metadata.resourceVersion the store fills in when it commits. GET, LIST and WATCH send these bytes as they are; they
// are parsed only where selectors, tables or partial metadata need it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/status.h"
#include "json/value.h"
#include "resource/kind.h"
#include "store/store.h"

namespace fairlead::apiserver {

// Text of the object with the members in their canonical order; `revision` empty leaves resourceVersion out.
std::string object_text(const json::Value& object, std::string_view revision, std::string_view managed_fields = {});
// The same, ready for a commit that puts the revision in. `managed_fields`: the text of metadata.managedFields, for
// objects that do not hold them themselves.
store::Value stored_form(const json::Value& object, std::string_view managed_fields = {});
// The last state that watchers of a removal see: the stored bytes, to be given the removal's revision.
store::Value last_state(const store::Object& object);
// The stored bytes with another revision.
std::string with_revision(const store::Object& object, store::Revision revision);

// Bytes that we wrote, so a failure means that the store gave us something else.
Outcome<json::Value> parse_object(const store::Object& object);

// What stands before "metadata" in the stored bytes and is left out of list items of built-in kinds.
std::string type_prefix(const resource::Kind& kind);
void append_list_item(const store::Object& object, const resource::Kind& kind, std::string_view prefix,
                      std::string& out);

// "namespace/name" or "name".
std::string store_name(const resource::Kind& kind, std::string_view ns, std::string_view name);
store::Key store_key(const resource::Kind& kind, std::string_view ns, std::string_view name);

bool being_deleted(const json::Value& object);
// The metadata object, made if there is none. The value must be an object.
json::Object& metadata_of(json::Value& object);

}  // namespace fairlead::apiserver
