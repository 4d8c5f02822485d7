// The ownership sets that one group of changes touches, while they are being changed: what is there, and what is to be
// there. Private to the registry; pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/change.h"
#include "plan/registry.h"

namespace fairlead::plan {

struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};

// What is there at the names that matter, and nothing else of a large zone.
class PresentNames {
public:
    struct At {
        std::vector<const dns::Endpoint*> records, ownership;
    };
    void want(std::string name) { names_.try_emplace(std::move(name)); }
    void fill(const Registry::Read& present);
    [[nodiscard]] const At& at(std::string_view name) const;

private:
    std::unordered_map<std::string, At, NameHash, std::equal_to<>> names_;
    At nothing_;
};

struct OwnerDraft {
    const dns::Endpoint* before = nullptr;
    std::vector<std::string> targets;
    std::optional<std::vector<dns::Property>> properties;  // none: as they are
    // The text in the place of another, which must be there; or at the end.
    void replace(std::string_view target, std::string text);
    void remove(std::string_view target);
};

class OwnerDrafts {
public:
    explicit OwnerDrafts(const PresentNames& present) : present_(present) {}
    // The set there, or a new one. An ordinary TXT set is taken as it is: texts are added to it.
    OwnerDraft& at(const std::string& place, const std::string& set_identifier);
    OwnerDraft& of(const dns::Endpoint& set);
    // What has to be done, by place and set identifier.
    [[nodiscard]] std::vector<Change> changes() const;

private:
    const PresentNames& present_;
    std::map<std::pair<std::string, std::string>, OwnerDraft> drafts_;
};

}  // namespace fairlead::plan
