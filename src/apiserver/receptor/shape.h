// LRPs between the two forms: spec of our kinds, and the Receptor's JSON. Members in the Receptor's order; routes in
// the bytes that were sent. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/receptor/operation.h"
#include "base/result.h"
#include "json/value.h"

namespace fairlead::apiserver::receptor {

// --- out ---
// Of the spec of a DesiredLRP or ActualLRP; appended.
void append_desired(const json::Object& spec, View view, std::string& out);
void append_actual(const json::Object& spec, View view, std::string& out);

// Whether a change of one into the other matters to those who see this view. Null: it was not there, or is no more.
bool desired_differs(const json::Object& before, const json::Object& after, View view);
bool actual_concerns(const json::Object* before, const json::Object* after, View view);

// --- in ---
// An object. Errors: invalid, naming the body, the place in it and the rule.
Result<json::Value> parse_body(std::string_view body);
// Spec of a DesiredLRP from a create request; members that nobody knows are left out. Errors: invalid, in the words of
// a decoder ("instances: must be a whole number").
Result<json::Object> read_desired(std::string_view body);
// "Invalid field: F" for each rule of the Receptor that a spec breaks, joined by ", "; "" if it keeps them all.
std::string broken_desired_rules(const json::Object& spec);

// What an update may change; the others are dropped silently.
struct DesiredUpdate {
    std::optional<std::int64_t> instances;
    std::optional<std::string> annotation;
    std::optional<std::string> routes;  // as written; "{}" clears
};
Result<DesiredUpdate> read_update(std::string_view body);
// Applies it to a spec.
void update_desired(json::Object& spec, const DesiredUpdate& update);

// Spec of an ActualLRP from the Receptor's form; `process_guid`, `index` and `domain` may be missing.
Result<json::Object> read_actual(const json::Value& lrp);

}  // namespace fairlead::apiserver::receptor
