// Who manages which fields of an object: metadata.managedFields, as Kubernetes keeps it. Ordinary writes take over what
// they change; server-side apply states what a manager wants, refuses to take what another manager wants otherwise, and
// removes what its manager gave up. Pure: time comes in as text. Used by the API server for every write, on any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "resource/field_set.h"
#include "resource/kind.h"

namespace fairlead::resource {

struct ManagedEntry {
    enum class Operation { apply, update };
    std::string manager;
    Operation operation = Operation::update;
    std::string api_version, time, subresource;
    FieldSet fields;
    bool operator==(const ManagedEntry&) const = default;
    // The same writer: what he owns and when he wrote last do not count.
    [[nodiscard]] bool same_manager(const ManagedEntry& other) const;
};
using ManagedFields = std::vector<ManagedEntry>;

inline constexpr std::size_t max_update_managers = 10;  // as kube-apiserver; the oldest are merged beyond that
inline constexpr std::string_view ancient_manager = "ancient-changes";
inline constexpr std::string_view first_apply_manager = "before-first-apply";

// Errors: an entry that is none. Entries of one manager become one.
Result<ManagedFields> decode_managed_fields(const json::Value& list);
// In the order of Kubernetes: operation, time, manager, subresource. Same entries, same bytes.
json::Value encode_managed_fields(ManagedFields entries);

// The text of that, for objects that are only written: half the price. "[]" if there are none.
std::string managed_fields_text(ManagedFields entries);

// A list of one empty entry: the client wants them all gone.
bool is_reset(const json::Value& managed_fields);

// Of the metadata of an object: what it has, or none if it has none or what it has cannot be read.
ManagedFields managed_fields_of(const json::Value& object);
// Sets metadata.managedFields; none = takes it out.
void set_managed_fields(json::Value& object, ManagedFields entries);

struct FieldWriter {
    std::string manager;
    std::string subresource;  // "" for the main resource
    std::string time;         // RFC 3339
};

// The bookkeeping of an ordinary write: the writer now manages what he changed, nobody manages what is gone. `before`
// null on create. An object that nobody manages is not tracked until its first apply.
ManagedFields track_update(const Kind& kind, const json::Value* before, const json::Value& after, ManagedFields entries,
                           const FieldWriter& writer);

struct FieldConflict {
    std::string manager;  // as shown: "kubectl" using v1
    std::string path;     // ".spec.host"
    bool operator==(const FieldConflict&) const = default;
};

struct ApplyOptions {
    bool force = false;  // takes over what other managers want otherwise
    FieldSet allowed;    // taken over without force
};

struct Applied {
    json::Value object;  // without managedFields
    ManagedFields managed;
};

// Server-side apply. `live` null: creates. `config` has no managedFields and can be typed (untypable() is empty).
// Errors: what other managers want otherwise, ordered by manager and path.
tl::expected<Applied, std::vector<FieldConflict>> apply_config(const Kind& kind, const json::Value* live,
                                                               const json::Value& config, const FieldWriter& writer,
                                                               const ApplyOptions& options);

// Fields that client-side `kubectl apply` left as they are now, by its annotation: what `kubectl apply --server-side`
// may take over without force.
FieldSet last_applied_fields(const Kind& kind, const json::Value& live);
inline constexpr std::string_view last_applied_annotation = "kubectl.kubernetes.io/last-applied-configuration";

// Equal but for the times.
bool same_ownership(const ManagedFields& a, const ManagedFields& b);

}  // namespace fairlead::resource
