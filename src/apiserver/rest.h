// The verbs of the API as synchronous functions over the store: usable without sockets (tests, the simulator). One file
// per group of verbs: create.cpp, update.cpp, patch.cpp, apply.cpp, delete.cpp, read.cpp; namespaces.cpp holds the life
// cycle of namespaces. Thread-safe: state is in the store alone. Writes block until they are durable.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/continue_token.h"
#include "apiserver/filter.h"
#include "apiserver/media.h"
#include "apiserver/request_info.h"
#include "apiserver/status.h"
#include "apiserver/write_guard.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "net/http.h"
#include "resource/fwd.h"
#include "resource/kind.h"
#include "resource/managed_fields.h"
#include "store/store.h"

namespace fairlead::apiserver {

struct Reply {
    int code = 200;
    enum class Content { object, list, status } content = Content::object;
    std::string body;                   // JSON; objects in their stored form, lists in the form that was asked for
    std::vector<std::string> warnings;  // for the Warning header
    int retry_after_seconds = 0;
    std::unique_ptr<net::StreamBody> stream;  // instead of a body: a large list
};
Reply reply_of(const Status& status);

// What a request for a resource is about. The kind outlives it.
struct Target {
    const resource::Kind* kind = nullptr;
    std::string namespace_, name, subresource;
};

struct Body {
    std::string_view bytes;
    std::string_view content_type;
};

struct RestOptions {
    // How long a read waits for a revision that has not happened yet.
    std::chrono::milliseconds future_wait{3'000};
    // Lists whose text is longer come as a stream, which renders them while they are sent.
    std::size_t stream_lists_from = std::numeric_limits<std::size_t>::max();
    // Asked before every write of a kind that it concerns; null = everything may be written.
    WriteGuard* guard = nullptr;
};

// One of many writes that share commits.
struct BatchWrite {
    std::string name;
    // Made if there is none of that name, else its spec replaces the other's; nothing: what is there is removed.
    std::optional<json::Value> object;
    // Of what is there: if it says no, there is nothing of that name. Null = whatever it is.
    std::function<bool(const json::Value& present)> applies{};
};

// Where and how a watch begins; made by Rest::plan_watch, run by WatchStream.
struct WatchPlan {
    const resource::Kind* kind = nullptr;
    Filter filter;
    Form form;
    bool initial_events = false;             // ADDED for everything that exists, first
    bool initial_events_end = false;         // then a bookmark that says so
    std::optional<store::Snapshot> initial;  // with initial_events: what exists
    store::Revision after = 0;               // live events follow this revision
    bool bookmarks = false;
    std::optional<std::chrono::seconds> timeout;
};

// Members that a client should not have sent ("unknown", "duplicate"), by fieldValidation: refused, told, or neither.
Outcome<void> check_strictly(std::string_view what, const std::vector<std::string>& paths, const QueryOptions& options,
                             std::vector<std::string>& warnings);

class Rest {
public:
    Rest(const resource::Kinds& kinds, store::Store& store, const Clock& clock, Random& random,
         RestOptions options = {});

    Reply get(const Target& target, const QueryOptions& options);
    Reply list(const Target& target, const QueryOptions& options, const Form& form);
    Outcome<WatchPlan> plan_watch(const Target& target, const QueryOptions& options, const Form& form);
    Reply create(const Target& target, const QueryOptions& options, const Body& body);
    Reply update(const Target& target, const QueryOptions& options, const Body& body);
    Reply patch(const Target& target, const QueryOptions& options, const Body& body);
    Reply remove(const Target& target, const QueryOptions& options, const Body& body);
    Reply remove_collection(const Target& target, const QueryOptions& options, const Body& body);

    // Many writes to one namespace in few commits; an answer each, in their order. One that fails stops no other.
    std::vector<Reply> write_many(const resource::Kind& kind, std::string_view ns,
                                  const std::vector<BatchWrite>& writes, const QueryOptions& options);

    // Makes what every server has: the namespace "default". Idempotent; before serving.
    Result<void> prepare();

private:
    using Kind = resource::Kind;
    using Revision = store::Revision;

    // --- writing (rest.cpp) ---
    enum class Writing { create, update, patch, apply };
    static std::string_view options_kind(Writing writing);
    Outcome<void> check_write_options(Writing writing, const QueryOptions& options) const;
    // The submitted object, with the members that say what it is.
    Outcome<json::Value> decode(const Target& target, const Body& body, const QueryOptions& options,
                                std::vector<std::string>& warnings) const;
    Outcome<void> check_identity(const Target& target, json::Value& object) const;
    // Defaults, the kind's own rules, unknown fields, validation: in place.
    enum class StatusOf { client, server };  // server: what the client sent in .status does not count
    Outcome<void> admit(const Kind& kind, json::Value& object, const json::Value* old, StatusOf status,
                        const QueryOptions& options, std::vector<std::string>& warnings) const;
    Outcome<void> prune_unknown(const Kind& kind, json::Value& object, const QueryOptions& options,
                                std::vector<std::string>& warnings) const;
    Outcome<store::ObjectRef> existing(const Target& target) const;
    // Whether the guard lets the caller write this final object in place of `current` (empty for a new one).
    Outcome<void> guarded(const Kind& kind, const json::Value& object, const store::ObjectRef& current,
                          const QueryOptions& options) const;

