// metav1.Table and metav1.PartialObjectMetadata: what `kubectl get` and metadata informers ask for instead of objects.
// Appends text; pure.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/media.h"
#include "base/clock.h"
#include "json/value.h"
#include "resource/kind.h"

namespace fairlead::apiserver {

// `[{"name":"Name",...},...]`
std::string column_definitions(const resource::Kind& kind);
void append_row(const json::Value& object, const resource::Kind& kind, const Form& form, WallTime now,
                std::string& out);
void append_partial_metadata(const json::Value& object, const Form& form, std::string& out);

// A table of one row. Watches leave the columns out of all events but the first.
std::string table_of(const json::Value& object, const resource::Kind& kind, const Form& form, WallTime now,
                     bool with_columns);
// A table without rows that only carries a revision: a bookmark.
std::string empty_table(const Form& form, std::string_view revision);

// One object in the form that was asked for. `text` is its stored form.
std::string render(std::string text, const resource::Kind& kind, const Form& form, WallTime now);

}  // namespace fairlead::apiserver
