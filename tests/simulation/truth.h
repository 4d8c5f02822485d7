// What the store must be: the simplest thing that can follow the contract of store.h, fed with the same commits. It
// keeps every change that ever happened, so that any read, list and watch can be compared with it. One thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace fairlead::simulation {

using store::Key;
using store::Revision;

struct Version {
    std::string bytes;
    Revision created = 0;
    Revision modified = 0;
};

struct Change {
    Revision revision = 0;
    std::string name;   // in its table
    std::string bytes;  // the new state, or the last one
    bool removed = false;
    bool existed = false;  // before
    std::string before;    // that state
    std::string writer;    // who wrote it, for messages
};

class Truth {
public:
    // What the commit must answer: nothing if it must happen, else which error.
    [[nodiscard]] std::optional<Errc> refusal(const std::vector<store::Op>& ops) const;
    // Does it. The changes it made, in order; none for a commit that only checks.
    std::vector<std::pair<Key, const Change*>> apply(const std::vector<store::Op>& ops, std::string_view writer);

    [[nodiscard]] Revision revision() const { return revision_; }
    [[nodiscard]] const Version* find(const Key& key) const;
    [[nodiscard]] const std::map<std::string, Version>& table(std::string_view name) const;
    [[nodiscard]] const std::map<std::string, std::map<std::string, Version>, std::less<>>& tables() const {
        return tables_;
    }
    // All changes of a table, oldest first; places in it stay valid.
    [[nodiscard]] const std::deque<Change>& changes(std::string_view table) const;
    // The place of the first change after the revision.
    [[nodiscard]] std::size_t first_after(std::string_view table, Revision revision) const;
    // By name, the version of everything that the table held at the revision.
    [[nodiscard]] std::map<std::string, const Change*> table_at(std::string_view table, Revision revision) const;

private:
    Revision revision_ = 1;
    std::map<std::string, std::map<std::string, Version>, std::less<>> tables_;
    std::map<std::string, std::deque<Change>, std::less<>> changes_;
};

}  // namespace fairlead::simulation
