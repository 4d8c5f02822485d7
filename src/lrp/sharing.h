// Who shares names with whom, and what that comes to: a name has one set of rules, so of several processes that want
// different ones some are overruled, and are to be told. Pure; used by whoever tells them (controller/routes_first).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lrp/lrp.h"

namespace fairlead::lrp {

// What a route wants of its names, beside where they lead.
struct Wish {
    bool ssl = false;
    bool http2 = false;
    std::string route_service{};
    std::string options{};
    bool operator==(const Wish&) const = default;
};
Wish wish_of(const HttpRoute& route);

// Of a name that several want, in order of the processes: ssl wins over none, a route service over none, of different
// services or options the first ones count. HTTP/2 only if all want it: where processes differ, the other is what every
// server of HTTP/2 without TLS most likely speaks as well.
void agree(Wish& made, const Wish& next);

// Why a name that is `made` so is not as it is wanted; empty: it is.
std::string overruled(const Wish& wanted, const Wish& made);

class Sharing {
public:
    struct Sharer {
        std::string guid{};  // of the process: settings are brought together in order of these
        std::vector<Wish> wishes{};
        bool operator==(const Sharer&) const = default;
    };
    // Who has the name: by "namespace/name" of the object.
    using Names = std::map<std::string, Sharer, std::less<>>;

    // What the LRP asks for now; null: it is gone. Answers the others that share a name of which something is
    // different now: what it is, which namespaces have it, or, if they are at odds, the labels by which Routers take
    // this one.
    std::set<std::string> put(const std::string& lrp, const Desired* desired);

    [[nodiscard]] const Names& sharers(std::string_view name) const;
    // Those that have a name which somebody wants otherwise: all that problems() can have something to say of.
    [[nodiscard]] std::set<std::string> at_odds() const;
    // Which names of the LRP are not as it wants them: "foo.com: why". Only those count that are `with` it.
    using With = std::function<bool(const std::string& other)>;
    [[nodiscard]] std::vector<std::string> problems(const std::string& lrp, const With& with) const;

private:
    struct Lrp {
        std::vector<std::string> names{};  // in order
        std::map<std::string, std::string> labels{};
    };

    std::map<std::string, Names, std::less<>> by_name_;
    std::map<std::string, Lrp> lrps_;
};

}  // namespace fairlead::lrp
