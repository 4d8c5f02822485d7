// Who depends on whom: the garbage collector's memory, by uid. Holds only objects that have owners or are being
// deleted; everything else costs a search of its bytes and no memory. Pure bookkeeping; one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "resource/kind.h"
#include "store/store.h"

namespace fairlead::controller {

struct Owner {
    std::string api_version, kind, name, uid;
    bool blocks = false;  // blockOwnerDeletion
    bool operator==(const Owner&) const = default;
};

// What the collector needs to know of one object.
struct Node {
    const resource::Kind* kind = nullptr;
    std::string name;  // in the store
    std::string uid;
    store::Revision created = 0, modified = 0;
    std::vector<Owner> owners;
    bool deleting = false;
    bool orphan = false;      // waits until its dependents have let go of it
    bool foreground = false;  // waits until the dependents that block it are gone
    bool held = false;        // somebody else's finalizer is on it too

    [[nodiscard]] bool orphaning() const { return deleting && orphan; }
    [[nodiscard]] bool waiting() const { return deleting && foreground; }
    [[nodiscard]] std::string_view namespace_() const;
};
Node read_node(const resource::Kind& kind, const store::Object& stored, const json::Value& object);
std::vector<Owner> owners_of(const json::Value& object);

// "group/resource|namespace/name".
std::string node_key(const resource::Kind& kind, std::string_view name);

class OwnerGraph {
public:
    explicit OwnerGraph(const resource::Kinds& kinds) : kinds_(kinds) {}

    // Takes a change in; gives back the keys that have to be looked at because of it.
    std::vector<std::string> change(const resource::Kind& kind, const store::ObjectRef& before,
                                    const store::ObjectRef& after);

    [[nodiscard]] const Node* find(std::string_view key) const;
    // Keys of the objects that name this uid as an owner.
    [[nodiscard]] const std::set<std::string>& dependents(std::string_view uid) const;
    // Whether a node that is deleted in the foreground still has to wait for dependents. Those in a circle with it, all
    // deleted in the foreground and held by nobody else, would wait for each other for ever: they do not count.
    [[nodiscard]] bool blocked(const Node& node) const;
    // The kind that a reference means; the version does not matter. Null if there is none.
    [[nodiscard]] const resource::Kind* kind_of(const Owner& owner) const;

private:
    void insert(const std::string& key, Node node);
    void erase(const std::string& key);
    void ask_owners(const Node& node, std::vector<std::string>& keys) const;
    // The key of the object that the reference means, whether it exists or not; empty for a kind that we do not serve.
    [[nodiscard]] std::string key_of(const Node& dependent, const Owner& owner) const;
    // Does this dependent block the deletion of the node? One whose reference cannot own, because it names an object of
    // another namespace, does not: its going would never be noticed.
    [[nodiscard]] bool blocks(const Node& dependent, const std::string& key, const Node& node) const;
    [[nodiscard]] std::string uid_of(const Node* known, const store::ObjectRef& object) const;

    const resource::Kinds& kinds_;
    std::map<std::string, Node, std::less<>> nodes_;
    std::map<std::string, std::set<std::string>, std::less<>> dependents_;
    std::set<std::string> none_;
};

}  // namespace fairlead::controller
