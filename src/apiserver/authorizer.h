// Decides from the store's newest roles and bindings: a change counts for the next request after it was acknowledged.
// Keeps a RoleBook up to date from the store's cursors, which are read only when the store's revision has moved.
// Thread-safe; called on session threads for every request, so it never waits for the disk.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "apiserver/role_book.h"
#include "base/fwd.h"
#include "store/store.h"

namespace fairlead::apiserver {

// The store's table of an RBAC kind.
std::string_view table_name(RbacTable table);

class Authorizer {
public:
    Authorizer(store::Store& store, Log& log) : store_(store), log_(log) {}

    Decision decide(const User& user, const Attributes& attributes);
    RoleBook::Held held_by(const User& user, std::string_view ns);
    // Of a Role, or of a ClusterRole (ns ""); nothing if there is none.
    std::optional<std::vector<Rule>> role(std::string_view ns, std::string_view name);

private:
    // Runs `read` on a book that holds everything up to the store's revision at the time of the call.
    template <class Read>
    auto current(Read read);
    void refresh();
    bool follow(RbacTable table);  // false: the cursor is lost
    bool load();                   // everything anew

    store::Store& store_;
    Log& log_;
    std::shared_mutex mutex_;  // the book and the cursors
    RoleBook book_;
    std::array<std::unique_ptr<store::Cursor>, std::size(rbac_tables)> cursors_;
    std::atomic<store::Revision> seen_{0};
};

}  // namespace fairlead::apiserver
