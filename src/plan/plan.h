// The planner: what is wanted against what is there, as the changes that lead from one to the other, each with its
// reason, and everything that is left alone with the rule that says so. Same input in any order, same plan. Pure.
//
// Rows are (name in lower-case A-labels, set identifier); A, AAAA and CNAME of one row are judged together, as
// external-dns does. Cost: linear in both lists.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "plan/change.h"
#include "plan/domain_filter.h"

namespace fairlead::plan {

enum class Policy { sync, upsert_only, create_only };
std::optional<Policy> parse_policy(std::string_view text);  // "sync", "upsert-only", "create-only"
std::string_view policy_text(Policy policy);

// Ownership changes hands only by name. Adopt: records of `name` that nobody owns (or `other` does, if given) become
// ours where they are wanted, or in the way of what is. Release: ours become nobody's, and stay. Transfer: ours become
// `other`'s, and stay. Where a name is released or transferred, nothing else is done and nothing is adopted.
struct OwnershipOrder {
    enum class Kind { adopt, release, transfer } kind = Kind::adopt;
    std::string name;
    std::string other;
    bool operator==(const OwnershipOrder&) const = default;
};

struct Options {
    std::string owner;  // ours; empty: ownership does not matter
    Policy policy = Policy::sync;
    std::set<std::string, std::less<>> managed_types{"A", "AAAA", "CNAME"};  // empty: all
    std::set<std::string, std::less<>> excluded_types;                       // wins over managed_types
    DomainFilter filter;
    std::vector<OwnershipOrder> orders;
    // Names for which somebody wants something that cannot be read: nothing of theirs is removed.
    std::set<std::string, std::less<>> unsure_names;
    // Whether records that others have and nobody here wants are named among what is skipped.
    bool tell_foreign = true;
};

struct Plan {
    std::vector<Change> changes;  // by name, set identifier, removals first, type
    std::vector<Skip> skipped;    // by name, set identifier, type
    std::size_t owned = 0;        // how many of the present records are ours, within the filter and types
    [[nodiscard]] bool empty() const { return changes.empty(); }
    [[nodiscard]] std::size_t count(Action action) const;
    bool operator==(const Plan&) const = default;
};

// `present`: records with their owner in the label "owner" (Registry::read gives them so; none: nobody's).
Plan plan(std::span<const dns::Endpoint> present, std::span<const Desired> desired, const Options& options);

// Whether no DNS can hold both at one name: a CNAME beside another type, whatever their identifiers, or a set without
// identifier beside one with, of one type.
bool exclude_each_other(const dns::Endpoint& a, const dns::Endpoint& b);

// Of what the changes do: the same changes, the same text (16 hexadecimal digits).
std::string digest(std::span<const Change> changes);

// The two texts of one name as one: lower case, A-labels, no dot at the end. What cannot be read stays as it is, in
// lower case.
std::string normal_name(std::string_view name);
// Whether both are the same set of targets: without order, addresses by value, names without case and with a dot at
// their end or not. In types whose data is text (TXT, CAA, ...) case counts.
bool same_targets(const dns::Endpoint& a, const dns::Endpoint& b);

}  // namespace fairlead::plan
