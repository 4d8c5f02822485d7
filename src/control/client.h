// How controllers read the newest state and write: the verbs of the API as synchronous calls. Transport is the one
// function that somebody else implements (apiserver's LocalClient, a fault injector); Client is what a controller
// holds. Every write goes through validation, finalizers and conflicts like any user's.
//
// Threads: those of the manager that owns it, one at a time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fwd.h"
#include "base/result.h"
#include "json/value.h"
#include "resource/describe.h"
#include "resource/kind.h"
#include "store/store.h"

namespace fairlead::control {

class Fence;

// One object, or (with an empty name) where a new one is created. The kind outlives it.
struct ObjectId {
    const resource::Kind* kind = nullptr;
    std::string namespace_, name;
    // "namespace/name", or "name" at cluster scope: the name in the store and the key in work queues.
    [[nodiscard]] std::string key() const;
    // "routes.route.openshift.io namespace/name", for messages.
    [[nodiscard]] std::string text() const;
};
ObjectId object_id(const resource::Kind& kind, std::string_view key);

enum class Propagation { background, foreground, orphan };

struct DeleteOptions {
    std::string uid, resource_version;       // preconditions; empty = none
    std::optional<Propagation> propagation;  // none: as the object's own finalizers say
};

enum class Verb { get, create, update, merge_patch, json_patch, remove };

struct Request {
    Verb verb = Verb::get;
    ObjectId object;
    std::string subresource;  // "", "status", "finalize"
    json::Value body;         // the object, or the patch
    DeleteOptions remove;
    std::string agent;  // who writes: owner of the fields
};

// Errors: not_found, already_exists, conflict (changed since it was read, or a precondition failed), invalid (the field
// that breaks a rule is named), too_large, unsupported, unavailable (nothing happened; try later), timeout (outcome
// unknown), internal.
class Transport {
public:
    virtual ~Transport() = default;
    // The object as it is now. Of a removal: the object that still waits for finalizers, else null.
    virtual Result<json::Value> send(const Request& request) = 0;
    // Several that do not depend on each other, in any order; the answers are in theirs. One after the other, unless
    // the transport can do better.
    virtual std::vector<Result<json::Value>> send_all(std::span<const Request> requests);
};

class Client {
public:
    // Writes as `agent`. They are refused (unavailable) while `fence` is shut; null means no fence.
    Client(Transport& transport, std::string agent, const Fence* fence, const Clock& clock);

    // The newest state, not the informer's.
    Result<json::Value> get(const ObjectId& id);
    Result<json::Value> create(const ObjectId& id, json::Value object);
    // `object` carries the resourceVersion that it was read with, else the last writer wins.
    Result<json::Value> update(const ObjectId& id, json::Value object);
    Result<json::Value> update_status(const ObjectId& id, json::Value object);
    // The namespace's spec.finalizers alone.
    Result<json::Value> update_finalize(const ObjectId& id, json::Value object);
    Result<json::Value> merge_patch(const ObjectId& id, json::Value patch, std::string_view subresource = {});
    Result<json::Value> json_patch(const ObjectId& id, json::Value patch, std::string_view subresource = {});
    // The object that still waits for its finalizers, or null when it is gone.
    Result<json::Value> remove(const ObjectId& id, const DeleteOptions& options = {});

    // Writes that do not depend on each other: they may wait for the disk together. `agent` is filled in.
    std::vector<Result<json::Value>> write_all(std::vector<Request> requests);

    [[nodiscard]] const std::string& agent() const { return agent_; }

private:
    Result<json::Value> write(Verb verb, const ObjectId& id, json::Value body, std::string_view subresource);

    Transport& transport_;
    std::string agent_;
    const Fence* fence_;
    const Clock& clock_;
};

// A new object of the kind, for create().
template <class T>
json::Value new_object(const resource::Kind& kind, const T& value) {
    auto object = resource::encode(value);
    json::set_at(object, "apiVersion", json::Value(kind.api_version()));
    json::set_at(object, "kind", json::Value(kind.name));
    return object;
}

// What get() gave, as a struct. Errors: those of get(), and invalid if the object does not fit T.
template <class T>
Result<T> decoded(const Result<json::Value>& object) {
    if (!object) return fail(object.error());
    return resource::decode<T>(*object);
}

// The stored object with the described members of `changed` written over it: what update and update_status take. Keeps
// what T does not model, and the resourceVersion, so that a change in between is a conflict.
template <class T>
Result<json::Value> changed_object(const store::Object& stored, const T& changed) {
    auto base = json::parse(stored.value());
    if (!base) return base;
    resource::encode_onto(changed, *base);
    return base;
}

}  // namespace fairlead::control
