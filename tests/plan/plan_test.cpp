// The rules of the planner, one row each: what is there, what is wanted, and the plan as lines.
#include "plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "zone.h"

namespace fairlead::plan {
namespace {

using Lines = std::vector<std::string>;

struct Row {
    const char* name;
    std::vector<Spelled> present, desired;
    Lines expected;
    Options options;
};

Options owner(std::string name) {
    Options options;
    options.owner = std::move(name);
    return options;
}
Options with_policy(Policy policy) {
    auto options = owner("me");
    options.policy = policy;
    return options;
}
Options ordered_to(OwnershipOrder::Kind kind, std::string name, std::string other = {}, Policy policy = Policy::sync) {
    auto options = owner("me");
    options.orders.push_back({kind, std::move(name), std::move(other)});
    options.policy = policy;
    return options;
}
Options types(std::set<std::string, std::less<>> managed, std::set<std::string, std::less<>> excluded = {}) {
    Options options;
    options.managed_types = std::move(managed);
    options.excluded_types = std::move(excluded);
    return options;
}
Options unsure(std::string name) {
    auto options = owner("me");
    options.unsure_names.insert(std::move(name));
    return options;
}
Options filtered(std::vector<std::string> include, std::vector<std::string> exclude = {}) {
    Options options;
    options.filter = DomainFilter::of_lists(std::move(include), std::move(exclude)).value();
    return options;
}

std::vector<dns::Endpoint> endpoints(const std::vector<Spelled>& spelled) {
    std::vector<dns::Endpoint> made;
    for (const auto& each : spelled) made.push_back(endpoint(each));
    return made;
}
std::vector<Desired> wishes(const std::vector<Spelled>& spelled) {
    std::vector<Desired> made;
    for (const auto& each : spelled) made.push_back({endpoint(each), {}});
    return made;
}

class Rules : public testing::TestWithParam<Row> {};
TEST_P(Rules, Plan) {
    const auto& row = GetParam();
    EXPECT_EQ(lines(plan(endpoints(row.present), wishes(row.desired), row.options)), row.expected);
}
std::string row_name(const testing::TestParamInfo<Row>& info) { return info.param.name; }

const Spelled a1{.name = "www.x", .type = "A", .targets = "192.0.2.1"};
const Spelled a2{.name = "www.x", .type = "A", .targets = "192.0.2.2"};
const Spelled aaaa{.name = "www.x", .type = "AAAA", .targets = "2001:db8::1"};
const Spelled cname{.name = "www.x", .type = "CNAME", .targets = "lb.y"};

Spelled of(Spelled spelled, std::string owner_id) {
    spelled.owner = std::move(owner_id);
    return spelled;
}
Spelled in(Spelled spelled, std::string set) {
    spelled.set = std::move(set);
    return spelled;
}
Spelled from(Spelled spelled, std::string resource) {
    spelled.resource = std::move(resource);
    return spelled;
}
Spelled lasting(Spelled spelled, std::int64_t ttl) {
    spelled.ttl = ttl;
    return spelled;
}
Spelled with(Spelled spelled, std::vector<dns::Property> properties) {
    spelled.properties = std::move(properties);
    return spelled;
}
Spelled named(Spelled spelled, std::string name) {
    spelled.name = std::move(name);
    return spelled;
}
Spelled to(Spelled spelled, std::string targets) {
    spelled.targets = std::move(targets);
    return spelled;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Rules,
    testing::Values(
        Row{"nothing", {}, {}, {}, {}},
        Row{"free_row_gets_one_create_per_type",
            {},
            {aaaa, a1},
            {"+ A www.x 192.0.2.1 Missing", "+ AAAA www.x 2001:db8::1 Missing"},
            {}},
        Row{"row_without_candidate_goes",
            {a1, aaaa},
            {},
            {"- A www.x 192.0.2.1 NotWanted", "- AAAA www.x 2001:db8::1 NotWanted"},
            {}},
        Row{"per_type_in_a_row",
            {a1, aaaa},
            {a2, with(a1, {})},
            {"- AAAA www.x 2001:db8::1 NotWanted", "! A www.x 192.0.2.2 Conflict"},
            {}},
        Row{"same", {a1, aaaa}, {aaaa, a1}, {}, {}},
        Row{"targets_differ", {a1}, {a2}, {"~ A www.x 192.0.2.1 -> 192.0.2.2 Differs"}, {}},
        Row{"targets_in_another_order", {to(a1, "192.0.2.1,192.0.2.2")}, {to(a1, "192.0.2.2,192.0.2.1")}, {}, {}},
        Row{"a_target_twice_is_once", {a1}, {to(a1, "192.0.2.1,192.0.2.1")}, {}, {}},
        Row{"targets_without_case_and_dot", {cname}, {to(cname, "LB.y.")}, {}, {}},
        Row{"ipv6_by_value", {aaaa}, {to(aaaa, "2001:DB8:0::0001")}, {}, {}},
        Row{"text_with_case",
            {{.name = "t.x", .type = "TXT", .targets = "abc"}},
            {{.name = "t.x", .type = "TXT", .targets = "ABC"}},
            {"~ TXT t.x abc -> ABC Differs"},
            types({"TXT"})},
        Row{"ttl_not_wanted", {lasting(a1, 300)}, {a1}, {}, {}},
        Row{"ttl_wanted", {lasting(a1, 300)}, {lasting(a1, 60)}, {"~ A www.x 192.0.2.1 -> 192.0.2.1 Differs"}, {}},
        Row{"ttl_where_none_was", {a1}, {lasting(a1, 60)}, {"~ A www.x 192.0.2.1 -> 192.0.2.1 Differs"}, {}},
        Row{"property_value",
            {with(a1, {{"aws/weight", "1"}})},
            {with(a1, {{"aws/weight", "2"}})},
            {"~ A www.x 192.0.2.1 -> 192.0.2.1 Differs"},
            {}},
        Row{"property_missing",
            {with(a1, {{"aws/weight", "1"}})},
            {a1},
            {"~ A www.x 192.0.2.1 -> 192.0.2.1 Differs"},
            {}},
        Row{"property_extra", {a1}, {with(a1, {{"x", ""}})}, {"~ A www.x 192.0.2.1 -> 192.0.2.1 Differs"}, {}},
        Row{"properties_in_another_order",
            {with(a1, {{"a", "1"}, {"b", "2"}})},
            {with(a1, {{"b", "2"}, {"a", "1"}})},
            {},
            {}},
        Row{"type_change", {cname}, {a1}, {"- CNAME www.x lb.y TypeChange", "+ A www.x 192.0.2.1 TypeChange"}, {}},
        Row{"type_change_to_cname",
            {a1, aaaa},
            {cname},
            {"- A www.x 192.0.2.1 TypeChange", "- AAAA www.x 2001:db8::1 TypeChange", "+ CNAME www.x lb.y TypeChange"},
            {}},
        Row{"cname_beside_others_is_dropped",
            {},
            {cname, a1, aaaa},
            {"+ A www.x 192.0.2.1 Missing", "+ AAAA www.x 2001:db8::1 Missing", "! CNAME www.x lb.y Conflict"},
            {}},
        Row{"stored_cname_beside_others_goes",
            {cname},
            {cname, a1},
            {"- CNAME www.x lb.y TypeChange", "+ A www.x 192.0.2.1 TypeChange", "! CNAME www.x lb.y Conflict"},
            {}},
        Row{"cname_beside_others_across_sets",
            {},
            {in(cname, "a"), in(a1, "b")},
            {"+ A www.x [b] 192.0.2.1 Missing", "! CNAME www.x [a] lb.y Conflict"},
            {}},
        Row{"mail_beside_cname",
            {{.name = "www.x", .type = "MX", .targets = "10 mx.y"}},
            {cname},
            {"! CNAME www.x lb.y Conflict"},
            {}},
        Row{"name_in_other_spelling",
            {named(a1, "WWW.X.")},
            {named(a2, "www.x")},
            {"~ A WWW.X. 192.0.2.1 -> 192.0.2.2 Differs"},
            {}},
        Row{"name_in_unicode", {named(a1, "xn--bcher-kva.x")}, {named(a1, "BÜCHER.x.")}, {}, {}},
        Row{"wildcard_in_unicode", {named(a1, "*.xn--bcher-kva.x")}, {named(a1, "*.bücher.x")}, {}, {}},
        Row{"name_that_is_none",
            {},
            {named(a1, "a..x"), named(a1, std::string(64, 'a') + ".x")},
            {"! A a..x 192.0.2.1 Invalid", "! A " + std::string(64, 'a') + ".x 192.0.2.1 Invalid"},
            {}},
        Row{"no_targets", {}, {to(a1, "")}, {"! A www.x  Invalid"}, {}},
        Row{"listed_twice", {a1, a2}, {a1}, {"= A www.x 192.0.2.2 Duplicate"}, {}},
        Row{"in_order_of_names",
            {named(a1, "d.x"), named(a1, "b.x")},
            {named(a1, "c.x"), named(a1, "a.x")},
            {"+ A a.x 192.0.2.1 Missing", "- A b.x 192.0.2.1 NotWanted", "+ A c.x 192.0.2.1 Missing",
             "- A d.x 192.0.2.1 NotWanted"},
            {}}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Filters, Rules,
    testing::Values(
        Row{"types_that_are_not_managed",
            {{.name = "m.x", .type = "MX", .targets = "10 a.x"}},
            {{.name = "n.x", .type = "MX", .targets = "10 a.x"}, a1},
            {"+ A www.x 192.0.2.1 Missing", "! MX n.x 10 a.x NotManagedType"},
            {}},
        Row{"all_types",
            {{.name = "m.x", .type = "MX", .targets = "10 a.x"}},
            {a1},
            {"- MX m.x 10 a.x NotWanted", "+ A www.x 192.0.2.1 Missing"},
            types({})},
        Row{"excluded_wins", {a1}, {aaaa}, {"! AAAA www.x 2001:db8::1 NotManagedType"}, types({"AAAA"}, {"AAAA"})},
        Row{"domain_filter",
            {named(a1, "old.y")},
            {named(a1, "in.x"), named(a1, "out.y")},
            {"+ A in.x 192.0.2.1 Missing", "! A out.y 192.0.2.1 Filtered"},
            filtered({"x"})},
        Row{"domain_filter_by_exclusion",
            {named(a1, "old.no.x"), named(a1, "old.x")},
            {named(a1, "a.no.x")},
            {"- A old.x 192.0.2.1 NotWanted", "! A a.no.x 192.0.2.1 Filtered"},
            filtered({"x"}, {"no.x"})}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Owners, Rules,
    testing::Values(
        Row{"no_owner_id_means_all_are_ours",
            {of(a1, "other"), named(a1, "b.x")},
            {a2},
            {"- A b.x 192.0.2.1 NotWanted", "~ A www.x 192.0.2.1 -> 192.0.2.2 Differs"},
            {}},
        Row{"updates_only_of_ours",
            {of(a1, "me"), of(named(a1, "b.x"), "other"), named(a1, "c.x")},
            {a2, named(a2, "b.x"), named(a2, "c.x")},
            {"~ A www.x 192.0.2.1 -> 192.0.2.2 Differs", "! A b.x 192.0.2.2 OwnedByOther",
             "! A c.x 192.0.2.2 NotOwned"},
            owner("me")},
        Row{"deletes_only_of_ours",
            {of(a1, "me"), of(named(a1, "b.x"), "other"), named(a1, "c.x")},
            {},
            {"- A www.x 192.0.2.1 NotWanted", "= A b.x 192.0.2.1 OwnedByOther", "= A c.x 192.0.2.1 NotOwned"},
            owner("me")},
        Row{"equal_but_not_ours", {of(a1, "other")}, {a1}, {"! A www.x 192.0.2.1 OwnedByOther"}, owner("me")},
        Row{"create_on_a_row_that_is_ours",
            {of(a1, "me")},
            {a1, aaaa},
            {"+ AAAA www.x 2001:db8::1 Missing"},
            owner("me")},
        Row{"create_on_a_row_that_is_not",
            {of(a1, "me"), of(aaaa, "other")},
            {a1, {.name = "www.x", .type = "MX", .targets = "10 m.x"}},
            {"= AAAA www.x 2001:db8::1 OwnedByOther", "! MX www.x 10 m.x OwnedByOther"},
            [] {
                auto options = owner("me");
                options.managed_types = {"A", "AAAA", "MX"};
                return options;
            }()},
        Row{"records_of_other_types_do_not_take_a_row",
            {{.name = "www.x", .type = "MX", .targets = "10 m.x", .owner = "other"}},
            {a1},
            {"+ A www.x 192.0.2.1 Missing"},
            owner("me")},
        Row{"anothers_set_does_not_block_ours",
            {of(in(a1, "global/eu"), "other")},
            {in(a2, "global/us")},
            {"+ A www.x [global/us] 192.0.2.2 Missing", "= A www.x [global/eu] 192.0.2.1 OwnedByOther"},
            owner("me")},
        Row{"anothers_plain_set_excludes_ours",
            {of(a1, "other")},
            {in(a2, "global/us")},
            {"= A www.x 192.0.2.1 OwnedByOther", "! A www.x [global/us] 192.0.2.2 Conflict"},
            owner("me")},
        Row{"anothers_cname_excludes_ours_across_sets",
            {of(in(cname, "global/eu"), "other"), of(in(cname, "global/us"), "me")},
            {in(cname, "global/us"), in(a2, "global/x")},
            {"= CNAME www.x [global/eu] lb.y OwnedByOther", "! A www.x [global/x] 192.0.2.2 Conflict"},
            owner("me")},
        Row{"type_change_of_anothers",
            {of(cname, "other")},
            {a1},
            {"! A www.x 192.0.2.1 OwnedByOther", "= CNAME www.x lb.y OwnedByOther"},
            owner("me")}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Policies, Rules,
    testing::Values(
        Row{"upsert_only",
            {of(a1, "me"), of(named(a1, "b.x"), "me")},
            {a2, named(a1, "c.x")},
            {"+ A c.x 192.0.2.1 Missing", "~ A www.x 192.0.2.1 -> 192.0.2.2 Differs", "= A b.x 192.0.2.1 Policy"},
            with_policy(Policy::upsert_only)},
        Row{"upsert_only_keeps_no_half_of_a_type_change",
            {of(cname, "me")},
            {a1},
            {"! A www.x 192.0.2.1 Policy", "= CNAME www.x lb.y Policy"},
            with_policy(Policy::upsert_only)},
        Row{"upsert_only_keeps_no_half_of_a_set_change",
            {of(a1, "me")},
            {in(a1, "cluster/a")},
            {"= A www.x 192.0.2.1 Policy", "! A www.x [cluster/a] 192.0.2.1 Policy"},
            with_policy(Policy::upsert_only)},
        Row{"upsert_only_creates_beside_what_does_not_mind",
            {of(a1, "me")},
            {aaaa},
            {"+ AAAA www.x 2001:db8::1 Missing", "= A www.x 192.0.2.1 Policy"},
            with_policy(Policy::upsert_only)},
        Row{"create_only",
            {of(a1, "me"), of(named(a1, "b.x"), "me")},
            {a2, named(a1, "c.x")},
            {"+ A c.x 192.0.2.1 Missing", "= A b.x 192.0.2.1 Policy", "! A www.x 192.0.2.2 Policy"},
            with_policy(Policy::create_only)},
        Row{"unsure_name",
            {of(a1, "me"), of(aaaa, "me")},
            {a2},
            {"~ A www.x 192.0.2.1 -> 192.0.2.2 Differs", "= AAAA www.x 2001:db8::1 SourceFailed"},
            unsure("WWW.x.")},
        Row{"unsure_name_and_a_type_change",
            {of(cname, "me")},
            {a1},
            {"! A www.x 192.0.2.1 SourceFailed", "= CNAME www.x lb.y SourceFailed"},
            unsure("www.x")},
        Row{"unsure_name_may_get_what_it_lacks", {}, {a1}, {"+ A www.x 192.0.2.1 Missing"}, unsure("www.x")}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Conflicts, Rules,
    testing::Values(Row{"fewer_targets",
                        {},
                        {to(a1, "192.0.2.1,192.0.2.2"), to(a1, "192.0.2.9")},
                        {"+ A www.x 192.0.2.9 Missing", "! A www.x 192.0.2.1,192.0.2.2 Conflict"},
                        {}},
                    Row{"addresses_by_number",
                        {},
                        {to(a1, "10.0.0.10"), to(a1, "10.0.0.9")},
                        {"+ A www.x 10.0.0.9 Missing", "! A www.x 10.0.0.10 Conflict"},
                        {}},
                    Row{"addresses_before_names",
                        {},
                        {to(a1, "a.alias.y"), to(a1, "203.0.113.1")},
                        {"+ A www.x 203.0.113.1 Missing", "! A www.x a.alias.y Conflict"},
                        {}},
                    Row{"names_by_text",
                        {},
                        {to(cname, "b.y"), to(cname, "A.y")},
                        {"+ CNAME www.x A.y Missing", "! CNAME www.x b.y Conflict"},
                        {}},
                    Row{"holder_keeps_it",
                        {of(from(a2, "service/default/b"), "me")},
                        {from(a1, "service/default/a"), from(a2, "service/default/b")},
                        {"! A www.x 192.0.2.1 Conflict"},
                        owner("me")},
                    Row{"holder_keeps_it_with_other_targets",
                        {of(from(a2, "service/default/b"), "me")},
                        {from(a1, "service/default/a"), from(to(a2, "192.0.2.3"), "service/default/b")},
                        {"~ A www.x 192.0.2.2 -> 192.0.2.3 Differs", "! A www.x 192.0.2.1 Conflict"},
                        owner("me")},
                    Row{"holder_is_gone",
                        {of(from(a2, "service/default/c"), "me")},
                        {from(a2, "service/default/b"), from(a1, "service/default/a")},
                        {"~ A www.x 192.0.2.2 -> 192.0.2.1 Differs", "! A www.x 192.0.2.2 Conflict"},
                        owner("me")},
                    Row{"plain_against_identified_by_what_is_there",
                        {of(in(a2, "cluster/a"), "me")},
                        {a1, in(a2, "cluster/a"), in(a2, "cluster/b")},
                        {"+ A www.x [cluster/b] 192.0.2.2 Missing", "! A www.x 192.0.2.1 Conflict"},
                        owner("me")},
                    Row{"plain_against_identified_by_targets",
                        {},
                        {a1, in(a2, "cluster/a")},
                        {"+ A www.x 192.0.2.1 Missing", "! A www.x [cluster/a] 192.0.2.2 Conflict"},
                        owner("me")}),
    row_name);

// Cases of the seed: several records of one name, told apart by identifier.
const Spelled blue = with(in(a1, "cluster/blue"), {{"weight", "1"}});
const Spelled green = with(in(a2, "cluster/green"), {{"weight", "2"}});
INSTANTIATE_TEST_SUITE_P(
    Weights, Rules,
    testing::Values(
        Row{"several_identifiers",
            {},
            {green, blue},
            {"+ A www.x [cluster/blue] 192.0.2.1 Missing", "+ A www.x [cluster/green] 192.0.2.2 Missing"},
            owner("me")},
        Row{"one_more", {of(blue, "me")}, {blue, green}, {"+ A www.x [cluster/green] 192.0.2.2 Missing"}, owner("me")},
        Row{"one_less",
            {of(blue, "me"), of(green, "me")},
            {blue},
            {"- A www.x [cluster/green] 192.0.2.2 NotWanted"},
            owner("me")},
        Row{"weight_moves",
            {of(blue, "me"), of(green, "me")},
            {with(blue, {{"weight", "5"}}), green},
            {"~ A www.x [cluster/blue] 192.0.2.1 -> 192.0.2.1 Differs"},
            owner("me")},
        Row{"the_only_identifier_is_renamed",
            {of(blue, "me")},
            {in(blue, "cluster/red")},
            {"- A www.x [cluster/blue] 192.0.2.1 NotWanted", "+ A www.x [cluster/red] 192.0.2.1 Missing"},
            owner("me")},
        Row{"weights_begin",
            {of(a1, "me")},
            {blue, green},
            {"- A www.x 192.0.2.1 SetChange", "+ A www.x [cluster/blue] 192.0.2.1 SetChange",
             "+ A www.x [cluster/green] 192.0.2.2 SetChange"},
            owner("me")},
        Row{"weights_end",
            {of(blue, "me"), of(green, "me")},
            {a1},
            {"+ A www.x 192.0.2.1 SetChange", "- A www.x [cluster/blue] 192.0.2.1 SetChange",
             "- A www.x [cluster/green] 192.0.2.2 SetChange"},
            owner("me")},
        Row{"global_scope_has_several_owners",
            {of(in(a1, "global/eu"), "eu"), of(in(a2, "global/us"), "us")},
            {to(in(a2, "global/us"), "192.0.2.3")},
            {"~ A www.x [global/us] 192.0.2.2 -> 192.0.2.3 Differs", "= A www.x [global/eu] 192.0.2.1 OwnedByOther"},
            owner("us")},
        Row{"anothers_identifier_is_his",
            {of(in(a1, "global/eu"), "eu")},
            {in(a2, "global/eu")},
            {"! A www.x [global/eu] 192.0.2.2 OwnedByOther"},
            owner("us")}),
    row_name);

using Kind = OwnershipOrder::Kind;
INSTANTIATE_TEST_SUITE_P(
    Orders, Rules,
    testing::Values(
        Row{"adopt_what_is_equal",
            {a1},
            {a1},
            {"~ A www.x 192.0.2.1 -> 192.0.2.1 Adopted"},
            ordered_to(Kind::adopt, "WWW.x")},
        Row{"adopt_what_differs",
            {a1},
            {a2},
            {"~ A www.x 192.0.2.1 -> 192.0.2.2 Adopted"},
            ordered_to(Kind::adopt, "www.x")},
        Row{"adopt_touches_no_owner",
            {of(a1, "other")},
            {a1},
            {"! A www.x 192.0.2.1 OwnedByOther"},
            ordered_to(Kind::adopt, "www.x")},
        Row{"adopt_from_an_owner",
            {of(a1, "other")},
            {a1},
            {"~ A www.x 192.0.2.1 -> 192.0.2.1 Adopted"},
            ordered_to(Kind::adopt, "www.x", "other")},
        Row{"adopt_from_another_owner",
            {of(a1, "third")},
            {a1},
            {"! A www.x 192.0.2.1 OwnedByOther"},
            ordered_to(Kind::adopt, "www.x", "other")},
        Row{"adopt_is_no_deletion",
            {a1, aaaa},
            {a1},
            {"~ A www.x 192.0.2.1 -> 192.0.2.1 Adopted", "= AAAA www.x 2001:db8::1 NotWanted"},
            ordered_to(Kind::adopt, "www.x")},
        Row{"adopt_and_change_the_type",
            {cname},
            {a1},
            {"- CNAME www.x lb.y TypeChange", "+ A www.x 192.0.2.1 TypeChange"},
            ordered_to(Kind::adopt, "www.x")},
        Row{"adopt_by_name_only",
            {a1, named(a1, "b.x")},
            {a1, named(a1, "b.x")},
            {"~ A www.x 192.0.2.1 -> 192.0.2.1 Adopted", "! A b.x 192.0.2.1 NotOwned"},
            ordered_to(Kind::adopt, "www.x")},
        Row{"adopt_under_create_only",
            {a1},
            {a2},
            {"~ A www.x 192.0.2.1 -> 192.0.2.1 Adopted", "! A www.x 192.0.2.2 Policy"},
            ordered_to(Kind::adopt, "www.x", "", Policy::create_only)},
        Row{"adopted_already", {of(a1, "me")}, {a1}, {}, ordered_to(Kind::adopt, "www.x")},
        Row{"release",
            {of(a1, "me"), of(named(a1, "b.x"), "me")},
            {a2, named(a1, "b.x")},
            {"~ A www.x 192.0.2.1 -> 192.0.2.1 Released", "! A www.x 192.0.2.2 Released"},
            ordered_to(Kind::release, "www.x")},
        Row{"released_already", {a1}, {a1}, {"! A www.x 192.0.2.1 Released"}, ordered_to(Kind::release, "www.x")},
        Row{"transfer",
            {of(a1, "me"), of(in(a2, "s"), "third")},
            {},
            {"~ A www.x 192.0.2.1 -> 192.0.2.1 Transferred", "= A www.x [s] 192.0.2.2 OwnedByOther"},
            ordered_to(Kind::transfer, "www.x", "other")}),
    row_name);

TEST(Plan, OldestWinsWhereAgesAreKnown) {
    const auto old = endpoint(a2), young = endpoint(a1);
    const std::vector<Desired> desired{{young, {true, 200, 2, "default/young", 0}},
                                       {old, {true, 100, 1, "default/old", 0}}};
    const auto made = plan({}, desired, {});
    EXPECT_EQ(lines(made), (Lines{"+ A www.x 192.0.2.2 Missing", "! A www.x 192.0.2.1 Conflict"}));
    EXPECT_EQ(made.changes[0].desired, 1U);
    EXPECT_EQ(made.skipped[0].desired, 0U);
    EXPECT_THAT(made.skipped[0].message, testing::HasSubstr("default/old"));
}

TEST(Plan, AKnownAgeComesBeforeTargets) {
    const std::vector<Desired> desired{{endpoint(a1), {}}, {endpoint(a2), {true, 100, 1, "default/old", 0}}};
    EXPECT_EQ(lines(plan({}, desired, {})), (Lines{"+ A www.x 192.0.2.2 Missing", "! A www.x 192.0.2.1 Conflict"}));
}

TEST(Plan, UpdateSaysWhatDiffersAndKeepsTheOwner) {
    const std::vector<dns::Endpoint> present{
        endpoint(of(from(with(lasting(a1, 300), {{"w", "1"}, {"y", "1"}}), "old"), "me"))};
    const std::vector<Desired> desired{{endpoint(from(with(lasting(a2, 60), {{"w", "2"}, {"z", "3"}}), "new")), {}}};
    const auto made = plan(present, desired, owner("me"));
    ASSERT_EQ(made.changes.size(), 1U);
    const auto& change = made.changes[0];
    EXPECT_EQ(change.differences, (std::vector<Difference>{{"recordTTL", "300", "60"},
                                                           {"targets", "192.0.2.1", "192.0.2.2"},
                                                           {"providerSpecific[w]", "1", "2"},
                                                           {"providerSpecific[y]", "1", ""},
                                                           {"providerSpecific[z]", "", "3"}}));
    EXPECT_EQ(change.before, present[0]);
    EXPECT_EQ(label_of(*change.after, "owner"), "me");
    EXPECT_EQ(label_of(*change.after, "resource"), "new");
    EXPECT_THAT(change.message, testing::HasSubstr("recordTTL 300 -> 60; targets 192.0.2.1 -> 192.0.2.2"));
}

TEST(Plan, CreatedIsOurs) {
    const std::vector<Desired> desired{{endpoint(a1), {}}};
    EXPECT_EQ(label_of(*plan({}, desired, owner("me")).changes.at(0).after, "owner"), "me");
    EXPECT_EQ(plan({}, desired, {}).changes.at(0).after, desired[0].endpoint);
}

TEST(Plan, OrdersChangeTheOwner) {
    const std::vector<dns::Endpoint> ours{endpoint(of(a1, "me"))}, nobodys{endpoint(a1)};
    const std::vector<Desired> desired{{endpoint(a1), {}}};
    const auto released = plan(ours, {}, ordered_to(Kind::release, "www.x")).changes.at(0);
    EXPECT_EQ(label_of(*released.before, "owner"), "me");
    EXPECT_TRUE(released.after->labels.empty());
    const auto transferred = plan(ours, {}, ordered_to(Kind::transfer, "www.x", "other")).changes.at(0);
    EXPECT_EQ(label_of(*transferred.after, "owner"), "other");
    const auto adopted = plan(nobodys, desired, ordered_to(Kind::adopt, "www.x")).changes.at(0);
    EXPECT_EQ(label_of(*adopted.after, "owner"), "me");
    EXPECT_TRUE(adopted.differences.empty());
    EXPECT_EQ(adopted.desired, 0U);
}

TEST(Plan, CountsWhatIsOurs) {
    const auto present = endpoints({of(a1, "me"),
                                    of(aaaa, "other"),
                                    of(named(a1, "b.x"), "me"),
                                    named(a1, "c.x"),
                                    {.name = "m.x", .type = "MX", .targets = "10 a.x", .owner = "me"}});
    EXPECT_EQ(plan(present, {}, owner("me")).owned, 2U);
    EXPECT_EQ(plan(present, {}, {}).owned, 4U);
}

TEST(Plan, ForeignRecordsNeedNotBeTold) {
    auto options = owner("me");
    options.tell_foreign = false;
    const auto present = endpoints({of(a1, "other"), named(a1, "c.x")});
    EXPECT_TRUE(plan(present, {}, options).skipped.empty());
    EXPECT_EQ(plan(present, wishes({a2}), options).skipped.size(), 1U);
}

TEST(Plan, EverySkipSaysWhy) {
    const auto present = endpoints({of(a1, "other"), of(named(cname, "b.x"), "me")});
    auto options = with_policy(Policy::upsert_only);
    for (const auto& skip :
         plan(present, wishes({a2, named(a1, "b.x"), named(a2, "c.x"), named(a1, "c.x")}), options).skipped) {
        EXPECT_FALSE(skip.message.empty()) << skip.reason;
    }
}

TEST(Plan, PoliciesHaveNames) {
    for (const auto policy : {Policy::sync, Policy::upsert_only, Policy::create_only}) {
        EXPECT_EQ(parse_policy(policy_text(policy)), policy);
    }
    EXPECT_FALSE(parse_policy("Sync"));
}

struct NameRow {
    const char *given, *normal;
};
class Names : public testing::TestWithParam<NameRow> {};
TEST_P(Names, Normal) { EXPECT_EQ(normal_name(GetParam().given), GetParam().normal); }
INSTANTIATE_TEST_SUITE_P(Plan, Names,
                         testing::Values(NameRow{"www.example.com", "www.example.com"},
                                         NameRow{"WWW.Example.COM.", "www.example.com"},
                                         NameRow{"*.example.com.", "*.example.com"},
                                         NameRow{"_acme.example.com", "_acme.example.com"},
                                         NameRow{"Bücher.example", "xn--bcher-kva.example"}, NameRow{".", "."},
                                         NameRow{"A..b", "a..b"}, NameRow{"a\\.B.x", "a\\.b.x"}));

// Many names, of which most are as they should be: with one set, with several, with more than can be compared in short.
TEST(Plan, FindsWhatDiffersInLongListsInAnyOrder) {
    std::vector<dns::Endpoint> present;
    std::vector<Desired> desired;
    Lines expected;
    const auto add = [&](int i, const std::string& set, const std::string& address) {
        const auto name = fmt::format("n{:03}.x", i);
        present.push_back(endpoint({name, "A", "192.0.2.1", set, "me", {}, 60, {}}));
        desired.push_back({endpoint({name, "A", address, set, {}, {}, 60, {}}), {}});
        if (address == "192.0.2.1") return;
        expected.push_back(
            fmt::format("~ A {}{} 192.0.2.1 -> {} Differs", name, set.empty() ? "" : " [" + set + "]", address));
    };
    for (int i = 0; i < 300; ++i) {
        const int sets = i % 5;  // none: one without identifier
        if (sets == 0) add(i, "", i % 7 == 0 ? "192.0.2.9" : "192.0.2.1");
        for (int set = 1; set <= sets; ++set) {
            add(i, fmt::format("{}/{}", std::string(i % 11 == 0 ? 300 : 1, 's'), set),
                i % 7 == 0 && set == 2 ? "192.0.2.9" : "192.0.2.1");
        }
    }
    std::sort(expected.begin(), expected.end());
    for (int turn = 0; turn < 3; ++turn) {
        const auto made = plan(present, desired, owner("me"));
        auto found = lines(made);
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, expected) << turn;
        EXPECT_EQ(made.owned, present.size());
        std::rotate(desired.begin(), desired.begin() + 37, desired.end());
        if (turn == 1) std::reverse(desired.begin(), desired.end());
    }
    desired.pop_back();
    EXPECT_EQ(plan(present, desired, owner("me")).count(Action::remove), 1U) << "one that nobody wants any more";
    desired.push_back(desired.back());
    EXPECT_EQ(plan(present, desired, owner("me")).skipped.size(), 1U) << "one that is wanted twice";
}

TEST(Plan, ManySetsOfOneNameTakeLinearTime) {
    std::vector<dns::Endpoint> present;
    std::vector<Desired> desired;
    for (int i = 0; i < 20'000; ++i) {
        present.push_back(endpoint(of(in(a1, fmt::format("global/{}", i)), i % 2 == 0 ? "me" : "other")));
        desired.push_back({endpoint(in(a2, fmt::format("global/{}", i))), {}});
    }
    const auto made = plan(present, desired, owner("me"));
    EXPECT_EQ(made.changes.size(), 10'000U);
    EXPECT_EQ(made.skipped.size(), 10'000U);
}

}  // namespace
}  // namespace fairlead::plan
