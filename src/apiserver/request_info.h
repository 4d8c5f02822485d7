// What a request asks for, read from its method, path and query alone. Pure; the same rules serve routing,
// authorisation, metrics and logs, so that they can never disagree about what a path means.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/caller.h"
#include "apiserver/status.h"

namespace fairlead::apiserver {

enum class Verb { get, list, watch, create, update, patch, remove, remove_collection };
// "get", "list", ..., "delete", "deletecollection": the words of RBAC and metrics.
std::string_view verb_name(Verb verb);

// Query parameters. Unknown ones are ignored and the first of a repeated one counts, as in kube-apiserver.
struct QueryOptions {
    std::optional<std::int64_t> limit;
    std::string continue_token;
    std::string label_selector, field_selector;
    bool watch = false;
    std::string resource_version, resource_version_match;
    std::optional<std::int64_t> timeout_seconds;
    bool allow_watch_bookmarks = false;
    std::optional<bool> send_initial_events;
    std::vector<std::string> dry_run;
    std::string field_manager, field_validation;
    std::string include_object;
    std::optional<std::string> propagation_policy;
    std::optional<std::int64_t> grace_period_seconds;
    std::optional<bool> orphan_dependents;
    std::optional<bool> force;
    bool pretty = false;
    bool verbose = false;              // health
    std::vector<std::string> exclude;  // health

    Caller caller;  // not of the query: filled in once the caller is known

    [[nodiscard]] bool is_dry_run() const { return !dry_run.empty(); }
};

// Errors: a number that is none (400).
Outcome<QueryOptions> parse_query(std::string_view query);

// All parameters of a query, the first of a repeated one. Errors: a broken escape (400).
Outcome<std::map<std::string, std::string>> query_parameters(std::string_view query);

struct RequestInfo {
    enum class Type {
        unknown,          // no path of ours: 404
        api_versions,     // /api
        api_groups,       // /apis
        api_group,        // /apis/G
        group_resources,  // /api/v1, /apis/G/V
        resource,         // below those
        other,            // everything else: `path` says what
    };
    Type type = Type::unknown;
    std::string path;  // decoded, without a slash at its end; of an unknown one as it was sent, in printable ASCII
    std::string query;
    std::string group, version, resource, subresource, namespace_, name;

    // Of a request for a resource; nothing if the method has no meaning there.
    [[nodiscard]] std::optional<Verb> verb(std::string_view method, bool watch) const;
};

inline constexpr std::size_t max_path_segments = 8;      // apis/G/V/namespaces/N/resource/name/subresource
inline constexpr std::size_t max_path_bytes = 8 * 1024;  // the longest valid one is below 2 KiB

// `target` as it stands in the request line. Segments are decoded once, after splitting: an encoded slash, a dot
// segment, an empty segment or a control character makes the path unknown, so that no two spellings of a path can mean
// different things to the checks and to the store.
RequestInfo parse_target(std::string_view target);

}  // namespace fairlead::apiserver
