// Errors as values. Every fallible function of Fairlead returns a Result; exceptions stay inside the wrapper of the
// library that throws them. Used by all layers, on any thread.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace fairlead {

enum class Errc {
    invalid,         // the caller sent something that breaks a rule; `field` names where
    not_found,       // the named thing does not exist
    already_exists,  // the named thing exists and was expected not to
    conflict,        // the thing changed since the caller read it
    compacted,       // the asked-for revision is no longer kept
    future,          // the asked-for revision has not happened yet
    unavailable,     // a dependency cannot be reached now; retry later
    timeout,         // no answer in time; the outcome is unknown
    corrupt,         // stored data fails its checks
    unsupported,     // well-formed, but not something we do
    too_large,       // over a limit
    internal,        // a bug or an exhausted machine
};

struct Error {
    Errc code = Errc::internal;
    std::string field;    // path of the offending field, or empty
    std::string message;  // says value and rule

    // "spec.weight: 300 is outside 0..255", or the message alone.
    [[nodiscard]] std::string text() const { return field.empty() ? message : field + ": " + message; }
    bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Errc code, std::string field, std::string message) {
    return tl::unexpected(Error{code, std::move(field), std::move(message)});
}
inline tl::unexpected<Error> fail(Errc code, std::string message) { return fail(code, {}, std::move(message)); }
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected(std::move(error)); }

}  // namespace fairlead
