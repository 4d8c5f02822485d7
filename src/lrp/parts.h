// What one process contributes to a name, and what contributions make: rule and pool. Pure; the part of the Front that
// remembers nothing. Names are also for who tells LRPs what has become of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lrp/book.h"
#include "traffic/table.h"

namespace fairlead::lrp {

// A route of a process that leads to the name: to all instances, or to one.
struct Contribution {
    const Desired* desired = nullptr;
    const HttpRoute* route = nullptr;
    std::optional<std::int32_t> index{};
};

// How many indices of the process have names of their own, for a route that asks for it.
std::int32_t named_indices(const Desired& desired);
// "0.foo.com/path" of "foo.com/path"; nothing when that is too long for a name, or for a wildcard.
std::optional<std::string> instance_name(std::string_view name, std::int32_t index);

// Every name that the routes make, each maybe more than once: visit(name, route, index or nothing).
void for_each_name(const Desired& desired,
                   const std::function<void(std::string_view, const HttpRoute&, std::optional<std::int32_t>)>& visit);

// Names that have none for single instances though they ask for it, or not for all: "*.foo.com: why".
std::vector<std::string> limits_of(const Desired& desired);

// Adds what the process contributes to the name.
void contribute(const Desired& desired, std::string_view name, std::vector<Contribution>& list);

struct Part {
    traffic::Rule rule;
    traffic::Pool pool;
};
// Of at least one contribution, in order of the processes.
Part part_of(const Book& book, const std::string& owner, const std::vector<Contribution>& list);

}  // namespace fairlead::lrp
