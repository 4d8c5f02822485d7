// What a request under /v1/ asks for, read from its method and target alone, and which rights that takes: those that
// the same act takes on the kinds DesiredLRP, ActualLRP and Lease. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/attributes.h"
#include "apiserver/request_info.h"

namespace fairlead::apiserver::receptor {

enum class Action {
    create_desired,
    list_desired,
    get_desired,
    update_desired,
    remove_desired,
    list_actual,
    list_actual_of_process,
    get_actual,
    put_actual,
    remove_actual,
    write_many_actual,
    put_domain,
    list_domains,
    events,
    auth_cookie,
    preflight,  // OPTIONS of anything
};

// How much of an LRP is shown: all, or what leads to it.
enum class View { whole, routing };

struct Operation {
    Action action = Action::list_desired;
    std::string guid;    // of a process
    std::string index;   // as sent: it may be no number
    std::string domain;  // put_domain: its name; lists: only of this domain, empty: of all
    View view = View::whole;
    std::string view_text;        // as sent
    bool evacuating = false;      // put and remove of an instance: the evacuating record is meant
    std::string evacuating_text;  // as sent
};

// Without an operation: no such path, or a known one that has no such method.
struct Found {
    std::optional<Operation> operation;
    bool path_known = false;
};
// At or below /v1. Segments are decoded one by one after splitting, so a domain may hold an encoded slash.
bool is_ours(std::string_view target);
Found find_operation(std::string_view method, std::string_view target);

// What is wrong with the parameters that were sent; nothing: they are fine.
std::optional<std::string> bad_parameter(const Operation& operation);

// "0".."2147483647", or nothing.
std::optional<std::int32_t> parse_index(std::string_view text);

// Resource and verb, for metrics; empty resource: none.
struct Naming {
    std::string_view group, version, resource;
    std::optional<Verb> verb;
};
Naming naming_of(const Operation& operation);
// All of them must be allowed; the first is the one that the audit log tells. Empty: whoever is known may.
std::vector<Attributes> rights_for(const Operation& operation, std::string_view ns);

// Of the Lease that stands for a domain.
std::string domain_lease_name(std::string_view domain);

}  // namespace fairlead::apiserver::receptor
