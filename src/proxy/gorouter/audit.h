// What a gorouter holds (its /routes) against what it should hold. Pure; used by the driver's thread, in portions, so
// that no event waits for a comparison of hundreds of thousands of names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "proxy/gorouter/leftovers.h"
#include "proxy/gorouter/registrations.h"

namespace fairlead::proxy::gorouter {

// At most this many pairs of a kind are named; if there are more, everything is emitted instead.
inline constexpr std::size_t max_named_pairs = 10'000;

struct Differences {
    std::size_t missing_count = 0;                  // live, but not there or there with another instance
    std::size_t lingering_count = 0;                // there, though withdrawn lately
    std::size_t leftover_count = 0;                 // there with our mark, and nobody remembers it
    std::size_t foreign_count = 0;                  // there, at a name of ours, and none of ours: shown and left alone
    std::vector<Pair> missing, lingering, foreign;  // the first of them
    std::vector<Leftover> leftovers;
    bool operator==(const Differences&) const = default;
};

class Comparison {
public:
    // The body of /routes: {"foo.com/path":[{"address":"10.0.0.1:61001",...}]}.
    explicit Comparison(std::string routes) : routes_(std::move(routes)) {}

    // Goes on for about so many names. True: it is complete. Errors: the body is not what a router answers.
    Result<bool> advance(const Registrations& registrations, std::size_t names);
    [[nodiscard]] const Differences& found() const { return found_; }

private:
    Result<bool> read(const Registrations& registrations, std::size_t names);
    Result<void> judge(const Registrations& registrations, const std::string& name, std::string_view endpoints);
    Result<std::string_view> text();   // a JSON string, with its quotes
    Result<std::string_view> value();  // any JSON value
    char next();                       // that is no space; 0: the end
    template <class T>
    static void note(std::size_t& count, std::vector<T>& list, T item);
    [[nodiscard]] tl::unexpected<Error> broken() const;

    std::string routes_;
    std::size_t at_ = 0;
    bool open_ = false;       // inside of the outer object
    bool read_ = false;       // all of it
    std::vector<bool> seen_;  // names of ours that the router has, by slot
    std::size_t slot_ = 0;    // of the names that are looked at for what the router has not
    Differences found_;
};

// Sends again what is missing or lingers.
void mend(Registrations& registrations, const Differences& found, MonotonicTime now);

// All at once.
Result<Differences> compare(const Registrations& registrations, std::string routes);

}  // namespace fairlead::proxy::gorouter
