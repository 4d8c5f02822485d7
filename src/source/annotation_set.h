// The annotations of external-dns on one object, under both prefixes that they have had, by their bare names. Pure;
// used inside this layer.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "source/annotations.h"

namespace fairlead::source {

class AnnotationSet {
public:
    struct Found {
        std::string key;  // as it stands on the object
        std::string value;
        // "metadata.annotations[KEY]"
        [[nodiscard]] std::string field() const;
    };

    explicit AnnotationSet(const std::map<std::string, std::string>& annotations);

    [[nodiscard]] bool empty() const { return by_name_.empty(); }
    // By the name without prefix: "hostname". Null if there is none.
    [[nodiscard]] const Found* find(std::string_view name) const;
    // As find, but an empty value counts as none.
    [[nodiscard]] const Found* filled(std::string_view name) const;
    [[nodiscard]] const std::map<std::string, Found, std::less<>>& all() const { return by_name_; }
    // Names that both prefixes give different values.
    [[nodiscard]] const std::vector<Problem>& contradictions() const { return contradictions_; }
    // The field of a name that need not be there, under the prefix that the object uses.
    [[nodiscard]] std::string field_of(std::string_view name) const;

private:
    std::map<std::string, Found, std::less<>> by_name_;
    std::vector<Problem> contradictions_;
    std::string_view prefix_;
};

// A value in a message: bounded, and valid UTF-8.
std::string shown(std::string_view value);

}  // namespace fairlead::source
