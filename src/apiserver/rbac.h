// The rules of RBAC as pure functions: what a rule allows, which rules cover which, and how Kubernetes prints those
// that are missing. Used by RoleBook (every request) and by the escalation check (writes of roles and bindings).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/attributes.h"
#include "resource/kinds/rbac.h"

namespace fairlead::apiserver {

using Rule = resource::PolicyRule;

bool allows(const Rule& rule, const Attributes& attributes);

// A small rule can have billions of combinations, and the answer is for a person.
inline constexpr std::size_t max_parts = 10'000;
inline constexpr std::size_t max_missing = 100;

// The parts of `wanted` that no rule of `held` covers, each with one verb and one resource (or path). Empty: all is
// held. Rules that cover a wish only together do so part by part, as in Kubernetes. At most the first max_missing; a
// rule that would take more than max_parts parts to look at counts as not held.
std::vector<Rule> not_covered(std::span<const Rule> held, std::span<const Rule> wanted);

// Everything there is: what a system:masters holds, and what an aggregationRule may come to.
const std::vector<Rule>& every_right();

// `{APIGroups:["g"], Resources:["routes"], Verbs:["get" "list"]}`, one per line, ordered; rules for the same resource
// are merged first.
std::string describe_missing(const std::vector<Rule>& rules);

// `["a" "b"]`, as Go prints a list of strings with %q.
std::string quoted_list(const std::vector<std::string>& texts);
// `"a"` with escapes, as %q.
std::string in_quotes(std::string_view text);

}  // namespace fairlead::apiserver
