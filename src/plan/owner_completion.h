// What has to become of the ownership records of one name when its records change: the part of the registry that
// decides the writing. Private to the registry; pure but for the nonce of encryption.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "plan/owner_drafts.h"
#include "plan/owner_index.h"
#include "plan/registry.h"

namespace fairlead::plan {

// All changes at one name, and at those that share the places of its ownership records.
struct OwnerGroup {
    std::set<std::string> names;  // in normal form
    std::vector<const Change*> changes;
};

// Why ownership cannot be written.
struct OwnerProblem {
    std::string reason, message;
};

template <class T>
using OwnerResult = tl::expected<T, OwnerProblem>;

// A record as it will be.
struct OwnedEndpoint {
    std::string name, owner;
    const dns::Endpoint* endpoint = nullptr;
    bool changed = false;
};

// A text of ours that has to be there.
struct WantedText {
    std::string place, set_identifier, plain;
    std::vector<dns::Property> properties;
    bool changed = false, typed = false, done = false;
};

class OwnerCompletion {
public:
    OwnerCompletion(const Registry& registry, std::span<const Affix> affixes, const Registry::Read& present,
                    Random& random)
        : registry_(registry),
          options_(registry.options()),
          index_(present.ownership(), affixes, options_.encryption_key),
          random_(random) {}

    [[nodiscard]] const OwnerIndex& index() const { return index_; }
    // Who else says that he owns a record that is not there, and that this change would create; empty: nobody does.
    [[nodiscard]] std::string claimed_by_other(const Change& change) const;
    void look_at(const std::map<std::string, OwnerGroup>& groups, const Registry::Read& present);
    // The changes of ownership records that go with a group, or why there can be none.
    OwnerResult<std::vector<Change>> finish(const OwnerGroup& group);

private:
    [[nodiscard]] OwnerResult<std::vector<OwnedEndpoint>> after(const OwnerGroup& group) const;
    [[nodiscard]] std::string encoded(const std::string& plain) const;
    [[nodiscard]] std::string plain_of(const IndexedText& text) const;
    void each_text(const std::string& name, const std::function<void(const IndexedText&)>& f) const;
    [[nodiscard]] OwnerResult<std::string> shared_place(const std::string& name) const;
    void take_from(const std::string& owner, const OwnedEndpoint& record, const std::vector<OwnedEndpoint>& records,
                   OwnerDrafts& drafts);
    OwnerResult<void> give_to(const OwnedEndpoint& record, OwnerDrafts& drafts);
    [[nodiscard]] OwnerResult<std::vector<WantedText>> wanted(const OwnerGroup& group,
                                                              const std::vector<OwnedEndpoint>& records) const;
    // Texts of ours that say something else than they should; wanted ones that are there as they should be are done.
    [[nodiscard]] std::vector<const IndexedText*> outdated(const OwnerGroup& group, std::vector<WantedText>& wanted,
                                                           OwnerDrafts& drafts) const;
    OwnerResult<void> write_ours(const OwnerGroup& group, std::vector<WantedText> wanted, OwnerDrafts& drafts);
    [[nodiscard]] bool may_be_anothers(const IndexedText& text) const;

    const Registry& registry_;
    const RegistryOptions& options_;
    OwnerIndex index_;
    PresentNames present_;
    Random& random_;
};

}  // namespace fairlead::plan
