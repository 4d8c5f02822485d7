// Label and field selectors as they stand in a query string or a LabelSelector. Pure values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "resource/kind.h"

namespace fairlead::resource {

struct LabelSelector;

// What selectors can ask of one object: its labels, and the fields that its kind declares, as text. For whoever lets
// many selectors look at the same object.
struct Selectable {
    std::map<std::string, std::string> labels, fields;
    bool operator==(const Selectable&) const = default;
};
Selectable selectable_of(const json::Value& object, const Kind& kind);

enum class SelectorOp { equals, not_equals, in, not_in, exists, not_exists, greater, less };

struct Requirement {
    std::string key;
    SelectorOp op = SelectorOp::equals;
    std::vector<std::string> values;
    bool operator==(const Requirement&) const = default;
};

// All requirements must hold; none = everything matches.
class Selector {
public:
    // "a=b,c!=d,e in (x,y),!f,g>3". Errors are worded as kube-apiserver's.
    static Result<Selector> parse_labels(std::string_view text);
    static Result<Selector> from(const LabelSelector& selector);
    // "metadata.name=r1,status.phase!=new"; only fields that the kind declares.
    static Result<Selector> parse_fields(std::string_view text, const Kind& kind);

    [[nodiscard]] bool empty() const { return requirements_.empty(); }
    [[nodiscard]] bool matches_labels(const json::Value& object) const;
    [[nodiscard]] bool matches_labels(const std::map<std::string, std::string>& labels) const;
    [[nodiscard]] bool matches_fields(const json::Value& object) const;
    [[nodiscard]] bool matches_fields(const std::map<std::string, std::string>& fields) const;
    // The value if the selector pins this key to exactly one ("metadata.name=r1"), so that a list can be a get.
    [[nodiscard]] std::optional<std::string> pinned(std::string_view key) const;
    // In the syntax of parse_labels, in the order of the requirements.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }

private:
    std::vector<Requirement> requirements_;
};

}  // namespace fairlead::resource
