// Samples of every kind (tests/data/kinds/<plural>.yaml) and small tools on JSON that the tests of kinds share.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "json/yaml.h"
#include "resource/kind.h"
#include "resource/schema.h"

namespace fairlead::resource {

// Made once: a description never changes.
const Kinds& all_kinds();
const Kind& kind_of(std::string_view plural);

std::string read_text(const std::filesystem::path& file);
std::vector<json::YamlDocument> read_yaml(const std::filesystem::path& file);
std::filesystem::path source_root();
// The documents of a kind's sample file: the first is the main one, the others show what excludes each other.
std::vector<json::Value> samples_of(std::string_view plural);

// "spec.ports[0].port" set to a value, or removed when the value is null; the parents must exist.
void change(json::Value& root, std::string_view path, const json::Value& value);

// "Required spec.host: Required value" lines, for messages of failed tests.
std::string text_of_errors(const FieldErrors& errors);

// One violation of one rule: a change to a good object, and the error that it must cause.
struct RuleCase {
    std::string name;
    std::string plural;
    std::string path;   // what is changed
    std::string value;  // JSON; empty = removed
    Cause cause = Cause::invalid;
    std::string field;
    std::string message;     // part of it
    std::size_t sample = 0;  // document of the sample file
    bool update = false;     // the good object is what was stored before
};
void check_rule_case(const RuleCase& row);
inline void PrintTo(const RuleCase& row, std::ostream* out) { *out << row.plural << ": " << row.name; }
// Names a case of a table by its member `name`.
struct CaseName {
    template <class Info>
    std::string operator()(const Info& test) const {
        return test.param.name;
    }
};

}  // namespace fairlead::resource