    // --- create.cpp ---
    Outcome<Reply> create_object(const Target& target, const QueryOptions& options, const Body& body);
    Outcome<void> name_and_stamp(const Target& target, json::Value& object, bool& generated);
    void regenerate_name(json::Value& object);
    // `managed`: who owns what of it; nothing = the caller owns it all.
    Outcome<Reply> make_object(const Target& target, json::Value object, const QueryOptions& options,
                               std::vector<std::string> warnings, std::optional<resource::ManagedFields> managed);
    // The check that the namespace exists and takes new objects, to be part of the same commit.
    Outcome<std::optional<store::Op>> namespace_check(const Kind& kind, std::string_view ns,
                                                      std::string_view name) const;
    // `managed_fields` as text: the object does not hold them.
    Outcome<Reply> commit_new(const Kind& kind, const Target& target, json::Value object,
                              std::string_view managed_fields, bool generated, const QueryOptions& options,
                              std::vector<std::string> warnings);
    Outcome<void> check_router(const resource::RouteBinding& binding, std::string_view name, const Kind& kind) const;
    Outcome<Reply> bind(const Target& target, json::Value binding, const QueryOptions& options,
                        std::vector<std::string> warnings);

    // --- update.cpp ---
    struct Change {
        json::Value object;
        bool unchanged = false;
        std::vector<std::string> warnings;
    };
    Outcome<Reply> update_object(const Target& target, const QueryOptions& options, const Body& body);
    // What `submitted` makes of `old`. Pure but for its reads of the kind.
    // `managed`: who owns what of the result; nothing = the caller takes over what he changes.
    Outcome<Change> prepare_update(const Target& target, const json::Value& old, json::Value submitted,
                                   const QueryOptions& options,
                                   std::optional<resource::ManagedFields> managed = std::nullopt) const;
    // Nothing = somebody else was faster; read again.
    Outcome<std::optional<Reply>> commit_change(const Target& target, const store::ObjectRef& current, Change change,
                                                const QueryOptions& options);

    // --- batch.cpp ---
    struct Draft {
        std::optional<store::Op> op;               // nothing: it is so already
        std::optional<store::Op> namespace_check;  // belongs into the same commit
        Reply reply;                               // once it is committed
    };
    Outcome<Draft> draft_new(const Target& target, const BatchWrite& write, const QueryOptions& options);
    Outcome<Draft> draft_change(const Target& target, const BatchWrite& write, const store::Object& current,
                                const QueryOptions& options);
    Outcome<Draft> draft_write(const Target& target, const BatchWrite& write, const QueryOptions& options);
    Reply write_alone(const Target& target, const BatchWrite& write, const QueryOptions& options);

    // --- patch.cpp ---
    Outcome<Reply> patch_object(const Target& target, const QueryOptions& options, const Body& body);

    // --- apply.cpp ---
    [[nodiscard]] resource::FieldWriter writer_of(const Target& target, const QueryOptions& options) const;
    // Sets the owners of the fields of `change.object`, and whether it differs from `old` at all.
    void settle_ownership(const Target& target, const json::Value& old, Change& change, const QueryOptions& options,
                          std::optional<resource::ManagedFields> managed) const;
    Outcome<Reply> apply_object(const Target& target, const QueryOptions& options, const Body& body);
    Outcome<json::Value> decode_config(const Target& target, const Body& body, const QueryOptions& options,
                                       std::vector<std::string>& warnings) const;
    Outcome<Reply> apply_as_new(const Target& target, const QueryOptions& options, const json::Value& config,
                                std::vector<std::string> warnings);
    // Nothing = somebody else was faster; read again.
    Outcome<std::optional<Reply>> apply_to(const Target& target, const QueryOptions& options, const json::Value& config,
                                           const store::ObjectRef& current, std::vector<std::string> warnings);

    // --- delete.cpp ---
    struct DeleteOptions {
        std::optional<std::string> propagation;
        std::optional<std::string> uid, resource_version;
        bool dry_run = false;
    };
    Outcome<DeleteOptions> delete_options(const QueryOptions& options, const Body& body) const;
    Outcome<Reply> delete_object(const Target& target, const DeleteOptions& options);
    Outcome<Reply> delete_collection(const Target& target, const QueryOptions& options, const Body& body);
    Outcome<void> check_preconditions(const Target& target, const json::Value& object,
                                      const DeleteOptions& options) const;
    // Nothing if it can go at once; else the object with its deletion timestamp (or as it is, if it had one).
    std::optional<json::Value> mark_deleted(const json::Value& object, const DeleteOptions& options) const;

    // --- namespaces.cpp ---
    Outcome<Reply> delete_namespace(const Target& target, const DeleteOptions& options);
    // Neither metadata.finalizers nor spec.finalizers: a deleted namespace is gone with the last of them.
    [[nodiscard]] static bool nobody_holds(const json::Value& ns);
    [[nodiscard]] bool is_namespace(const Kind& kind) const { return &kind == namespaces_; }

    // --- read.cpp ---
    Outcome<Reply> list_objects(const Target& target, const QueryOptions& options, const Form& form);
    Outcome<store::Snapshot> snapshot_for(const Kind& kind, const QueryOptions& options) const;
    // The snapshot that the page of a continue token belongs to; fills the token in.
    Outcome<store::Snapshot> snapshot_of_page(const Kind& kind, const QueryOptions& options,
                                              ContinueToken& token) const;
    Outcome<void> wait_for(Revision revision) const;

    [[nodiscard]] std::string now_text() const;

    const resource::Kinds& kinds_;
    store::Store& store_;
    const Clock& clock_;
    Random& random_;
    RestOptions options_;
    const Kind* namespaces_ = nullptr;
    mutable std::atomic<int> future_waits_{0};
};

}  // namespace fairlead::apiserver
